"""What a journal holds for a person's eye: each event in a line, and kept evidence. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, assert_never

from webagent.cli.actions import action_text
from webagent.cli.progress import rung_text
from webagent.cli.showing import one_line, short_outputs, short_value
from webagent.core import event as ev
from webagent.core.event import Entry, Event
from webagent.core.expect import Verdict
from webagent.core.show import expectation_text

LAST_REQUESTS = 5
LAST_CONSOLE = 5


def evidence_of(entries: Sequence[Entry], folder: Path) -> dict[str, dict[str, Any]]:
    """By step what its last failure left: where it was, files, console, last requests."""
    found: dict[str, dict[str, Any]] = {}
    seen_last: dict[str, dict[str, Any]] = {}
    for entry in entries:
        if isinstance(entry.event, ev.Judged):
            told = seen_last.pop(entry.event.step, {})
            # What was seen when a healed step was met is shown by `revisions`.
            if told and entry.event.judgement != "met":
                found[entry.event.step] = told
        if not isinstance(entry.event, ev.Observed):
            continue
        seen = entry.event.observation
        if seen.screenshot is None and seen.outline_file is None:
            continue
        told = {"page": seen.url}
        if seen.status:
            told["status"] = seen.status
        if seen.screenshot is not None:
            told["screenshot"] = str(folder / seen.screenshot)
        if seen.outline_file is not None:
            told["outline"] = str(folder / seen.outline_file)
        if seen.console:
            told["console"] = list(seen.console[-LAST_CONSOLE:])
        if seen.requests:
            told["requests"] = list(seen.requests[-LAST_REQUESTS:])
        seen_last[entry.event.step] = told
    return found | seen_last


def event_text(event: Event) -> str:
    """An event in one line."""
    words = _words(event)
    return f"{event.type}  {words}" if words else event.type


def _words(event: Event) -> str:  # noqa: C901 - one arm an event
    match event:
        case ev.RunStarted():
            return f"{event.recipe_id} {event.date}"
        case ev.PlanMade():
            return f"{len(event.plan.steps)} steps"
        case ev.RunResumed():
            return "with an edited recipe" if event.plan is not None else ""
        case ev.BrowserStarted():
            return event.version
        case ev.ItemsExpanded():
            return f"{len(event.items)} items"
        case ev.StepStarted():
            return f"attempt {event.attempt}" + (
                f" from action {event.from_index + 1}" if event.from_index else ""
            )
        case ev.ActionDispatched():
            return f"{_part(event.segment)}{event.index + 1}. {action_text(event.action, 120)}"
        case ev.ActionDone():
            note = f" ({event.note})" if event.note else ""
            return f"{_part(event.segment)}{event.index + 1}. {event.verb} {event.ms:.0f} ms{note}"
        case ev.ActionFailed():
            failure = event.outcome.failure
            why = f"{failure.kind}: {failure.message}" if failure is not None else "?"
            return f"{_part(event.segment)}{event.index + 1}. {event.verb} {why}"
        case ev.Observed():
            return f"{event.observation.status or ''} {event.observation.url}".strip()
        case ev.Judged():
            verdicts = "; ".join(verdict_text(v) for v in event.verdicts)
            drift = f" {event.drift}" if event.drift else ""
            reason = f" ({event.reason})" if event.reason else ""
            return f"{event.phase}: {event.judgement}{drift}{reason}  {verdicts}".rstrip()
        case ev.RungTaken():
            return rung_text(event)
        case ev.StepFinished():
            already = "already done, " if event.already else ""
            told = event.reason or short_outputs(dict(event.outputs), 120)
            return f"{event.state}  {already}{told}".rstrip()
        case ev.StepReopened():
            return event.cause + (f" by {event.by}" if event.by else "")
        case ev.SessionRenewed():
            return f"{event.origin} for {event.by}" + ("" if event.ok else f": {event.reason}")
        case ev.EffectIntended():
            return f"{event.key} attempt {event.attempt}, {short_value(event.payload, 200)}"
        case ev.EffectDispatched():
            return f"{event.key} attempt {event.attempt}"
        case ev.EffectConfirmed() | ev.EffectRefused() | ev.EffectUnknown() | ev.EffectFreed():
            return f"{event.key} attempt {event.attempt}: {event.evidence}"
        case ev.PlanRevised():
            return f"version {event.version} by {event.revision.author}: {event.revision.reason}"
        case ev.RevisionRefused():
            return f"{event.author}: {event.reason}"
        case ev.RevisionAccepted():
            return f"into {event.file} by {event.by}"
        case ev.RevisionRejected():
            return f"by {event.by}"
        case ev.GuardRefused():
            return f"{event.method} {event.url}: {event.rule}"
        case ev.PersonAsked():
            return event.question.text
        case ev.PersonAnswered():
            return f"{short_value(event.value)} by {event.by}"
        case ev.ModelCalled():
            sent = event.tokens_in + event.tokens_cached + event.tokens_written
            fault = f" ({event.fault})" if event.fault else ""
            told = f"{event.role} {event.model}{fault}: {sent}+{event.tokens_out} tokens"
            return f"{told}; {event.file}" if event.file else told
        case ev.LimitHit():
            return f"{event.limit}: {event.used:g} of {event.allowed:g}"
        case ev.RunParked():
            return event.reason
        case ev.RunFinished():
            return event.status
        case _:
            assert_never(event)


def _part(part: ev.Part) -> str:
    return "" if part == "step" else f"{part} "


def verdict_text(verdict: Verdict) -> str:
    """A verdict in a few words: what was expected and, when it was not so, what was seen."""
    told = f"{expectation_text(verdict.expected)}: {verdict.judgement}"
    return told if verdict.judgement == "met" else f"{told} ({one_line(str(verdict.seen), 80)})"
