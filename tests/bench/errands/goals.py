"""Reading what a prompt says: the goal of a step, and the facts that a move of it takes.

Everything comes out of the prompt's own text. What is not in it is not known here either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tests.bench.errands.task import Kind


@dataclass(frozen=True, slots=True)
class Goal:
    """What one step wants.

    ``codes``: what to type into the code fields, in order, each as its value and as it is to be
    written; a value of "" is a fact that the prompt lacks.
    """

    kind: Kind
    url: str
    item: str = ""
    choice: str = ""
    price: str = ""
    codes: tuple[tuple[str, str], ...] = ()
    needs: tuple[int, ...] = ()
    output: str = "code"
    user: str = ""
    password: str = ""


_ACCESS = r"(?:, access codes? (?P<access>.+))?\.$"
_FORMS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("sign_in", re.compile(r"^Sign in at (?P<url>\S+) as (?P<user>\S+) with (?P<how>.+)\.$")),
    ("ticket", re.compile(
        r"^Open ticket (?P<item>\S+) at (?P<url>\S+): department (?P<choice>\w+)" + _ACCESS
    )),
    ("booking", re.compile(
        r"^Book slot (?P<item>\S+) at (?P<url>\S+) at the price of (?P<price>[\d.]+):"
        r" department (?P<choice>\w+)" + _ACCESS
    )),
    ("price", re.compile(
        r"^Look up the price of item (?P<item>\S+) at (?P<url>\S+) in size (?P<choice>\w+)\.$"
    )),
    ("booking", re.compile(
        r"^Book the slot of (?P<item>.+?) at (?P<url>\S+): department (?P<choice>\w+)\.$"
    )),
    ("choose", re.compile(r"^Choose the item with the lowest price of steps (?P<of>[\d, ]+)\.$")),
)  # fmt: skip
_LINE = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)
_READ = re.compile(r'\bstep_(\d+)\.(?:code|price) = (?:"([^"]*)"|([\d.]+))')
_VALUE = re.compile(r'^- (step_\d+\.\w+): (?:"([^"]*)"|([\d.]+))$', re.MULTILINE)


def steps_of(said: str) -> dict[int, str]:
    """The numbered steps that a prompt lists."""
    return {int(number): words for number, words in _LINE.findall(said) if parse(words) is not None}


def values_read(said: str) -> dict[int, str]:
    """The codes that a prompt tells, by step; the newest of each."""
    return {int(number): quoted or plain for number, quoted, plain in _READ.findall(said)}


def values_listed(said: str) -> dict[str, str]:
    """The values under which a brief lists what other steps gave: value to name."""
    return {quoted or plain: name for name, quoted, plain in _VALUE.findall(said)}


def parse(words: str) -> Goal | None:
    """A goal in words; codes that come from other steps are not known yet."""
    for kind, form in _FORMS:
        found = form.match(words)
        if found is None:
            continue
        named = found.groupdict()
        if kind == "choose":
            return Goal("choose", "", needs=_numbers(named["of"]), codes=())
        codes, needs = _access(named.get("access") or "")
        how = named.get("how") or ""
        return Goal(
            kind, named["url"], named.get("item") or "", named.get("choice") or "",
            named.get("price") or "", codes, needs, user=named.get("user") or "",
            password=how.removeprefix("the password ") if how.startswith("the password ") else "",
        )  # fmt: skip
    return None


def _access(text: str) -> tuple[tuple[tuple[str, str], ...], tuple[int, ...]]:
    if text.startswith("from step"):
        needs = _numbers(text)
        return tuple(("", "") for _ in needs), needs
    codes = re.findall(r"[A-Z]-\d+", text)
    return tuple((code, code) for code in codes), tuple(0 for _ in codes)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", text))


def with_facts(goal: Goal, known: Mapping[int, str]) -> Goal:
    """The goal with the codes of other steps, as far as they are known."""
    codes = tuple(
        (value, written) if value else (known.get(number, ""),) * 2
        for number, (value, written) in zip(goal.needs, goal.codes, strict=True)
    )
    return replace(goal, codes=codes)


def by_reference(goal: Goal, names: Mapping[str, str]) -> Goal:
    """The goal with values written as references where the brief lists them by name."""
    codes = tuple(
        (value, f"{{{{ {names[value]} }}}}" if value in names else written)
        for value, written in goal.codes
    )
    return replace(goal, codes=codes)


def chosen_booking(goal: Goal, steps: Mapping[int, str], known: Mapping[int, str]) -> Goal | None:
    """The booking of the cheapest item, by the prices that are known; None when none is."""
    of: Sequence[int] = ()
    for words in steps.values():
        said = parse(words)
        if said is not None and said.kind == "choose":
            of = said.needs
    prices = {n: float(known[n]) for n in of if n in known and n in steps}
    if not prices:
        return None
    best = parse(steps[min(prices, key=prices.__getitem__)])
    if best is None:
        return None
    return replace(goal, item=best.item, url=goal.url.replace("ID", best.item))
