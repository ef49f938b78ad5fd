"""The recipe that `init` writes: it reads a public practice site and sends nothing."""

from __future__ import annotations

from pathlib import Path

from webagent.core.errors import BadInput

FIRST = """\
# A first recipe: read the books of a practice site and keep the cheapest.
# Check it with `webagent check first.yaml`, run it with `webagent run first.yaml`.
webagent: 1                       # version of the format
id: first                         # stays when the file is renamed; runs are counted by it
errand: Find the cheapest book on the first pages

inputs:                           # webagent run first.yaml -i max_price=15
  max_price: {type: number, default: 20}

sites: [https://books.toscrape.com]

steps:
  books:
    do: read
    goal: Read title and price of each book
    segment:                      # the actions, in order; `webagent look URL` shows targets
      - goto: https://books.toscrape.com/
      - read:
          books:
            each: article.product_pod
            key: link
            fields:
              title: {css: h3 a, attr: title}
              price: {css: .price_color, type: money}
              link: {css: h3 a, attr: href}
            pages: {next: 'link "next"', max: 2}
    expect:                       # what must hold afterwards, or the step is not met
      - url: "**books.toscrape.com/**"
      - output: {books: {min: 1}}

  cheapest:
    do: compare                   # opens no page
    from: "{{ books.books }}"     # the reference makes the need: this step waits for `books`
    where: "price.amount <= max_price"
    order: [price.amount, title]
    take: 1
"""

IGNORE = "# Runs, journals and screenshots of webagent\n.webagent/\n"


def write_into(folder: Path) -> tuple[list[Path], list[Path]]:
    """Write the first recipe and a .gitignore; the files made, and those kept as they are.

    Raises:
        BadInput: the folder cannot be written.
    """
    made: list[Path] = []
    kept: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in (("first.yaml", FIRST), (".gitignore", IGNORE)):
            path = folder / name
            try:
                with path.open("x", encoding="utf-8") as file:
                    file.write(text)
                made.append(path)
            except FileExistsError:
                kept.append(path)
    except OSError as error:
        raise BadInput(
            f"{folder} cannot be written: {error.strerror or error}.",
            hint="Give a folder, there or new: webagent init my-errands",
        ) from None
    return made, kept
