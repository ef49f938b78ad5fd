"""What was entered into a page that made its fields anew afterwards, as late frameworks do.

An entry is remembered until the next input that sends something (a click, a key): from then on the
page may do with it what it likes. Before that input, and before the checks of a commit, an entry
whose very element has left the page while its target is there again is entered once more. While the
element is there it keeps whatever the page made of its value.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from playwright.async_api import ElementHandle, Error

from webagent.core.action import Action, Entry, Fill, Type

# A target that is not there again by then was taken away by the page, with its reason.
PUT_BACK_SECONDS = 0.5
_CONNECTED = "(_, elements) => elements.map((element) => element.isConnected)"


@dataclass(frozen=True, slots=True)
class Entered:
    """One entry: the element that took it, the action that enters it again, and its target."""

    element: ElementHandle
    again: Action
    target: str


class Entries:
    """What was entered since something was last sent; the newest for each target."""

    def __init__(self) -> None:
        self._kept: dict[str, Entered] = {}
        self._sent: list[Entered] = []

    def remember(self, element: ElementHandle, action: Action, entry: Entry | None = None) -> None:
        """An action (of which: one entry) has put something into an element."""
        again = _again(action, entry)
        target = str(entry.target if entry is not None else getattr(action, "target", ""))
        self.drop(again)  # the newest comes last: a tick may undo another
        self._kept[_key(again)] = Entered(element, again, target)

    def drop(self, again: Action) -> None:
        """Forget one entry."""
        self._kept.pop(_key(again), None)

    def forget(self) -> None:
        """Something was sent: what stands in the fields now is the page's business."""
        self._sent = list(self._kept.values())
        self._kept.clear()

    async def lost(self) -> list[Entered]:
        """What has to be entered again. What went with a whole document is forgotten."""
        kept = list(self._kept.values())
        states = await _states([entered.element for entered in kept])
        for entered, state in zip(kept, states, strict=True):
            if state == "another document":
                self.drop(entered.again)
        return [entered for entered, state in zip(kept, states, strict=True) if state == "left"]

    async def left_with_the_last_input(self) -> list[Action]:
        """What had been entered when the last input was sent, and has left the same document since.

        Whether the page has the same fields again is to be looked at.
        """
        states = await _states([entered.element for entered in self._sent])
        pairs = zip(self._sent, states, strict=True)
        return [entered.again for entered, state in pairs if state == "left"]


async def _states(elements: Sequence[ElementHandle]) -> list[str]:
    """Where these elements are now: in one question, if they are of one document that is there."""
    if len(elements) > 1:
        try:
            answers = await elements[0].evaluate(_CONNECTED, list(elements))
            return ["there" if connected else "left" for connected in answers]
        except Error:
            pass  # one of them is of another document: each is asked by itself
    return list(await asyncio.gather(*(_state(element) for element in elements)))


async def _state(element: ElementHandle) -> str:
    try:
        return "there" if await element.evaluate("(e) => e.isConnected") else "left"
    except Error:
        return "another document"


def _key(again: Action) -> str:
    return again.model_dump_json(exclude={"entries": {"__all__": {"value"}}})


def _again(action: Action, entry: Entry | None) -> Action:
    """The action that enters the same once more. What was typed came after what is gone now."""
    if entry is None:
        return action
    kind = Fill if isinstance(action, Type) else type(action)
    return kind.model_validate(
        {"entries": (entry,), "within": action.within, "frame": action.frame}
    )


def told(entered: Sequence[Entered]) -> str:
    """Which targets were entered again, for a note."""
    return f"the page made its fields anew; entered again: {', '.join(e.target for e in entered)}"
