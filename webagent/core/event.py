"""The journal's events: typed facts in the past tense, in one union.

Every event names the node it is about (``step``; "" for the run). The store adds sequence, epoch
and time. Nothing in an event holds a secret: values pass the redactor before they become one.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from webagent.core.action import Action
from webagent.core.base import Frozen, Json
from webagent.core.expect import Verdict
from webagent.core.limits import LimitKind
from webagent.core.page import Drift, Happened, Observation, Outcome
from webagent.core.plan import Plan, Question
from webagent.core.revision import Revision, Rung

EVENT_VERSION = 1

# Whose actions these are: the step's own segment, its probe or reset, a sign-in done for another.
Part: TypeAlias = Literal["step", "probe", "reset", "session"]
Phase: TypeAlias = Literal["before", "before_commit", "after"]

FinalState: TypeAlias = Literal["met", "unmet", "skipped", "blocked", "unknown"]
RunStatus: TypeAlias = Literal["met", "failed", "limit", "waiting", "unknown"]


class EventBase(Frozen):
    """What every event has."""

    step: str = ""


class RunStarted(EventBase):
    """A run began; ``date`` is run.date for good, ``inputs`` are bound and typed."""

    type: Literal["RunStarted"] = "RunStarted"
    run: str
    recipe_id: str
    recipe_file: str = ""
    recipe_digest: str = ""
    errand: str = ""
    date: str
    inputs: dict[str, Json] = {}
    last: Json = None
    unattended: bool = False
    rehearse: bool = False
    until: str | None = None
    again: tuple[str, ...] = ()
    again_by: str = ""


class PlanMade(EventBase):
    """The plan that this run works on."""

    type: Literal["PlanMade"] = "PlanMade"
    plan: Plan


class RunResumed(EventBase):
    """A runner took the run over; whatever was under way was interrupted.

    ``keep`` (with an edited recipe): met steps that stay met; None keeps all of them.
    ``gone_epochs``: epochs whose runner process and browser are known to have ended.
    """

    type: Literal["RunResumed"] = "RunResumed"
    runner: str = ""
    plan: Plan | None = None
    keep: tuple[str, ...] | None = None
    gone_epochs: tuple[int, ...] = ()


class BrowserStarted(EventBase):
    """A browser was started for this run: pages from before are gone."""

    type: Literal["BrowserStarted"] = "BrowserStarted"
    version: str = ""


class ItemsExpanded(EventBase):
    """The items of a for_each are frozen: (key, value) pairs in order."""

    type: Literal["ItemsExpanded"] = "ItemsExpanded"
    items: tuple[tuple[str, Json], ...]


class StepStarted(EventBase):
    """An entry of the step: ``attempt`` counts entries, ``from_index`` where its segment begins."""

    type: Literal["StepStarted"] = "StepStarted"
    attempt: int
    from_index: int = 0
    used: dict[str, str] = {}


class ActionDispatched(EventBase):
    """About to send this action's input. Its segment: the step's own, a probe, or a reset."""

    type: Literal["ActionDispatched"] = "ActionDispatched"
    index: int
    action: Action
    segment: Part = "step"


class ActionDone(EventBase):
    """The action was carried out and settled."""

    type: Literal["ActionDone"] = "ActionDone"
    index: int
    verb: str
    ms: float
    happened: Happened = Happened()
    note: str = ""
    segment: Part = "step"


class ActionFailed(EventBase):
    """The action was not carried out, or its outcome is not known."""

    type: Literal["ActionFailed"] = "ActionFailed"
    index: int
    verb: str
    outcome: Outcome
    segment: Part = "step"


class Observed(EventBase):
    """What the page looked like; evidence of a failure is named in it."""

    type: Literal["Observed"] = "Observed"
    observation: Observation


class Judged(EventBase):
    """Expectations were compared with the page: before acting, before the commit, or after.

    ``in_the_way``: the failing action's element is there, but something lies over it or hides it.
    """

    type: Literal["Judged"] = "Judged"
    phase: Phase
    verdicts: tuple[Verdict, ...]
    judgement: Literal["met", "unmet", "unknown"]
    drift: Drift | None = None
    reason: str = ""
    failed_index: int | None = None
    retry_after: float | None = None
    in_the_way: bool = False


class RungTaken(EventBase):
    """The ladder was climbed by one rung; ``nth`` time of this rung in this step."""

    type: Literal["RungTaken"] = "RungTaken"
    rung: Rung
    drift: Drift
    nth: int = 1
    seconds: float = 0.0
    redo_from: int | None = None
    note: str = ""


class StepFinished(EventBase):
    """The step is over in this state; outputs are frozen under their hash."""

    type: Literal["StepFinished"] = "StepFinished"
    state: FinalState
    outputs: dict[str, Json] = {}
    digest: str = ""
    drift: Drift | None = None
    reason: str = ""
    already: bool = False
    pages: int = 0
    seconds: float = 0.0


class StepReopened(EventBase):
    """A finished step has to run again, by name and with its cause."""

    type: Literal["StepReopened"] = "StepReopened"
    cause: Literal["page_lost", "stale_input", "recipe_changed", "upstream_reopened"]
    by: str = ""


class SessionRenewed(EventBase):
    """A sign-in was done again at an origin, for the step ``by``; the step is not re-executed."""

    type: Literal["SessionRenewed"] = "SessionRenewed"
    origin: str
    by: str
    ok: bool = True
    reason: str = ""


class EffectIntended(EventBase):
    """Everything was checked and the claim is held; carries baseline and checked values."""

    type: Literal["EffectIntended"] = "EffectIntended"
    key: str
    attempt: int
    baseline: Json = None
    payload: Json = None


class EffectDispatched(EventBase):
    """The commit's input is about to be sent: the claim is spent."""

    type: Literal["EffectDispatched"] = "EffectDispatched"
    key: str
    attempt: int


class EffectConfirmed(EventBase):
    """The effect happened (in this run, or as a stored row tells, in an earlier one)."""

    type: Literal["EffectConfirmed"] = "EffectConfirmed"
    key: str
    attempt: int = 1
    evidence: str = ""


class EffectRefused(EventBase):
    """The site said no; the key may be tried again as the next attempt."""

    type: Literal["EffectRefused"] = "EffectRefused"
    key: str
    attempt: int
    evidence: str = ""


class EffectUnknown(EventBase):
    """It cannot be known whether the effect happened; a person has to settle it."""

    type: Literal["EffectUnknown"] = "EffectUnknown"
    key: str
    attempt: int
    evidence: str = ""


class EffectFreed(EventBase):
    """It was shown that the dispatched effect did not happen; by the probe's settle or a person."""

    type: Literal["EffectFreed"] = "EffectFreed"
    key: str
    attempt: int
    evidence: str = ""
    by: str = ""


class PlanRevised(EventBase):
    """One step's segment was replaced."""

    type: Literal["PlanRevised"] = "PlanRevised"
    revision: Revision
    version: int


class RevisionRefused(EventBase):
    """A revision was asked for and none came, or what came was refused."""

    type: Literal["RevisionRefused"] = "RevisionRefused"
    author: str
    reason: str
    rung: Rung = "regenerate"


class RevisionAccepted(EventBase):
    """A step's revised segment was written into its recipe ``file``."""

    type: Literal["RevisionAccepted"] = "RevisionAccepted"
    file: str
    by: str = ""


class RevisionRejected(EventBase):
    """A step's revised segment is not wanted: the recipe stays as it is."""

    type: Literal["RevisionRejected"] = "RevisionRejected"
    by: str = ""


class GuardRefused(EventBase):
    """The guard did not let a request out."""

    type: Literal["GuardRefused"] = "GuardRefused"
    method: str
    url: str
    rule: str


class PersonAsked(EventBase):
    """A person has to say something before this step can go on."""

    type: Literal["PersonAsked"] = "PersonAsked"
    question: Question
    about: Literal["answer", "settle", "drift", "approve"] = "answer"


class PersonAnswered(EventBase):
    """A person said it."""

    type: Literal["PersonAnswered"] = "PersonAnswered"
    value: Json
    by: str = ""


class ModelCalled(EventBase):
    """A model was asked, by role, with its cost.

    ``tokens_in`` were neither read from nor written to the cache (``tokens_cached``,
    ``tokens_written``). ``fault``: why its answer was none. ``file``: the whole call, redacted.
    """

    type: Literal["ModelCalled"] = "ModelCalled"
    role: Literal["planner", "executor", "reader"]
    model: str
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    tokens_written: int = 0
    money: float = 0.0
    seconds: float = 0.0
    fault: str = ""
    file: str = ""


class LimitHit(EventBase):
    """A budget was used up."""

    type: Literal["LimitHit"] = "LimitHit"
    limit: LimitKind
    allowed: float
    used: float


class RunParked(EventBase):
    """The run stopped in a way that resume continues: Ctrl-C, stop, a question, a limit."""

    type: Literal["RunParked"] = "RunParked"
    reason: str
    cause: Literal["stopped", "person", "limit", "until"] = "stopped"


class RunFinished(EventBase):
    """Nothing more can be done; ``changed`` tells whether the on_change fields differ from last."""

    type: Literal["RunFinished"] = "RunFinished"
    status: RunStatus
    exit_code: int
    changed: bool | None = None


Event: TypeAlias = Annotated[
    RunStarted
    | PlanMade
    | RunResumed
    | BrowserStarted
    | ItemsExpanded
    | StepStarted
    | ActionDispatched
    | ActionDone
    | ActionFailed
    | Observed
    | Judged
    | RungTaken
    | StepFinished
    | StepReopened
    | SessionRenewed
    | EffectIntended
    | EffectDispatched
    | EffectConfirmed
    | EffectRefused
    | EffectUnknown
    | EffectFreed
    | PlanRevised
    | RevisionRefused
    | RevisionAccepted
    | RevisionRejected
    | GuardRefused
    | PersonAsked
    | PersonAnswered
    | ModelCalled
    | LimitHit
    | RunParked
    | RunFinished,
    Field(discriminator="type"),
]

EVENT: TypeAdapter[Event] = TypeAdapter(Event)


class Entry(Frozen):
    """One line of a journal: the event with its number (from 1), epoch and UTC time (ISO 8601)."""

    seq: int
    epoch: int
    at: str
    event: Event
