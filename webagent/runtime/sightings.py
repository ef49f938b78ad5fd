"""Sightings of one run: loaded once, kept when a step is met, where they say something new.

What a met step's targets looked like is how they are found again after the site has changed.
"""

from __future__ import annotations

from webagent.core.plan import template_of
from webagent.core.sighting import Sighting, holed_url, with_holes
from webagent.engine.brief import used_values
from webagent.engine.state import RunState
from webagent.runtime.context import Deps, LivePage, Sighted
from webagent.runtime.journal import Journal


class Sightings:
    """What is known of the targets of one run's recipe."""

    def __init__(self, deps: Deps, journal: Journal) -> None:
        self.deps = deps
        self.journal = journal
        self._known: dict[tuple[str, str, bool], Sighting] | None = None

    async def known(self) -> tuple[Sighting, ...]:
        """All sightings of the recipe: of the store, with the newer ones of a sidecar."""
        return tuple((await self._load()).values())

    async def writes(self, node: str) -> tuple[str, ...]:
        """The writes that earlier met runs of a node's step have sent."""
        step = template_of(node)
        return tuple(w for s in await self.known() if s.step == step for w in s.writes)

    async def _load(self) -> dict[tuple[str, str, bool], Sighting]:
        if self._known is None:
            recipe = self.journal.state.the_plan.recipe_id
            kept = (*self.deps.sidecar, *await self.deps.store.sightings(recipe))
            found: dict[tuple[str, str, bool], Sighting] = {}
            for one in kept:
                key = (one.step, one.target, one.accepted)
                if key not in found or found[key].at < one.at:
                    found[key] = one
            self._known = found
        return self._known

    async def keep(self, node: str, page: LivePage) -> None:
        """Keep what a node's targets looked like, now that its step is met.

        After a revision they are healed: kept beside the old ones until a person accepts them.
        """
        if not page.sighted:
            return
        known = await self._load()
        state = self.journal.state
        step = template_of(node)
        values = used_values(state, node)
        revised = step in state.originals
        healed = _healed(state, step)
        new: list[Sighting] = []
        for text, seen in page.sighted.items():
            sighting = self._sighting(step, healed.get(text, text), seen, accepted=not revised)
            sighting = sighting.model_copy(
                update={
                    "element": with_holes(seen.element, values),
                    "url": holed_url(seen.url, values),
                }
            )
            key = (step, sighting.target, sighting.accepted)
            if key in known and _same(known[key], sighting):
                continue
            known[key] = sighting
            new.append(sighting)
        page.sighted.clear()
        if new:
            await self.deps.store.keep_sightings(new)

    def _sighting(self, step: str, target: str, seen: Sighted, *, accepted: bool) -> Sighting:
        return Sighting(
            recipe_id=self.journal.state.the_plan.recipe_id, step=step, target=target,
            element=seen.element, writes=seen.writes, accepted=accepted,
            run=self.journal.lease.run, at=self.deps.clock.now().isoformat(),
        )  # fmt: skip


def _healed(state: RunState, step: str) -> dict[str, str]:
    """For each new target text of a revised step, the recipe's own text that it stands for."""
    return dict(state.healed.get(step, {}))


def _same(old: Sighting, new: Sighting) -> bool:
    """Whether a sighting says nothing new; a box that moved by a little is no news."""
    blank = {"place": (0.0, 0.0)}
    return (
        old.element.model_copy(update=blank) == new.element.model_copy(update=blank)
        and old.url == new.url
        and set(new.writes) <= set(old.writes)
    )
