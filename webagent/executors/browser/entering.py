"""Putting values into controls: text, secrets, files, options, ticks.

A secret's value is fetched here, at the moment of typing, for a control in a document of the
secret's own origin, and leaves this module only into that control.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from webagent.core.action import Entry
from webagent.core.base import Json, SecretUse
from webagent.core.request_rules import origin_of
from webagent.core.target import Target
from webagent.executors.browser.faults import fail
from webagent.executors.browser.locate import SLICE_MS, Found, Wish
from webagent.executors.browser.move import Move
from webagent.executors.browser.settle import stir

_FORMS = {
    "date": "a date such as 2026-12-24",
    "time": "a time such as 10:30",
    "datetime-local": "a moment such as 2026-12-24T10:30",
    "month": "a month such as 2026-12",
    "week": "a week such as 2026-W52",
    "number": "a number",
}
_FREE_TEXT = frozenset({"text", "search", "email", "tel", "url", "password"})


async def fill(move: Move, entry: Entry) -> None:
    """Replace what stands in a control; selects, ticks and file fields take their own way."""
    found = await move.find(entry.target, Wish(need="fill"))
    kind, type_ = found.seen["tag"], found.seen["type"]
    if kind == "select":
        return await select(move, entry)
    if kind == "input" and type_ in ("checkbox", "radio"):
        return await tick(move, entry.target, wanted=_as_tick(entry))
    if kind == "input" and type_ == "file":
        return await upload(move, entry)
    if isinstance(entry.value, SecretUse):
        return await _secret(move, found, entry, keys=False)
    text = text_of(entry)
    held = move.hold(found)
    await move.dispatch()
    plain = kind != "input" or type_ in _FREE_TEXT
    await found.locator.fill(text, timeout=move.ms, force=plain and move.unchecked(found))
    move.sent(settled=True)
    if not plain and text and not await (await held).input_value(timeout=move.ms):
        # The browser empties a date field that is given something else, and says nothing.
        form = _FORMS.get(type_, f"a value for {type_}")
        raise fail("invalid", f"{entry.target} takes {form}, not {text!r}", dispatched="yes")


async def type_keys(move: Move, entry: Entry) -> None:
    """Type text key by key, after what stands there."""
    found = await move.find(entry.target, Wish(need="edit"))
    if isinstance(entry.value, SecretUse):
        return await _secret(move, found, entry, keys=True)
    text = text_of(entry)
    move.hold(found)
    await move.dispatch()
    await found.locator.press_sequentially(text, timeout=move.ms)
    move.sent()


async def _secret(move: Move, found: Found, entry: Entry, *, keys: bool) -> None:
    """Type a secret into one element of one document: a handle does not follow to another page."""
    use: SecretUse = entry.value
    stage = move.stage
    handle = await move.hold(found)
    origin = await handle.evaluate("(e) => e.ownerDocument.defaultView?.origin ?? 'null'")
    allowed = stage.secrets.origin(use)
    ours = {origin_of(allowed)} if allowed is not None else set(stage.guard.policy.origins)
    if origin_of(str(origin)) not in ours or str(origin) == "null":
        where = ", ".join(sorted(ours)) or "no origin"
        raise fail(
            "secret_refused",
            f"{use} may be typed only on {where}; {entry.target} is on {origin}",
        )
    value = await stage.secrets.value(use)
    await move.dispatch()
    await stage.secret_typed(found.locator)
    if keys:
        await handle.type(value, timeout=move.ms)
    else:
        await handle.fill(value, timeout=move.ms)
    move.sent()


def text_of(entry: Entry) -> str:
    """The text that a value is typed as. Raises MoveFailedError for what has none."""
    value = entry.value
    if value is None:
        raise fail("invalid", f"the value for {entry.target} is null")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float):
        return str(value)
    raise fail("invalid", f"{entry.target} takes one value, not {type(value).__name__}")


def _as_tick(entry: Entry) -> bool:
    value = entry.value
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text in ("true", "yes", "on", "1"):
        return True
    if text in ("false", "no", "off", "0"):
        return False
    raise fail("invalid", f"{entry.target} is ticked by true or false, not {value!r}")


async def tick(move: Move, target: Target, *, wanted: bool) -> None:
    """Bring a checkbox or radio button into a state; nothing is sent when it is there already."""
    found = await move.find(target, Wish(need="tick"))
    move.hold(found)
    if found.seen["checked"] == wanted:
        move.note = "already so"
        return
    if not wanted and found.seen["type"] == "radio":
        raise fail("invalid", f"{target} is a radio button: choose another one of its group")
    if not found.seen.get("label"):
        await move.dispatch()
        await move.send(
            found.locator.set_checked(
                wanted,
                timeout=move.ms,
                no_wait_after=move.commit,
                force=move.unchecked(found),
            )
        )
        move.sent(settled=not move.commit)
        return
    # The box itself is hidden behind its label, as most designed checkboxes are.
    handle = (await found.locator.evaluate_handle("(e) => e.labels[0]")).as_element()
    if handle is None:
        raise fail("not_actionable", f"{target} is hidden and has no label")
    await move.dispatch()
    await handle.click(timeout=move.ms, no_wait_after=move.commit)
    move.sent()
    if await found.locator.is_checked(timeout=move.ms) != wanted:
        raise fail("not_actionable", f"{target} did not change when clicked", dispatched="yes")


async def select(move: Move, entry: Entry) -> None:
    """Choose options by label or value, in a native select or in one that a page made itself."""
    wanted = [str(v) for v in (entry.value if isinstance(entry.value, list) else [entry.value])]
    if entry.value is None or not wanted:
        raise fail("invalid", f"no option given for {entry.target}")
    while True:
        found = await move.find(entry.target, Wish(need="select"))
        if found.seen["tag"] != "select":
            return await _choose(move, found, entry, wanted)
        options = found.seen["options"]
        chosen = [_option(options, text) for text in wanted]
        missing = [text for text, index in zip(wanted, chosen, strict=True) if index is None]
        if not missing:
            break
        if asyncio.get_running_loop().time() >= move.until:
            raise fail(
                "target_missing",
                f"{entry.target} has no option {missing[0]!r}",
                candidates=tuple(option["label"] for option in options[:8]),
            )
        await stir(move.stage.page, SLICE_MS / 1000)
    move.hold(found)
    await move.dispatch()
    await move.send(
        found.locator.select_option(
            index=[index for index in chosen if index is not None],
            timeout=move.ms,
            no_wait_after=move.commit,
            force=move.unchecked(found),
        )
    )
    move.sent(settled=not move.commit)


def _option(options: Sequence[dict[str, Any]], text: str) -> int | None:
    """The one option that a text names: by label, by value, then by label in any case."""
    folded = " ".join(text.split())
    ways: tuple[Callable[[dict[str, Any]], bool], ...] = (
        lambda o: o["label"] == folded,
        lambda o: o["value"] == text,
        lambda o: o["label"].casefold() == folded.casefold(),
    )
    for way in ways:
        hits = [i for i, option in enumerate(options) if way(option) and not option["off"]]
        if hits:
            return hits[0]
    return None


async def _choose(move: Move, found: Found, entry: Entry, wanted: list[str]) -> None:
    """Choose in a listbox or combobox made of other elements: open it, then click the option."""
    for text in wanted:
        option = Target(source=f'option "{text}"', role="option", name=text, exact=True)
        inside = found.seen["role"] == "listbox"
        if not inside:
            ready = await move.find(entry.target, Wish(need="act"))
            await move.dispatch()
            await ready.locator.click(timeout=move.ms)
            move.sent()
        within = entry.target if inside else None
        chosen = await move.find(option.model_copy(update={"within": within}), Wish(need="act"))
        await move.dispatch()
        await chosen.locator.click(timeout=move.ms, no_wait_after=move.commit)
        move.sent()


async def upload(move: Move, entry: Entry) -> None:
    """Give files to a file field, or to a button that opens the file chooser."""
    paths = entry.value if isinstance(entry.value, list) else [entry.value]
    files = [_file(path) for path in paths]
    found = await move.find(entry.target, Wish(need="present"))
    if found.seen["type"] == "file" or found.seen["tag"] == "label":
        move.hold(found)
        await move.dispatch()
        await found.locator.set_input_files(files, timeout=move.ms)
        move.sent()
        return
    found = await move.find(entry.target, Wish(need="act"))
    await move.dispatch()
    async with move.stage.page.expect_file_chooser(timeout=move.ms) as chooser:
        await found.locator.click(timeout=move.ms)
    move.sent()
    await (await chooser.value).set_files(files, timeout=move.ms)


def _file(path: Json) -> Path:
    if not isinstance(path, str | Path) or not Path(path).is_file():
        raise fail("invalid", f"there is no file {path!r}")
    return Path(path)


async def clear(move: Move, target: Target) -> None:
    """Empty a field."""
    found = await move.find(target, Wish(need="edit"))
    await move.dispatch()
    await found.locator.clear(timeout=move.ms)
    move.sent()
