"""The wait action: until an expectation holds, looked at whenever the page may have changed."""

from __future__ import annotations

import asyncio

from webagent.core.action import Wait
from webagent.core.expect import Expectation, TextShown, judge
from webagent.core.target import Target
from webagent.executors.browser.examine import examine
from webagent.executors.browser.faults import fail
from webagent.executors.browser.move import Move

WAIT_SECONDS = 0.25


async def wait(move: Move, action: Wait) -> None:
    """Until the expectation holds, looked at whenever the page may have changed."""
    if action.until.kind == "output":
        raise fail("invalid", "an output cannot be waited for")
    loop = asyncio.get_running_loop()
    until = _narrowed(action)
    while True:
        (finding,) = await examine(move.stage, (until,))
        verdict = judge(until, finding, {})
        if verdict.judgement == "met":
            break
        left = move.until - loop.time()
        if left <= 0:
            raise fail(
                "timeout", f"waited for {_told(action)}; seen: {move.stage.redact(verdict.seen)}"
            )
        await move.stage.stirred(min(WAIT_SECONDS, left))
    move.flushed = True


def _narrowed(action: Wait) -> Expectation:
    """What is waited for, looked for only where the action says."""
    until, within, frame = action.until, action.within, action.frame
    if within is None and frame is None:
        return until
    if isinstance(until, TextShown):
        where = until.within or within or Target(source="body", css="body")
        where = where.model_copy(update={"frame": where.frame or frame})
        return until.model_copy(update={"within": where})
    target = getattr(until, "target", None)
    if target is None:
        return until
    where = target.model_copy(
        update={"within": target.within or within, "frame": target.frame or frame}
    )
    return until.model_copy(update={"target": where})


def _told(action: Wait) -> str:
    fields = action.until.model_dump(exclude_defaults=True, exclude={"kind"})
    inner = fields.get("target", fields.get("within"))
    text = inner.get("source") if isinstance(inner, dict) else None
    return f"{action.until.kind} {text or ' '.join(str(v) for v in fields.values())}".strip()
