"""Which drift an unmet step shows: from its failure, its verdicts and what the page looked like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from webagent.core.action import Commit, Goto
from webagent.core.base import Json
from webagent.core.expect import PLACE_KINDS, Verdict
from webagent.core.page import Drift, Failure, FailureKind, Observation
from webagent.core.plan import PlanStep
from webagent.core.request_rules import HEALED_RULE
from webagent.engine.bind import step_references

GONE = frozenset({404, 410})
BLOCKING = frozenset({403, 451})
OVERLOADED = frozenset({429, 408, 425})
SERVER_ERRORS = range(500, 600)

_BY_FAILURE: dict[FailureKind, Drift] = {
    "target_missing": "target_missing",
    "target_ambiguous": "target_ambiguous",
    "not_actionable": "slow",
    "in_the_way": "unexpected_event",
    "timeout": "slow",
    "navigation": "server_error",
    "refused": "unexpected_event",
    "unexpected": "unexpected_event",
    "invalid_read": "output_invalid",
    "secret_refused": "wrong_page",
    "page_lost": "page_lost",
    "invalid": "precondition_unmet",
}

_BY_EXPECTATION: dict[str, Drift] = {
    "url": "wrong_page",
    "title": "wrong_page",
    "text": "wrong_page",
    "element": "wrong_page",
    "absent": "wrong_page",
    "count": "value_differs",
    "rows": "value_differs",
    "value": "value_differs",
    "output": "output_invalid",
    "status": "wrong_page",
    "download": "unexpected_event",
    "dialog": "unexpected_event",
    "response": "unexpected_event",
}


@dataclass(frozen=True, slots=True)
class Told:
    """A drift with the sentence that says why it was told so."""

    drift: Drift
    reason: str


def classify(
    step: PlanStep,
    observation: Observation,
    *,
    failure: Failure | None = None,
    failed_index: int | None = None,
    verdicts: tuple[Verdict, ...] = (),
    signs_in: bool = True,
) -> Told:
    """The drift of a step that is not met, and why.

    ``signs_in``: whether the step works under a session that could be renewed. Where it does not, a
    page with a password field is one that offers to sign in, not one that asks for it.

    What the site says about itself (gone, blocked, down, signed out) explains more than what was
    therefore not found, so it is asked first.
    """
    if not observation.alive or (failure is not None and failure.kind == "page_lost"):
        return Told("page_lost", failure.message if failure else "the page is gone")
    if failure is not None and failure.kind == "refused" and HEALED_RULE in failure.message:
        # What was taken for the target does something else: the target is missing still.
        return Told("target_missing", failure.message)
    if failure is not None and failure.kind in ("refused", "secret_refused", "invalid"):
        return Told(_BY_FAILURE[failure.kind], failure.message)
    by_site = _by_site(step, observation, failed_index)
    offers = by_site is not None and by_site.drift == "signed_out" and observation.status != 401
    if by_site is not None and not (offers and failure is not None and not signs_in):
        return by_site
    if failure is not None:
        if failure.kind in ("target_missing", "invalid_read") and _target_is_bound(
            step, failed_index
        ):
            return Told("stale_input", f"{failure.message}: it was named by another step's output")
        if failure.kind in ("target_missing", "timeout") and observation.frame_error:
            return Told("server_error", f"{failure.message}: {observation.frame_error}")
        if failure.kind in ("target_missing", "in_the_way") and observation.loading:
            return Told("slow", f"{failure.message}, and the page is still loading")
        return Told(_BY_FAILURE[failure.kind], failure.message)
    told = _by_verdicts(verdicts, observation)
    if observation.remade and told.drift in ("wrong_page", "output_invalid"):
        return Told("slow", f"{told.reason}; the page made itself anew as it was worked on")
    return told


def _by_site(step: PlanStep, seen: Observation, failed_index: int | None) -> Told | None:
    status = seen.status
    if status in GONE:
        if _url_is_bound(step, failed_index):
            return Told("stale_input", f"{seen.url} answers {status}: another step named this URL")
        return Told("page_moved", f"{seen.url} answers {status}")
    if seen.captcha or status in BLOCKING:
        what = "asks for a captcha" if seen.captcha else f"answers {status}"
        return Told("blocked_by_site", f"{seen.url} {what}")
    if status in OVERLOADED or status in SERVER_ERRORS:
        return Told("server_error", f"{seen.url} answers {status}")
    if step.do != "sign_in" and (status == 401 or (seen.sign_in and not _types_secrets(step))):
        return Told("signed_out", f"{seen.url} asks to sign in")
    return None


def _types_secrets(step: PlanStep) -> bool:
    return "secrets." in step.model_dump_json(include={"segment"})


def _by_verdicts(verdicts: tuple[Verdict, ...], seen: Observation) -> Told:
    unmet = [v for v in verdicts if v.judgement != "met"]
    if not unmet:
        return Told("wrong_page", "nothing turned true in this step")
    place = [v for v in unmet if v.expected.kind in PLACE_KINDS]
    first = (place or unmet)[0]
    if first.judgement == "unknown":
        return Told("page_lost" if not seen.alive else "slow", first.seen)
    reason = f"expected {describe(first)}; seen: {first.seen}"
    if seen.frame_error and first.expected.kind not in PLACE_KINDS:
        return Told("server_error", f"{reason}: {seen.frame_error}")
    if seen.loading and first.expected.kind != "output":
        return Told("slow", f"{reason}, and the page is still loading")
    return Told(_BY_EXPECTATION[first.expected.kind], reason)


def describe(verdict: Verdict) -> str:
    """One expectation in words, as near to how it was written as is readable."""
    fields = verdict.expected.model_dump(exclude_none=True, exclude={"kind"})
    parts = []
    for name, value in fields.items():
        shown = value.get("source", value) if isinstance(value, Mapping) else value
        if isinstance(shown, Mapping):
            shown = ", ".join(f"{k} {v}" for k, v in shown.items())
        parts.append(str(shown) if name in ("glob", "text", "target", "name") else f"({shown})")
    return f"{verdict.expected.kind} {' '.join(parts)}"


def goto_sources(step: PlanStep, failed_index: int | None) -> tuple[tuple[str, ...], ...]:
    """The step outputs by which the URL of the last goto before a failure was named."""
    segment = step.segment or ()
    last = len(segment) - 1 if failed_index is None else min(failed_index, len(segment) - 1)
    for action in reversed(segment[: last + 1]):
        goto = action.action if isinstance(action, Commit) else action
        if isinstance(goto, Goto):
            return _of_steps(step, goto.url)
    return ()


def target_sources(step: PlanStep, failed_index: int | None) -> tuple[tuple[str, ...], ...]:
    """The step outputs by which the failing action's target was named."""
    segment = step.segment or ()
    if failed_index is None or failed_index >= len(segment):
        return ()
    action = segment[failed_index]
    data: Json = action.model_dump(exclude={"entries": {"__all__": {"value"}}, "url": True})
    return _of_steps(step, data)


def _of_steps(step: PlanStep, raw: Json) -> tuple[tuple[str, ...], ...]:
    used = {use[1:] if not use[0] else use for use in step.uses if use[0]}
    found = []
    for path in sorted(step_references(raw)):
        for use in used:
            name = use[0].rsplit("/", 1)[-1]
            if path[0] == name or use[0].startswith(f"{path[0]}/"):
                found.append(use)
    return tuple(dict.fromkeys(found))


def _url_is_bound(step: PlanStep, failed_index: int | None) -> bool:
    return bool(goto_sources(step, failed_index)) and _document_is_the_gotos(step, failed_index)


def _document_is_the_gotos(step: PlanStep, failed_index: int | None) -> bool:
    """Whether no acting action stands between that goto and the failure (else it is the site's)."""
    segment = step.segment or ()
    last = len(segment) if failed_index is None else failed_index
    for action in reversed(segment[: last + 1]):
        if isinstance(action, Goto):
            return True
        if action.verb not in ("read", "wait", "scroll", "hover", "tab") and action is not (
            segment[failed_index]
            if failed_index is not None and failed_index < len(segment)
            else None
        ):
            return False
    return False


def _target_is_bound(step: PlanStep, failed_index: int | None) -> bool:
    return bool(target_sources(step, failed_index))
