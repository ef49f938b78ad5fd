"""Where a step may go: whole addresses, inside sites and scope, on no private network."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from webagent.core.origins import fixed_origin, gotos
from webagent.core.scopes import (
    Draft,
    Faults,
    Place,
    near,
    resolve,
    safe_references,
)


def check_urls(draft: Draft, faults: Faults) -> None:
    """Check every goto of a step, and the origins of its scope."""
    step, recipe, at = draft.step, draft.place.recipe, draft.at
    scope = step.scope.origins
    probe = step.probe.segment if step.probe is not None else ()
    for part, segment in (("segment", step.segment), ("probe", probe), ("reset", step.reset)):
        for index, goto in gotos(segment):
            here = f"{at}.{part}[{index}].goto"
            if part == "probe" and recipe.place(here) is recipe.place(f"{at}.probe"):
                here = f"{at}.probe.segment[{index}].goto"
            _url(draft.place, here, goto.url, scope, faults)
    for index, origin in enumerate(scope or ()):
        if recipe.sites and origin not in recipe.sites:
            faults.add(recipe, f"{at}.scope.origins[{index}]", f"{origin} is not among sites",
                       near(origin, recipe.sites), "outside_sites")  # fmt: skip


def _url(place: Place, at: str, url: str, scope: tuple[str, ...] | None, faults: Faults) -> None:
    recipe = place.recipe
    origin = fixed_origin(url)
    if origin is None:
        _open_url(place, at, url, scope, faults)
        return
    if recipe.sites and origin not in recipe.sites:
        faults.add(recipe, at, f"{origin} is not among sites", near(origin, recipe.sites),
                   "outside_sites")  # fmt: skip
    elif scope is not None and origin not in scope:
        faults.add(recipe, at, f"{origin} is outside the step's scope", near(origin, scope),
                   "outside_scope")  # fmt: skip
    inner = place
    while inner.parent is not None:
        outer = inner.parent
        if outer.recipe.sites and origin not in outer.recipe.sites:
            faults.add(
                outer.recipe, inner.at, f"this goes to {origin}, which is not among sites",
                near(origin, outer.recipe.sites), "outside_sites",
            )  # fmt: skip
        inner = outer
    private = _is_private_literal(urlsplit(origin).hostname or "")
    if private and not inner.recipe.allow_private:
        faults.add(recipe, at, f"{origin} is on a private network",
                   "allow_private: true permits it", "private")  # fmt: skip


def _open_url(
    place: Place, at: str, url: str, scope: tuple[str, ...] | None, faults: Faults
) -> None:
    """A URL whose host is not written out: it must be bounded if a page can choose it."""
    recipe = place.recipe
    if not re.match(r"\s*(\{\{|\{%|https?://[^/]*\{\{)", url):
        looks_whole = re.match(r"[\w-]+(\.[\w-]+)+(/|$)", url)
        hint = f"write https://{url}" if looks_whole else "begin with https://"
        faults.add(recipe, at, f"{url!r} is no whole web address", hint, "url")
        return
    bounded = scope is not None
    above: Place | None = place
    while above is not None:
        bounded = bounded or bool(above.recipe.sites) or "sites" in faults.broken_in(above.recipe)
        above = above.parent
    from_page = any(
        resolve(place, path, faults).step or resolve(place, path, faults).several
        for path in safe_references(url)
    )
    if from_page and not bounded:
        faults.add(
            recipe, at, "a page chooses where this goes, and nothing bounds it",
            "name the errand's origins: sites: [https://…], or the step's scope", "unbounded",
        )  # fmt: skip


def _is_private_literal(host: str) -> bool:
    """An address written as such; what a name resolves to is seen only when it runs."""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return host == "localhost"
