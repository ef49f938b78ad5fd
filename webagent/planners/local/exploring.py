"""Looking for a page that has moved: best first, by GET, in a second tab, within the step's budget.

Sought is a page on which all can be done that is left to do on it. Links are followed in the order
of what their names and addresses promise: likeness to the goal, to the links of old and to the old
address (after the measurements of FACTS: likeness below one half is noise; leading path segments
shared with the old address count; one page for each pattern of addresses; the old address first,
the site's own search early, its sitemap late). Links that may do something are never followed.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, quote_plus, urlencode, urljoin

from webagent.core.action import Action, Goto
from webagent.core.expect import ElementShown, TextShown
from webagent.core.likeness import FAMILIES, texts
from webagent.core.request_rules import origin_of, url_parts
from webagent.core.revision import Revision
from webagent.core.sighting import Element, Survey, leaves
from webagent.core.target import Target
from webagent.core.wording import concepts, fold, is_harmful_link
from webagent.planners.local.reads import could_read
from webagent.planners.local.situation import Situation, needed
from webagent.ports import Scout

MOST_FROM_SITEMAP = 40
# A menu of many pages is not looked through before the site's own list of them.
BEFORE_SITEMAP = 8
_TURNS = frozenset(
    {"click", "double_click", "press", "commit", "back", "reload", "goto", "download"}
)
_PLAIN = frozenset({"goto", "back", "reload"})


@dataclass(frozen=True)
class Sought:
    """What a page has to allow, and where the way to it stands in the segment.

    ``replaces``: the action that leads there is taken out, else the way is put in before ``index``.
    ``must``: today's values by which the page was called: another page is of another thing.
    """

    actions: tuple[Action, ...]
    index: int
    replaces: bool
    words: tuple[str, ...] = ()
    old: str = ""
    links: tuple[Target, ...] = ()
    must: tuple[str, ...] = ()


@dataclass(order=True)
class _Lead:
    """A page that may be looked at, the most promising first."""

    cost: float
    order: int
    url: str = field(compare=False)
    depth: int = field(compare=False, default=0)


async def moved_page(situation: Situation, scout: Scout) -> Revision | None:
    """A goto to the page on which the rest can be done, in place of the way that led astray."""
    for sought in _sought(situation):
        url = await _explore(situation, scout, sought)
        if url is None:
            continue
        goto = Goto(url=_as_template(situation, url))
        segment = situation.segment
        rest = segment[sought.index + 1 :] if sought.replaces else segment[sought.index :]
        found = situation.revision(
            (*segment[: sought.index], goto, *rest), sought.index, f"the page is now at {url}"
        )
        if found is not None:
            return found
    return None


def _sought(situation: Situation) -> list[Sought]:
    """What may have moved: the page behind a failing link, or the page that we are on."""
    segment, at = situation.segment, situation.at
    out: list[Sought] = []
    end = len(segment) if at is None else at
    action = segment[end] if end < len(segment) else None
    here_gone = situation.here.status >= 400
    if action is not None and action.verb == "click" and not here_gone:
        target = needed(action)[0] if needed(action) else None
        if target is not None and situation.was_link(target):
            rest = _until_turn(segment, end + 1)
            words = (target.name or "", *(s.element.name for s in situation.sightings(target)))
            known = [s.element.href for s in situation.sightings(target) if s.element.href]
            out.append(
                Sought(rest, end, replaces=True, words=words, old=(known or [""])[0],
                       links=(target,), must=situation.values_in(target.source))
            )  # fmt: skip
    turned = situation.turned_before(end + (1 if here_gone else 0))
    if action is None and turned < 0:
        turned = _last_turn(segment)
    rest = _until_turn(segment, turned + 1)
    way = segment[turned] if turned >= 0 else None
    if way is None:
        out.append(Sought(rest, 0, replaces=False, old=situation.here.url))
    else:
        targets = needed(way)
        plain = way.verb in _PLAIN or (
            way.verb == "click" and bool(targets) and situation.was_link(targets[0])
        )
        words = tuple(t.name or "" for t in targets)
        url = way.url if isinstance(way, Goto) else situation.here.url
        old = situation.text_of(url) or situation.here.url
        index = turned if plain else turned + 1
        raw = " ".join([way.url] if isinstance(way, Goto) else [t.source for t in targets])
        must = situation.values_in(raw) if plain else ()
        out.append(
            Sought(rest, index, replaces=plain, words=words, old=old, links=targets, must=must)
        )
    return [s for s in out if s.actions or _content(situation)]


def _last_turn(segment: Sequence[Action]) -> int:
    return max((i for i, a in enumerate(segment) if a.verb in _TURNS), default=-1)


def _until_turn(segment: Sequence[Action], start: int) -> tuple[Action, ...]:
    """The actions to be performed on one page: up to the first that leads away from it."""
    out: list[Action] = []
    for action in segment[start:]:
        if action.verb == "goto":
            break
        if needed(action):
            out.append(action)
        if action.verb in _TURNS and needed(action):
            break
    return tuple(out)


def _content(situation: Situation) -> tuple[str, ...]:
    """Texts that the step expects on its last page."""
    return tuple(
        text
        for e in situation.brief.step.expect
        if isinstance(e, TextShown) and (text := situation.text_of(e.text))
    )


def fits(situation: Situation, actions: Sequence[Action], page: Survey) -> bool:
    """Whether all that these actions need is on a page, and something tells it from others.

    Without actions, what the step expects to be shown has to be there.
    """
    if page.status >= 400 or page.captcha:
        return False
    telling = 0
    for action in actions:
        if action.verb == "read":
            sure = could_read(situation, action, page)
            if sure is None:
                return False
            telling += sure
            continue
        for target in needed(action):
            own = [e for e in situation.own(target, page) if e.shown]
            if len(own) == 1 or (own and target.nth is not None):
                telling += int(bool(target.role or target.label or target.css))
                continue
            match = situation.again(target, action.verb, page)
            if match is None:
                return False
            telling += 1
    if actions:
        return telling > 0
    shown = [fold(f"{e.name} {e.text}") for e in page.elements] + [fold(h) for h in page.headings]
    wanted = _content(situation)
    elements = [e.target for e in situation.brief.step.expect if isinstance(e, ElementShown)]
    return (
        bool(wanted or elements)
        and all(any(fold(w) in text for text in shown) for w in wanted)
        and all(situation.own(t, page) for t in elements)
    )


async def _explore(situation: Situation, scout: Scout, sought: Sought) -> str | None:
    """The URL of the first page that fits; None when the budget or the leads are used up."""
    here = situation.here
    origin = origin_of(sought.old) or origin_of(here.url)
    leads = _Leads(situation, sought, origin)
    leads.add(sought.old, -4.0)
    for target in (t for a in sought.actions for t in needed(a)):
        for url in situation.seen_at(target):
            leads.add(url, -5.0)
    leads.from_page(here, 0)
    leads.add(f"{origin}/", -0.6)
    listed, looked = False, 0
    while scout.pages_left() > 0:
        lead = leads.next()
        many = looked >= BEFORE_SITEMAP
        if lead is None or ((lead.cost > 0 or many) and not listed):
            if listed:
                return None
            listed = True
            for url in (await scout.sitemap(origin))[:MOST_FROM_SITEMAP]:
                if is_harmful_link("", url):
                    continue
                # What the menus lead to was looked at before: these have their turn.
                leads.add(url, (-0.5 if many else 0.4) - leads.promise(url, ""), depth=1)
            if lead is not None:
                leads.back(lead)
            continue
        looked += 1
        page = await scout.look(lead.url)
        if page is None:
            continue
        fit = fits(situation, sought.actions, page) and _is_of(sought.must, page)
        if fit and not _is_other(situation, page):
            return page.url
        if page.url and origin_of(page.url) == origin:
            leads.from_page(page, lead.depth + 1)
    return None


def _is_of(values: Sequence[str], page: Survey) -> bool:
    """Whether a page is of the very thing that today's values name, by its address or its words."""
    said = fold(" ".join([page.title, *page.headings, *(e.text or e.name for e in page.elements)]))
    return all(
        v in page.url or quote(v) in page.url or quote_plus(v) in page.url or fold(v) in said
        for v in values
    )


def _is_other(situation: Situation, page: Survey) -> bool:
    """Whether this is the very page that did not do."""
    return page.url == situation.here.url and situation.at is not None


class _Leads:
    """The pages to look at, best first; one for each pattern of addresses."""

    def __init__(self, situation: Situation, sought: Sought, origin: str) -> None:
        self._origin = origin
        self._old = url_parts(sought.old)
        self._heap: list[_Lead] = []
        self._seen: dict[str, int] = {}
        step = situation.brief.step
        goal = f"{step.goal} {step.name}".replace("_", " ").strip()
        self._words = [w for w in (*sought.words, goal) if w]
        self._values = [v for _, v in leaves(situation.brief.values)]
        self._count = 0

    def next(self) -> _Lead | None:
        return heapq.heappop(self._heap) if self._heap else None

    def back(self, lead: _Lead) -> None:
        heapq.heappush(self._heap, lead)

    def add(self, url: str, cost: float, depth: int = 0) -> None:
        """A page, unless its pattern was looked at; today's value in it makes it its own."""
        plain = url.split("#", 1)[0]
        if not plain or origin_of(plain) != self._origin:
            return
        own = any(quote(v) in plain or v in plain for v in self._values)
        pattern = plain if own else re.sub(r"\d+", "#", plain)
        if self._seen.get(pattern, 0) >= (1 if pattern == plain else 2):
            return
        self._seen[pattern] = self._seen.get(pattern, 0) + 1
        self._count += 1
        heapq.heappush(self._heap, _Lead(cost, self._count, plain, depth))

    def from_page(self, page: Survey, depth: int) -> None:
        """The links of a page, hidden ones of menus included, and its search."""
        for element in page.elements:
            if element.role in FAMILIES[0] and element.tag == "a" and element.href:
                name = element.name or element.text
                if is_harmful_link(name, element.href):
                    continue
                cost = 0.25 * depth - self.promise(element.href, name)
                self.add(element.href, cost, depth)
        for url in self._searches(page):
            self.add(url, -1.0 + 0.1 * depth, depth)

    def promise(self, url: str, name: str) -> float:
        """How much a link promises: likeness of its name and path to what is sought."""
        parts = url_parts(url)
        steps, old = ([s for s in p.path.split("/") if s] for p in (parts, self._old))
        shared = 0
        for one, other in zip(steps, old, strict=False):
            if one != other:
                break
            shared += 1
        last = texts(steps[-1], old[-1]) if steps and old else 0.0
        named = max((texts(name, w) for w in self._words[:-1]), default=0.0) if name else 0.0
        goal = self._words[-1] if self._words else ""
        meant = concepts(name) | concepts(" ".join(steps))
        goals = concepts(goal) | concepts(" ".join(old))
        about = len(meant & goals) / len(meant | goals) if meant and goals else 0.0
        valued = any(fold(v) in fold(f"{name} {parts.path} {parts.query}") for v in self._values)
        return 2.0 * named + 1.5 * last + 0.5 * shared + 1.0 * about + (1.5 if valued else 0.0)

    def _searches(self, page: Survey) -> list[str]:
        """What the site's own search gives for the words of the errand."""
        box = next(
            (e for e in page.elements if _is_search(e) and e.method.lower() in ("", "get")), None
        )
        name = box.attrs.get("name") if box is not None else None
        if box is None or not name:
            return []
        action = box.attrs.get("action") or page.url
        if not origin_of(page.url):
            return []
        words = [*self._values[:2], *(w for w in self._words[:2] if w)]
        return [f"{urljoin(page.url, action)}?{urlencode({name: word})}" for word in words]


def _is_search(element: Element) -> bool:
    if element.role not in FAMILIES[1]:
        return False
    said = f"{element.name} {element.placeholder} {element.attrs.get('name', '')}"
    return element.role == "searchbox" or "search" in concepts(said) or element.type == "search"


def _as_template(situation: Situation, url: str) -> str:
    """The address with today's values as references, so that tomorrow's are looked for."""
    for name, value in sorted(leaves(situation.brief.values), key=lambda pair: -len(pair[1])):
        for written in dict.fromkeys(
            (quote(value, safe=""), quote(value), value.replace(" ", "+"))
        ):
            if written != value and written in url and "{{" not in url:
                return url.replace(written, f"{{{{ {name} | urlencode }}}}")
    return situation.templated(url)
