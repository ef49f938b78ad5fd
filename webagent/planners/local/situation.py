"""Where a step stands when it has to be revised: what was to be done, what is there, what is known.

Made from a brief and a survey of the page as it stands; the ways of the planner ask it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urljoin

from webagent.core.action import Action, Commit, Read, targets_of
from webagent.core.base import Json
from webagent.core.brief import Brief
from webagent.core.errors import ExpressionError
from webagent.core.expect import url_matches
from webagent.core.expr import has_template, render
from webagent.core.likeness import FAMILIES, MARGIN, Match, Wanted, best, likeness, of_target
from webagent.core.request_rules import write_shape
from webagent.core.revision import Revision
from webagent.core.sighting import (
    Element,
    Sighting,
    Survey,
    filled_url,
    has_hole,
    holed,
    leaves,
    with_values,
)
from webagent.core.target import Target, TargetSyntaxError, parse_target
from webagent.planners.local.matching import matches

_INNER = re.compile(r"\{\{(.*?)\}\}")
_FIELDS = FAMILIES[1]
_PRESSED = FAMILIES[0]
_TICKED = FAMILIES[2]
# What a verb can be done to, where nothing else says so.
_ROLES: dict[str, frozenset[str]] = {
    "click": _PRESSED | _TICKED,
    "double_click": _PRESSED,
    "commit": _PRESSED,
    "download": _PRESSED,
    "fill": _FIELDS | _TICKED,
    "type": _FIELDS,
    "clear": _FIELDS,
    "press": _FIELDS | _PRESSED,
    "select": _FIELDS,
    "check": _TICKED,
    "uncheck": _TICKED,
    "hover": _PRESSED,
}
LONGEST_NAME = 80
_ENTERING = frozenset({"fill", "select", "check", "uncheck", "type", "clear"})


@dataclass(frozen=True)
class Situation:
    """One step's revision to be: the brief and the page."""

    brief: Brief
    here: Survey

    @cached_property
    def segment(self) -> tuple[Action, ...]:
        """The segment as the plan has it now."""
        return self.brief.step.segment or ()

    @property
    def at(self) -> int | None:
        """The index of the action that failed, if one did."""
        return self.brief.failed_index

    @cached_property
    def names(self) -> dict[str, Any]:
        """The brief's values as expressions see them: dotted names nested."""
        tree: dict[str, Any] = {}
        for name, value in self.brief.values.items():
            parts = name.split(".")
            inner = tree
            for part in parts[:-1]:
                nested = inner.setdefault(part, {})
                if not isinstance(nested, dict):
                    break
                inner = nested
            else:
                inner.setdefault(parts[-1], value)
        return tree

    def turned_before(self, index: int) -> int:
        """The last action before an index that caused a new document; -1 for none."""
        return max((i for i in self.brief.documents if i < index), default=-1)

    def entered_from(self, index: int) -> int:
        """The first of the actions right before an index that only put values into the page."""
        while index > 0 and self.segment[index - 1].verb in _ENTERING:
            index -= 1
        return index

    # -- values -------------------------------------------------------------------------------

    def bound(self, target: Target) -> Target | None:
        """A target with today's values; None if one of them is not there."""
        data = target.model_dump(exclude_none=True)
        try:
            return Target.model_validate(self._bound(data))
        except ExpressionError:
            return None

    def _bound(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            return {key: self._bound(value) for key, value in data.items()}
        if isinstance(data, str) and has_template(data):
            return str(render(data, self.names))
        return data

    def text_of(self, value: Json) -> str | None:
        """A value of an action as it is typed today; None for secrets and what is not text."""
        if isinstance(value, str) and has_template(value):
            if "secrets." in value:
                return None
            try:
                value = render(value, self.names)
            except ExpressionError:
                return None
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return None
        return str(value)

    def templated(self, text: str) -> str:
        """A text of a page with today's values as references again."""
        out = holed(text, self.brief.values)
        return re.sub(r"⟦([^⟧]*)⟧", r"{{ \1 }}", out)

    def values_in(self, text: str) -> tuple[str, ...]:
        """Today's values that a text of the recipe refers to."""
        inner = _INNER.findall(text)
        return tuple(v for name, v in leaves(self.brief.values) if any(name in i for i in inner))

    # -- what is looked for -------------------------------------------------------------------

    def wanted(self, target: Target, verb: str) -> list[Wanted]:
        """A target as what to look for: each sighting of it, or what its own text says."""
        bound = self.bound(target)
        if bound is None:
            return []
        must = self.values_in(target.source)
        commits = verb == "commit"
        roles = _ROLES.get(verb, frozenset())
        seen = [with_values(s.element, self.brief.values) for s in self.sightings(target)]
        # A property that carried another day's value says nothing today.
        elements = [self._without_holes(e) for e in seen] or [of_target(bound)]
        if verb == "read":
            # What was read is another value today: its name is its text, and told by its kind.
            elements = [
                e if e.role in _PRESSED | _FIELDS | _TICKED else e.model_copy(update={"name": ""})
                for e in elements
            ]
            # So is what stands before it, unless it is a label.
            elements = [
                e.model_copy(update={"near": ""}) if re.search(r"\d", e.near) else e
                for e in elements
            ]
        return [
            Wanted(
                e,
                must,
                commits=commits,
                submits=e.submits or commits,
                roles=frozenset() if e.role else roles,
            )
            for e in elements
        ]

    @staticmethod
    def _without_holes(element: Element) -> Element:
        update = {
            name: ""
            for name in ("name", "text", "label", "near", "href")
            if has_hole(getattr(element, name))
        }
        return element.model_copy(update=update)

    def sightings(self, target: Target) -> list[Sighting]:
        """What is known of a target of the recipe, the accepted sighting first."""
        text = target.source
        found = [s for s in self.brief.sightings if s.target == text]
        return sorted(found, key=lambda s: (not s.accepted, s.at))

    def seen_at(self, target: Target) -> tuple[str, ...]:
        """The URLs of the pages on which a target was found, with today's values."""
        urls = [filled_url(s.url, self.brief.values) for s in self.sightings(target) if s.url]
        return tuple(u for u in dict.fromkeys(urls) if not has_hole(u))

    def was_link(self, target: Target) -> bool:
        """Whether a target led elsewhere and wrote nothing, as far as is known."""
        known = self.sightings(target)
        if known:
            return all(s.element.role == "link" and not s.writes for s in known)
        return target.role == "link" or bool(re.match(r"^a\b|.*[ >]a\b", target.css or ""))

    # -- finding ------------------------------------------------------------------------------

    def own(self, target: Target, survey: Survey) -> list[Element]:
        """What a target's own text finds on a page, as far as a survey can tell."""
        bound = self.bound(target)
        return [] if bound is None else matches(bound, survey)

    def there(self, target: Target, survey: Survey) -> bool:
        """Whether a target's own text finds what it needs on a page."""
        if survey is self.here and self._is_known_missing(target):
            return False
        found = [e for e in self.own(target, survey) if e.shown]
        return len(found) == 1 or (bool(found) and target.nth is not None)

    def _is_known_missing(self, target: Target) -> bool:
        """Whether the page itself said that this target is not there: a survey knows less."""
        at = self.at
        if self.brief.drift != "target_missing" or at is None or at >= len(self.segment):
            return False
        return targets_of(self.segment[at]) == (target,)

    def contradicted(self, target: Target, survey: Survey) -> bool:
        """Whether a target's text finds what its sighting was not, and that stands elsewhere.

        "E-mail" is a part of "Your e-mail for news": a text may find something, and not the thing.
        """
        own = [e for e in self.own(target, survey) if e.shown]
        wanted = self.wanted(target, "") if self.sightings(target) else []
        if len(own) != 1 or not wanted:
            return False
        for w in wanted:
            match = best(w, survey.elements)
            if match is None or match.element.ref == own[0].ref:
                return False
            if match.score - likeness(w.element, own[0])[0] < MARGIN:
                return False
        return True

    def again(self, target: Target, verb: str, survey: Survey) -> Match | None:
        """The one element of a page that a target must mean, or None rather than guess."""
        pool: Iterable[Element] = survey.elements
        own = [e for e in self.own(target, survey) if e.shown]
        css = target.css is not None and survey is self.here and self._is_known_missing(target)
        if css and len(own) == 1:
            # Of a selector only the last part was read: what stood around it is gone.
            return Match(own[0], 1.0)
        if len(own) > 1:
            if not self.sightings(target):
                return None
            pool = own
            # Nothing of today's page that the text does not find may be nearer to the sighting.
        if verb == "commit":
            pool = [e for e in pool if self._may_commit(e, survey)]
        found = [m for w in self.wanted(target, verb) if (m := best(w, pool)) is not None]
        return max(found, key=lambda m: m.score, default=None)

    def _may_commit(self, element: Element, survey: Survey) -> bool:
        """Whether an element's form sends what the commit is, as far as that is known.

        The recipe names the request, or a met run has sent it before.
        """
        action = element.attrs.get("action")
        if not action or not element.submits:
            return True
        url = urljoin(survey.url, action)
        commit = next(a for a in self.segment if isinstance(a, Commit))
        if commit.request is not None:
            return url_matches(commit.request.split(" ", 1)[-1].strip(), url)
        writes = {
            w for t in targets_of(commit) for s in self.sightings(t) for w in s.writes
        }  # fmt: skip
        return not writes or write_shape("POST", url) in writes

    def target_for(self, element: Element, survey: Survey) -> Target | None:
        """A new target that finds just this element today; None if nothing does.

        Text of a page never becomes a template: a name with braces in it is passed over.
        """
        name = element.name
        plain = name and len(name) <= LONGEST_NAME and not has_template(name) and "⟦" not in name
        if plain and element.role in _PRESSED | _FIELDS | _TICKED:
            same = [e for e in survey.elements if e.role == element.role and e.shown]
            part = [e for e in same if name.casefold() in e.name.casefold()]
            written = self.templated(name)
            if len(part) == 1:
                quoted = written.replace("\\", "\\\\").replace('"', '\\"')
                return _parsed(f'{element.role} "{quoted}"')
            if sum(e.name.casefold() == name.casefold() for e in part) == 1:
                return _parsed({"role": element.role, "name": written, "exact": True})
        if element.css and not has_template(element.css):
            return _parsed({"css": element.css})
        return None

    # -- composing ----------------------------------------------------------------------------

    def revision(
        self,
        segment: Sequence[Action],
        redo_from: int,
        reason: str,
        *,
        first_wrong: int | None = None,
        healed: Sequence[tuple[str, str]] = (),
    ) -> Revision | None:
        """The revision to a segment, unless it was tried before."""
        new = tuple(segment)
        if new == self.segment or new in self.brief.tried:
            return None
        if any(_strange(a, self.known_templates) for a in new if a not in self.segment):
            return None  # a page's braces never become a reference
        return Revision(
            step=self.brief.step.path, segment=new,
            first_wrong=redo_from if first_wrong is None else first_wrong,
            redo_from=redo_from, cause=self.brief.drift, author="local", reason=reason,
            healed=tuple(healed),
        )  # fmt: skip

    @cached_property
    def known_templates(self) -> frozenset[str]:
        """The references a revision may hold: the recipe's own, and those to its values."""
        own = {t for a in (*self.segment, *self.brief.original) for t in _templates(a)}
        made = {
            f"{{{{ {name}{how} }}}}"
            for name, _ in leaves(self.brief.values)
            for how in ("", " | urlencode")
        }
        return frozenset(own | made)

    def with_put_in(self, index: int, *actions: Action) -> tuple[Action, ...]:
        """The segment with actions put in before an index."""
        return (*self.segment[:index], *actions, *self.segment[index:])


_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)


def _strings(data: Any) -> Iterable[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from _strings(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _strings(value)


def _templates(action: Action) -> set[str]:
    return {t for text in _strings(action.model_dump()) for t in _TEMPLATE.findall(text)}


def _strange(action: Action, known: frozenset[str]) -> bool:
    """Whether an action holds a template that is neither the recipe's nor one of its values.

    Parts of a date are made of one of the recipe's references (`controls`).
    """
    for text in _strings(action.model_dump()):
        rest = text
        for template in sorted((*known, *_dates(text, known)), key=len, reverse=True):
            rest = rest.replace(template, "")
        if any(mark in rest for mark in ("{{", "{%", "{#", "}}")):
            return True
    return False


def _dates(text: str, known: frozenset[str]) -> Iterable[str]:
    """The parts of a date that `controls` makes of a known reference."""
    names = r"(?:\[(?:'[^'{}\\]*'(?:, )?)+\])?"
    part = r"\[\d:\d+\](?: \| int(?: - 1\])?)?"
    for template in known:
        inner = re.escape(template[2:-2].strip())
        made = rf"\{{\{{ {names}\[?\({inner}\){part} \}}\}}"
        if re.fullmatch(made, text) is not None:
            yield text


def _parsed(raw: object) -> Target | None:
    try:
        return parse_target(raw)
    except TargetSyntaxError:
        return None


def needed(action: Action) -> tuple[Target, ...]:
    """The targets that an action cannot do without."""
    if action.optional:
        return ()
    inner = action.action if isinstance(action, Commit) else action
    if isinstance(inner, Read):
        return tuple(
            t
            for spec in inner.outputs.values()
            if not spec.optional
            for t in targets_of(Read(outputs={"one": spec}))[:1]
        )
    return targets_of(inner)
