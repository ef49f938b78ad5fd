"""Decisions about effects: what a stored row, a probe's list and a site's answer mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from webagent.core.action import ListRead, Read, TableRead
from webagent.core.base import Json
from webagent.core.effect import EffectChange, EffectRow
from webagent.core.expect import url_matches
from webagent.core.page import Response
from webagent.core.plan import Probe
from webagent.core.request_rules import SAFE_METHODS
from webagent.core.values import canonical

OnReady: TypeAlias = Literal["go", "adopt", "check", "held"]

# The site could not take it now: whether it did is not said.
UNSAID_STATUS = frozenset({408, 425, 429, 499})


def on_ready(row: EffectRow | None, run: str, *, holder_live: bool) -> OnReady:
    """What a row means for a step that is about to work towards its commit.

    go: nothing stands in the way; adopt: it happened, take the stored outputs; check: it was sent
    and nobody knows; held: another live run is at it, and will know.
    """
    if row is None or row.state in ("freed", "refused"):
        return "go"
    if row.state == "confirmed":
        return "adopt"
    if row.run != run and holder_live:
        return "held"
    return "go" if row.state == "intended" else "check"


def intention(row: EffectRow | None, new: EffectRow) -> EffectChange:
    """The claim on a key.

    A new row, the next attempt after a refused or freed one, or an intended one taken over (the
    store refuses that while its run is live).
    """
    if row is None:
        return EffectChange(expect=(None,), row=new.model_copy(update={"attempt": 1}))
    attempt = row.attempt if row.state == "intended" else row.attempt + 1
    updated = new.model_copy(update={"attempt": attempt, "request": row.request})
    return EffectChange(expect=(row.state,), row=updated)


def probed_list(probe: Probe) -> tuple[str, str] | None:
    """The output name and key field of a probe's keyed list, or None."""
    for action in probe.segment:
        if isinstance(action, Read):
            for name, spec in action.outputs.items():
                if isinstance(spec, ListRead | TableRead) and spec.key is not None:
                    return name, spec.key
    return None


@dataclass(frozen=True, slots=True)
class Probed:
    """What a probe's list says against its baseline; ``fields``: the one new row's."""

    happened: Literal["yes", "no", "unknown"]
    fields: Mapping[str, Json]
    evidence: str


def compare_probe(baseline: Json, rows: Sequence[Mapping[str, Json]], key: str) -> Probed:
    """Exactly one new key means happened; none means absent; two or more say nothing.

    Without a baseline (an effect dispatched before there was one) nothing can be new.
    """
    if not isinstance(baseline, list):
        return Probed("unknown", {}, "there is no baseline to compare the probe's list with")
    known = {canonical(row.get(key)) for row in baseline if isinstance(row, Mapping)}
    new = [row for row in rows if canonical(row.get(key)) not in known]
    if len(new) == 1:
        return Probed("yes", new[0], f"one new {key} in the probe's list: {new[0].get(key)}")
    if not new:
        return Probed("no", {}, f"no new {key} in the probe's list of {len(rows)}")
    return Probed(
        "unknown", {}, f"{len(new)} new {key} in the probe's list: which is ours is not known"
    )


def commit_request(
    responses: Sequence[Response], named: str | None, learnt: str | None = None
) -> Response | None:
    """The response to the commit's own request: as named, as learnt, else the first write."""
    for wanted in (named, learnt):
        if wanted is None:
            continue
        method, _, glob = wanted.partition(" ")
        for response in responses:
            if response.method == method.upper() and url_matches(glob or "**", response.url):
                return response
    if named is not None:
        return None
    return next((r for r in responses if r.method not in SAFE_METHODS), None)


def refused_by_status(answer: Response | None) -> str:
    """Why the site's answer is a refusal, or "" when it does not say so."""
    if answer is None or answer.status in UNSAID_STATUS:
        return ""
    if 400 <= answer.status < 500:
        return f"the site answered {answer.status} to {answer.method} {answer.url}"
    return ""
