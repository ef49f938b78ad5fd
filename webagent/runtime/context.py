"""What the hands work with: the ports, and the pages that are open."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from webagent.core.base import Json
from webagent.core.chat import ModelSpec, Role
from webagent.core.expect import Verdict
from webagent.core.page import Response
from webagent.core.revision import Rung
from webagent.core.sighting import Element, Sighting
from webagent.engine.ladder import Capabilities
from webagent.ports import (
    Adviser,
    Artifacts,
    Chat,
    Clock,
    Executor,
    Improviser,
    ModelReader,
    Planner,
    Runner,
    Secrets,
    Store,
    Tab,
)
from webagent.runtime.clock import SystemClock
from webagent.runtime.journal import RedactEffect, RedactEvent, Watch

ExecutorFactory = Callable[[str], Executor]


@dataclass(frozen=True, slots=True)
class Deps:
    """The ports that a runner is given by wiring.

    ``executor`` makes a fresh one for a run (also after the browser died). ``on_failure`` is called
    with a node before its failed page is closed (``--pause-on-failure``). ``end_runner`` ends what
    is left of a dead runner on this host and says whether it is known to be gone. ``sidecar``: the
    sightings that lie beside the recipe. ``chat`` asks the ``models`` by role; without one there is
    no adviser, improviser or reader.
    """

    store: Store
    artifacts: Artifacts
    executor: ExecutorFactory
    secrets: Secrets
    runner: Runner
    redact_text: Callable[[str], str]
    redact_event: RedactEvent
    redact_effect: RedactEffect
    planner: Planner | None = None
    clock: Clock = field(default_factory=SystemClock)
    watch: tuple[Watch, ...] = ()
    on_failure: Callable[[str], Awaitable[None]] | None = None
    end_runner: Callable[[Runner], bool] = lambda _runner: False
    named_hosts: tuple[str, ...] = ()
    sidecar: tuple[Sighting, ...] = ()
    tabs: int = 4
    chat: Chat | None = None
    models: Mapping[Role, ModelSpec] = field(default_factory=dict)
    adviser: Adviser | None = None
    improviser: Improviser | None = None
    reader: ModelReader | None = None

    def capabilities(self, *, unattended: bool) -> Capabilities:
        """What the ladder may count on."""
        rungs = frozenset() if self.planner is None else self.planner.rungs
        by_model: tuple[tuple[Rung, object, Role], ...] = (
            ("model", self.adviser, "planner"),
            ("compose", self.improviser, "executor"),
            ("extract", self.reader, "reader"),
        )
        if self.chat is not None:
            rungs |= {r for r, adapter, role in by_model if adapter and role in self.models}
        return Capabilities(self.planner is not None, unattended, rungs)


@dataclass(frozen=True, slots=True)
class Sighted:
    """One target as it was found: what it looked like, where, and what its use sent."""

    element: Element
    url: str
    writes: tuple[str, ...] = ()


@dataclass(slots=True)
class LivePage:
    """A page that a node works in (or left for a step that continues it).

    ``documents``: loaded so far by the node that works in it, ahead of what the journal folded.
    ``turned``: the actions of this entry that caused a new document, by index. ``sighted``: what
    the targets of its segment looked like, by their text in the recipe, with the page's URL and
    what their use sent. ``behind_commit``: what is still to be read there by a model.
    """

    tab: Tab
    documents: int = 0
    before: tuple[Verdict, ...] = ()
    outputs: dict[str, Json] = field(default_factory=dict)
    responses: list[Response] = field(default_factory=list)
    commit_from: int | None = None
    turned: list[int] = field(default_factory=list)
    sighted: dict[str, Sighted] = field(default_factory=dict)
    behind_commit: Callable[[], Awaitable[None]] | None = None

    def begin_anew(self) -> None:
        """Its segment is entered from the start: nothing of the former entry counts."""
        self.before, self.outputs = (), {}
        self.turned.clear()

    def commit_responses(self) -> list[Response]:
        """What the site answered since the commit's input was sent."""
        return [] if self.commit_from is None else self.responses[self.commit_from :]


@dataclass(slots=True)
class Pages:
    """The open pages of a run by node. A page belongs to one node at a time."""

    live: dict[str, LivePage] = field(default_factory=dict)

    def get(self, node: str) -> LivePage | None:
        """The node's page, if it has one."""
        return self.live.get(node)

    def hand_over(self, before: str, node: str) -> LivePage | None:
        """Give the page that a step left to the one that continues it."""
        page = self.live.pop(before, None)
        if page is not None:
            page = LivePage(page.tab)
            self.live[node] = page
        return page

    async def close(self, node: str) -> None:
        """Close a node's page; none is not an error."""
        page = self.live.pop(node, None)
        if page is not None:
            await page.tab.close()

    async def close_all(self) -> None:
        """Close every page."""
        for node in list(self.live):
            await self.close(node)


def outputs_by_step(nodes: Mapping[str, object]) -> dict[str, Json]:
    """Outputs of met nodes (not of single items) by step, as ``last`` will see them."""
    found: dict[str, Json] = {}
    for path, node in nodes.items():
        if "[" not in path and getattr(node, "state", "") == "met":
            found[path] = dict(getattr(node, "outputs", {}))
    return found
