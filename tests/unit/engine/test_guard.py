"""Which origins a step may visit: what its author wrote, never what a page said."""

from dataclasses import replace

from webagent.core.compile import compile_plan
from webagent.core.event import BrowserStarted, Entry, Event, PlanMade, RunStarted, StepFinished
from webagent.core.event import StepStarted as Started
from webagent.engine.guard import origins, policy, probe_policy
from webagent.engine.state import RunState, fold
from webagent.formats.recipe_yaml import parse_recipe

TEXT = """
webagent: 1
id: t
errand: t
sites: ["http://shop.test", "http://other.test"]
steps:
  find:
    do: read
    segment: [{goto: "http://shop.test/"}, {read: {link: {css: a, attr: href}}}]
    expect: [{text: Offers}]
  look:
    do: read
    segment: [{goto: "{{ find.link }}"}, {read: {title: h1}}]
    expect: [{text: Here}]
  scoped:
    do: read
    scope: {origins: ["http://other.test"]}
    segment: [{goto: "http://other.test/x"}, {read: {title: h1}}]
    expect: [{text: Here}]
"""


def state(link: str) -> RunState:
    plan = compile_plan(parse_recipe(TEXT))
    events: list[Event] = [
        RunStarted(run="r", recipe_id="t", date="2026-11-30"),
        PlanMade(plan=plan),
        BrowserStarted(),
        Started(step="find", attempt=1),
        StepFinished(step="find", state="met", outputs={"link": link}),
    ]
    at = "2026-11-30T12:00:00+00:00"
    return fold(Entry(seq=i, epoch=1, at=at, event=e) for i, e in enumerate(events, 1))


def test_a_link_within_the_sites_may_be_followed() -> None:
    assert origins(state("http://shop.test/p/1"), "look") == ("http://shop.test",)


def test_a_page_cannot_add_an_origin_by_what_it_links_to() -> None:
    assert origins(state("http://evil.test/p/1"), "look") == ()


def test_a_scope_is_the_authors_word() -> None:
    assert origins(state("http://shop.test/"), "scoped") == ("http://other.test",)


def test_a_value_that_is_not_there_adds_nothing() -> None:
    now = state("http://shop.test/")
    nodes = {**now.nodes, "find": replace(now.nodes["find"], state="unmet", outputs={})}
    assert origins(replace(now, nodes=nodes), "look") == ()


def test_a_probe_writes_nothing_on_the_same_origins() -> None:
    plan = state("x").the_plan
    own = policy(plan, plan.by_path["find"].model_copy(update={"effect": "once"}), ("o",), ())
    probe = probe_policy(own)
    assert (probe.effect, probe.origins, probe.allow_posts) == ("none", own.origins, ())
