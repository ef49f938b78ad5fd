"""The plug points: small protocols, each with the promises that its contract tests check.

The runtime knows these and nothing of what is behind them; wiring chooses.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeAlias

from webagent.core.action import Action
from webagent.core.base import Frozen, Json, SecretUse
from webagent.core.brief import Brief
from webagent.core.chat import Question, Reply
from webagent.core.effect import EffectChange, EffectRow
from webagent.core.event import Entry, Event
from webagent.core.expect import Expectation, Finding
from webagent.core.page import Observation, Outcome, Pointed, PointedRow
from webagent.core.plan import BrowserOptions, Plan
from webagent.core.request_rules import GuardPolicy
from webagent.core.revision import AskPerson, Cannot, Reopen, Revision, Rung
from webagent.core.sighting import Sighting, Survey

# Called right before an action's input is sent; only when it returns may the input go out.
Dispatched: TypeAlias = Callable[[], Awaitable[None]]
# Asked right before a commit's request leaves the browser; False keeps it back.
MaySend: TypeAlias = Callable[[], Awaitable[bool]]
StorageState: TypeAlias = dict[str, Json]


class Runner(Frozen):
    """Who holds a run: enough to know, on the same host, whether they are still there."""

    host: str
    boot: str
    pid: int
    started: float
    browser_pid: int | None = None
    browser_started: float | None = None


class Lease(Frozen):
    """The right to append to a run's journal. A larger epoch ends all smaller ones."""

    run: str
    epoch: int
    runner: Runner
    previous: Runner | None = None


class RunSummary(Frozen):
    """One line of ``runs``. ``status``: running, parked, or how it finished."""

    run: str
    recipe_id: str
    errand: str
    status: str
    started_at: str
    updated_at: str
    events: int
    held: bool = False
    recipe_file: str = ""


class Store(Protocol):
    """Journal, leases and effects, kept together because they change together.

    1. `append` keeps all events and effect changes, or none.
    2. `append` raises LeaseLost when the lease's epoch is not the run's newest, SequenceConflict
    when
       ``after`` is not the number of the last event, EffectConflict when a change's row is in
       another state than it expects.
    3. What `append` returned for survives SIGKILL of this process at once (and power loss when
       ``durable``).
    4. `acquire` gives one holder at a time: it raises RunBusy while a lease is neither expired nor
       its holder known to be gone; the epoch grows by one each time.
    5. Entries come back in order, equal to what went in.
    6. No two rows have one effect key.
    """

    async def create(self, run: str, recipe_id: str, errand: str, recipe_file: str = "") -> None:
        """Make a run with an empty journal."""
        ...

    async def acquire(self, run: str, runner: Runner) -> Lease:
        """Take the run's lease: raises RunBusy or UnknownRun."""
        ...

    async def renew(self, lease: Lease, runner: Runner) -> None:
        """Hold the lease LEASE_SECONDS longer; note the runner's browser. Raises LeaseLost."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give the lease back; a lease already lost is not an error."""
        ...

    async def current_epoch(self, run: str) -> int:
        """The newest epoch of a run: the guard reads it before a commit's request goes."""
        ...

    async def append(
        self,
        lease: Lease,
        after: int,
        events: Sequence[Event],
        effects: Sequence[EffectChange] = (),
        *,
        durable: bool = False,
    ) -> tuple[Entry, ...]:
        """Append events after number ``after``; see promises 1 to 3."""
        ...

    async def entries(self, run: str, after: int = 0) -> tuple[Entry, ...]:
        """A run's journal from number ``after + 1`` on."""
        ...

    async def runs(self, recipe_id: str | None = None, limit: int = 100) -> tuple[RunSummary, ...]:
        """The newest runs first."""
        ...

    async def find(self, prefix: str) -> str:
        """The one run whose id begins so, or ``last``. Raises UnknownRun."""
        ...

    async def last_met(self, recipe_id: str) -> dict[str, Json] | None:
        """The outputs by step of the newest run of a recipe that finished met."""
        ...

    async def effect(self, key: str) -> EffectRow | None:
        """The row of a key."""
        ...

    async def effects(self, prefix: str = "") -> tuple[EffectRow, ...]:
        """Rows whose key begins so, newest change first."""
        ...

    async def settle(self, key: str, happened: bool, by: str, note: str = "") -> EffectRow:
        """A person's word on an unknown or dispatched effect. Raises EffectConflict or BadInput."""
        ...

    async def holder(self, run: str) -> Runner | None:
        """Who holds the run's lease now, if it is live."""
        ...

    async def request_stop(self, run: str) -> bool:
        """Ask the holder to park; False when nobody holds the run."""
        ...

    async def stop_requested(self, run: str) -> bool:
        """Whether somebody asked since the lease was taken."""
        ...

    async def save_session(self, run: str, state: StorageState) -> None:
        """Keep a run's storage state (0600); the next one replaces it."""
        ...

    async def load_session(self, run: str) -> StorageState | None:
        """The storage state kept last."""
        ...

    async def sightings(self, recipe_id: str) -> tuple[Sighting, ...]:
        """All sightings of a recipe: accepted ones and those that healed and wait for a word."""
        ...

    async def keep_sightings(self, sightings: Sequence[Sighting]) -> None:
        """Keep these, each in place of the one of its recipe, step, target and ``accepted``."""
        ...

    async def drop_sightings(
        self, recipe_id: str, step: str, *, accepted: bool = False, target: str | None = None
    ) -> None:
        """Forget a step's sightings of one kind, of one target or of all."""
        ...

    async def close(self) -> None:
        """Let go of files and connections."""
        ...


class Artifacts(Protocol):
    """Files that belong to a run: screenshots, outlines, downloads.

    1. A name is never overwritten. 2. Nothing is written outside the run's folder.
    """

    def folder(self, run: str) -> Path:
        """The run's folder, made if needed (0700)."""
        ...

    def keep(self, run: str, name: str, content: bytes) -> str:
        """Write a file under the run; the name it got, relative to the folder."""
        ...


class Tab(Protocol):
    """One page on which one step works.

    1. `perform` never raises for what a page does: it gives an `Outcome` with a Failure.
    2. ``dispatched`` is awaited before any input of an acting action is sent, and not at all when
       the failure's ``dispatched`` is "no".
    3. No target, or more than one without ``nth``, is a failure; it is never a guess.
    4. Nothing leaves the policy's origins; what was refused stands in ``happened.refusals``.
    5. A secret is typed only into a field in a frame of its own origin.
    6. Every wait ends by the deadline (seconds from now).
    7. A commit's request leaves only after ``may_send`` said yes to it: a runner that was paused
       between dispatch and input, and was taken over meanwhile, sends nothing any more.
    """

    async def perform(
        self,
        action: Action,
        *,
        deadline: float,
        dispatched: Dispatched,
        may_send: MaySend | None = None,
    ) -> Outcome:
        """Carry out one bound action."""
        ...

    async def examine(self, expectations: Sequence[Expectation]) -> tuple[Finding, ...]:
        """What is seen for each expectation right now, without waiting (outputs: an empty one)."""
        ...

    async def stirred(self, seconds: float) -> None:
        """Return when the page may have changed (DOM, navigation, response), at most after this."""
        ...

    async def observe(self, *, evidence: str | None = None) -> Observation:
        """The facts of the page; with ``evidence`` (a name) a screenshot and outline are kept."""
        ...

    async def survey(self) -> Survey:
        """What the page shows, to find things again on it. Changes and sends nothing.

        A lost page gives an empty survey with status 0.
        """
        ...

    async def outline(self) -> str:
        """What a model reads of the page: roles, names, refs (``[ref=e12]``); redacted, cut.

        "" when the page is lost. The refs hold until the next outline.
        """
        ...

    async def point(self, ref: str, text: str = "") -> Pointed | None:
        """The element of a ref of the newest outline, with a target that finds it alone.

        ``text``: the smallest part of it that holds this text. None when it is gone, or nothing
        that lasts names it alone.
        """
        ...

    async def point_row(
        self, ref: str, parts: Sequence[str], texts: Sequence[str] = ()
    ) -> PointedRow | None:
        """How a list is read of which one row's ref and those of parts of it are given."""
        ...

    async def happened(self) -> Outcome:
        """What took place since the last action's outcome (late responses, dialogs, refusals)."""
        ...

    async def read_form(self) -> dict[str, Json]:
        """The fields of the form(s) on the page by accessible name, secrets masked."""
        ...

    async def put_back(self) -> str:
        """Enter again what the page lost by making its fields anew since the last thing was sent.

        Only into controls that were entered before, and only what was entered there; the answer is
        a note of what that was, "" if nothing was lost.
        """
        ...

    async def set_policy(self, policy: GuardPolicy, step: str = "") -> None:
        """Replace what this tab may send; ``step``: the node that goes on in this page now."""
        ...

    async def close(self) -> None:
        """Close the page; closing twice is not an error."""
        ...


class Executor(Protocol):
    """A browser context for one run.

    1. Tabs share cookies and storage. 2. After `close` no process of it is left. 3. When the
    browser dies every call of its tabs gives ``page_lost`` and `alive` is False.
    """

    async def start(self, options: BrowserOptions, storage: StorageState | None) -> None:
        """Start the browser. ``options`` are bound (secrets resolved by the executor)."""
        ...

    async def open_tab(self, step: str, policy: GuardPolicy) -> Tab:
        """A fresh tab for a step."""
        ...

    async def storage_state(self) -> StorageState:
        """Cookies, localStorage, IndexedDB, sessionStorage of the context."""
        ...

    def alive(self) -> bool:
        """Whether the browser is still there."""
        ...

    def process(self) -> tuple[int, float] | None:
        """The browser's process id and start time, when it is local."""
        ...

    async def close(self) -> None:
        """End the browser."""
        ...


class Scout(Protocol):
    """A planner's eyes: it looks at pages of the step's own scope and changes nothing.

    1. Only documents are asked for, by GET, in a tab of its own; nothing outside the scope. 2. Each
    document counts against the step's page and time budget. 3. `look` gives None for what was
    refused, did not load or has no budget left. 4. The step's own page stays as it is.
    """

    async def here(self) -> Survey:
        """The step's own page as it stands."""
        ...

    async def look(self, url: str) -> Survey | None:
        """Another page of the scope."""
        ...

    async def sitemap(self, origin: str) -> tuple[str, ...]:
        """URLs that the site itself lists (sitemap.xml), at most some hundreds."""
        ...

    def pages_left(self) -> int:
        """How many documents may still be looked at."""
        ...


class Planner(Protocol):
    """Regenerates one segment from a brief.

    1. It sees nothing but the brief, and pages of the step's scope through the scout. 2. It answers
    "I cannot" (None, or `Cannot` with its reason) rather than guess. 3. What it gives is a
    proposal: it has sent no input anywhere. ``rungs``: what it can be asked for.
    """

    @property
    def rungs(self) -> frozenset[Rung]:
        """The rungs that it serves."""
        ...

    async def revise(self, brief: Brief, scout: Scout) -> Revision | Cannot | None:
        """A revision of the brief's step, or "I cannot"."""
        ...


class Adviser(Protocol):
    """A planner that asks a model for one step's segment, after the local planner gave up.

    1. Nothing but the brief and the page of its step reaches the model. 2. What it gives is a
    proposal, looked through (`core.vetting`) before anything of it is done. 3. An answer that
    cannot be used is "I cannot" with its reason; only what the budget forbids raises.
    """

    async def revise(
        self, brief: Brief, outline: str, chat: Chat
    ) -> Revision | Reopen | AskPerson | Cannot:
        """A segment, the ancestor to reopen, a question for a person, or "I cannot"."""
        ...


class Hands(Protocol):
    """What an improvising executor may do in one step, one move at a time.

    1. Each move passes the checks of the step: its scope, its tools, its secrets, the guard; what
    is refused is told and not done. 2. No commit is sent through here. 3. Every move is journaled
    as the step's own.
    """

    async def see(self) -> Observation:
        """The page as it stands, with its outline."""
        ...

    async def unmet(self) -> tuple[str, ...]:
        """What of the step's expectations does not hold yet, in words (outputs included)."""
        ...

    async def point(self, ref: str, text: str = "") -> Pointed | None:
        """The element of a ref of the outline that was seen last (the part with a text)."""
        ...

    async def point_row(
        self, ref: str, parts: Sequence[str], texts: Sequence[str] = ()
    ) -> PointedRow | None:
        """How the list of a row is read."""
        ...

    async def move(self, action: Action) -> Outcome:
        """Make one move. Raises OverLimit when the step's budget is used up."""
        ...


class Improviser(Protocol):
    """Works a step that has no segment, by a model's word on each single move.

    1. The model sees the brief, the newest outline and its own moves in this step: nothing else. 2.
    It ends: by what is left of the budget, and by a number of moves. 3. A commit is only proposed,
    as the last action of what it gives.
    """

    async def compose(self, brief: Brief, hands: Hands, chat: Chat) -> tuple[Action, ...] | Cannot:
        """The segment that the moves amount to, or why there is none."""
        ...

    async def read_after(self, brief: Brief, hands: Hands, chat: Chat) -> tuple[Action, ...]:
        """Reads of what the step has to give, on the page behind its commit; moves nothing."""
        ...


class ModelReader(Protocol):
    """Reads outputs by a model's eyes where selectors fail.

    1. Each value comes with the text it was read from, and a value whose text is not on the page is
    refused. 2. Nothing is moved or sent on the page.
    """

    async def extract(
        self, brief: Brief, outline: str, chat: Chat
    ) -> tuple[dict[str, Json], dict[str, str]] | Cannot:
        """The outputs by name and the quote of each, or "I cannot"."""
        ...


class Chat(Protocol):
    """Asks models.

    1. A call knows nothing but its question. 2. What comes back is of the schema that was asked
    for, or calls of the question's own tools with inputs of their schema; anything else raises
    ModelError with its fault (and the usage, where the server told it). 3. Passing faults (429,
    5xx, a cut connection) are tried again, when the server asks, within the role's ``seconds``. 4.
    No key and no secret stands in what it raises.
    """

    async def ask(self, question: Question) -> Reply:
        """One call. Raises ModelError or ModelUnavailable."""
        ...

    async def count(self, question: Question) -> int:
        """How many tokens the question has: an upper estimate where the server cannot be asked."""
        ...


class Secrets(Protocol):
    """Where secret values come from.

    1. A value is fetched when it is used and never stored. 2. `known` holds every value ever given,
    for the redactor.
    """

    async def value(self, use: SecretUse) -> str:
        """The value (or current TOTP code). Raises SecretMissing."""
        ...

    def origin(self, use: SecretUse) -> str | None:
        """The only origin on which it may be typed."""
        ...

    def known(self) -> frozenset[str]:
        """Every value given out so far."""
        ...


class Clock(Protocol):
    """Time, so that tests can own it.

    1. `monotonic` never goes back. 2. `now` knows its zone. 3. After `sleep` at least as much time
    has passed on both.
    """

    def now(self) -> datetime:
        """The present, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that only grow."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let time pass (only for Retry-After and settle: what a site or an author asked for)."""
        ...


class Watcher(Protocol):
    """Sees each entry of a run's journal as it is appended.

    1. It does not raise. 2. It does not wait.
    """

    def __call__(self, plan: Plan, entry: Entry) -> None:
        """One more thing happened."""
        ...
