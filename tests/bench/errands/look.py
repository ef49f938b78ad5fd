"""What a model sees in an outline: the elements of Playwright's AI snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PAGE = re.compile(
    r'<page url=(?P<url>"(?:[^"\\]|\\.)*") title=(?P<title>"(?:[^"\\]|\\.)*")>\n'
    r"(?P<outline>.*?)\n?</page>",
    re.DOTALL,
)
_LINE = re.compile(
    r'^(?P<indent> *)- (?P<role>[\w-]+)(?: "(?P<name>(?:[^"\\]|\\.)*)")?'
    r"(?P<marks>(?: \[[^\]]*\])*)(?::(?: (?P<text>.*))?)?$"
)
_REF = re.compile(r"\[ref=(\w+)\]")


@dataclass(frozen=True, slots=True)
class Part:
    """One element: its role, name, ref, text or value, and how deep it stands."""

    role: str
    name: str
    ref: str
    text: str
    depth: int
    selected: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """The page as a prompt shows it; ``there``: whether it shows one at all."""

    url: str
    title: str
    parts: tuple[Part, ...]

    @property
    def there(self) -> bool:
        return bool(self.parts)

    def find(self, role: str, name: str) -> Part | None:
        """The first element of this role and name."""
        return next((p for p in self.parts if p.role == role and p.name == name), None)

    def any_of(self, role: str, names: tuple[str, ...]) -> Part | None:
        """The first element of this role under one of these names."""
        return next((p for p in self.parts if p.role == role and p.name in names), None)

    def link_to(self, words: str) -> Part | None:
        """The first link whose name has these words."""
        return next((p for p in self.parts if p.role == "link" and words in p.name), None)

    @property
    def heading(self) -> str:
        """The first heading."""
        return next((p.name for p in self.parts if p.role == "heading"), "")

    @property
    def alert(self) -> str:
        """What an alert says."""
        for index, part in enumerate(self.parts):
            if part.role == "alert":
                inner = (p.text or p.name for p in self.parts[index + 1 : index + 3])
                return part.text or next((t for t in inner if t), "")
        return ""

    def says(self, words: str) -> bool:
        """Whether a text of the page has these words."""
        return any(words in p.text or words in p.name for p in self.parts)

    def chosen(self, part: Part) -> str:
        """What stands in a field, or is chosen in it."""
        index = self.parts.index(part)
        for inner in self.parts[index + 1 :]:
            if inner.depth <= part.depth:
                break
            if inner.role == "option" and inner.selected:
                return inner.name
        return part.text

    def row(self, words: str) -> tuple[Part, ...]:
        """The cells of the first table row that has a cell of these words."""
        for index, part in enumerate(self.parts):
            if part.role != "row":
                continue
            cells = []
            for inner in self.parts[index + 1 :]:
                if inner.depth <= part.depth:
                    break
                cells += [inner] if inner.role == "cell" else []
            if any(words in (cell.name, cell.text) for cell in cells):
                return tuple(cells)
        return ()


def newest_page(said: str) -> Look:
    """The last page in a prompt; an empty one where none stands."""
    pages = [*_PAGE.finditer(said)]
    found = pages[-1] if pages else None
    if found is None:
        return Look("", "", ())
    return Look(_plain(found["url"][1:-1]), _plain(found["title"][1:-1]), look_at(found["outline"]))


def look_at(outline: str) -> tuple[Part, ...]:
    """The elements of an outline, in its order."""
    return tuple(_parts(outline))


def _parts(outline: str) -> Iterator[Part]:
    for line in outline.splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        ref = _REF.search(found["marks"] or "")
        yield Part(
            role=found["role"],
            name=_plain(found["name"] or ""),
            ref=ref[1] if ref else "",
            text=_unquoted(found["text"] or ""),
            depth=len(found["indent"]) // 2,
            selected="[selected]" in (found["marks"] or ""),
        )


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _unquoted(text: str) -> str:
    text = text.strip()
    return _plain(text[1:-1]) if len(text) > 1 and text[0] == text[-1] == '"' else text
