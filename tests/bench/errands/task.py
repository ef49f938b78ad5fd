"""Errands of N steps in three shapes, and their wording: what a person would ask for.

Each step gives one code (or price) that others may need. The wording holds every fact that a step
takes; nobody is told what a page looks like. Codes are known to the sites only.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Shape: TypeAlias = Literal["chain", "fan-in", "diamonds"]
Kind: TypeAlias = Literal["sign_in", "ticket", "booking", "price", "choose"]
SHAPES: tuple[Shape, ...] = ("chain", "fan-in", "diamonds")

DESK, BOOK = "desk.test", "book.test"
LOGIN = f"http://{DESK}/login"
BOOKINGS = f"http://{BOOK}/bookings"
USER, PASSWORD = "agent", "desk-pass-71"
DEPARTMENTS = ("Sales", "Returns", "Archive", "Transport", "Finance", "Repairs")
SIZES = ("S", "M", "L", "XL")
# Every so many steps one writes.
WRITES_EVERY = 5


@dataclass(frozen=True, slots=True)
class Task:
    """One step. ``needs``: the numbers of the steps whose codes are typed (or compared) in it.

    ``choice``: the department, or the size of an item. ``price``: what a booking may cost.
    ``chosen``: a booking of the item that the step before chose.
    """

    number: int
    kind: Kind
    item: str = ""
    choice: str = ""
    needs: tuple[int, ...] = ()
    price: str = ""
    chosen: bool = False

    @property
    def name(self) -> str:
        return f"step_{self.number}"

    @property
    def url(self) -> str:
        return url_of(self.kind, self.item)


@dataclass(frozen=True, slots=True)
class Errand:
    """An errand of ``size`` steps, the signing in included."""

    shape: Shape
    size: int
    tasks: tuple[Task, ...]

    def task(self, number: int) -> Task:
        return self.tasks[number - 1]

    @property
    def bookings(self) -> tuple[Task, ...]:
        """The steps that write."""
        return tuple(t for t in self.tasks if t.kind == "booking")


def url_of(kind: Kind, item: str) -> str:
    """Where a step begins."""
    match kind:
        case "ticket":
            return f"http://{DESK}/tickets/{item}"
        case "price":
            return f"http://{DESK}/items/{item}"
        case "booking":
            return f"http://{BOOK}/slots/{item}"
        case _:
            return LOGIN


def make_errand(shape: Shape, size: int, seed: int = 4) -> Errand:
    """The errand of a shape and size, always the same for the same seed."""
    chance = random.Random(f"{seed} {shape} {size}")
    tasks = [Task(1, "sign_in")]
    last = size - 2 if shape == "fan-in" else size
    for number in range(2, last + 1):
        needs = _needs(shape, number)
        writes = number % WRITES_EVERY == 0
        kind: Kind = "booking" if writes else "price" if shape == "fan-in" else "ticket"
        letter = {"booking": "B", "price": "I", "ticket": "T"}[kind]
        item = f"{letter}-{chance.randrange(100, 1000)}{number:03d}"
        choice = chance.choice(SIZES if kind == "price" else DEPARTMENTS)
        price = f"{chance.randrange(500, 3000) / 100:.2f}" if writes else ""
        tasks.append(Task(number, kind, item, choice, needs, price))
    if shape == "fan-in":
        prices = tuple(t.number for t in tasks if t.kind == "price")
        tasks.append(Task(size - 1, "choose", needs=prices))
        tasks.append(Task(size, "booking", "", chance.choice(DEPARTMENTS), (size - 1,), "", True))
    return Errand(shape, size, tuple(tasks))


def _needs(shape: Shape, number: int) -> tuple[int, ...]:
    if shape == "fan-in" or number == 2:
        return ()
    if shape == "chain":
        return (number - 1,)
    # Step 2 splits into 3 and 4, which 5 joins; 5 splits into 6 and 7; and so on.
    place = (number - 2) % 3
    return ((number - 2, number - 1), (number - 1,), (number - 2,))[place]


# -- wording ----------------------------------------------------------------------------------

HEAD = f"""\
Please do the following at our desk, step by step. Tickets stand at http://{DESK}/tickets/ID, items
at http://{DESK}/items/ID, slots at http://{BOOK}/slots/ID. A booking may be made once only; what is
booked is listed at {BOOKINGS}, in the table Bookings (Slot, Price, Code). Each step
but the signing in ends with a code, a receipt or a price on the page: read it under the name
step_NUMBER.code. An opened ticket says so (Ticket ID is open), a booked slot too (Slot ID is
booked)."""


def request(errand: Errand) -> str:
    """The errand in words."""
    lines = [f"{t.number}. {wording(t, _from_steps(t.needs))}" for t in errand.tasks]
    return "\n".join([HEAD, *lines])


def wording(task: Task, codes: str, item: str = "") -> str:
    """One step in words. ``codes``: the access codes, or whence they come; ``item``: if chosen."""
    access = f", access {codes}" if task.needs and not task.chosen else ""
    match task.kind:
        case "sign_in":
            return f"Sign in at {LOGIN} as {USER} with the password {PASSWORD}."
        case "ticket":
            return f"Open ticket {task.item} at {task.url}: department {task.choice}{access}."
        case "price":
            return f"Look up the price of item {task.item} at {task.url} in size {task.choice}."
        case "choose":
            numbers = ", ".join(map(str, task.needs))
            return f"Choose the item with the lowest price of steps {numbers}."
        case "booking" if task.chosen:
            what = item or "the chosen item"
            where = url_of("booking", item or "ID")
            return f"Book the slot of {what} at {where}: department {task.choice}."
        case "booking":
            return (
                f"Book slot {task.item} at {task.url} at the price of {task.price}:"
                f" department {task.choice}{access}."
            )


def _from_steps(needs: Sequence[int]) -> str:
    if len(needs) == 1:
        return f"code from step {needs[0]}"
    return f"codes from steps {' and '.join(map(str, needs))}"
