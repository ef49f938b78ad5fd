"""What a model may propose for a step: each rule refuses its case and lets its neighbour pass."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from webagent.core.action import (
    Action,
    Click,
    Commit,
    Dialog,
    DownloadBy,
    Entry,
    FieldRead,
    Fill,
    Goto,
    ListRead,
    Pages,
    Press,
    Read,
    Select,
    TableRead,
    Type,
    Upload,
    Wait,
)
from webagent.core.brief import Brief
from webagent.core.expect import ElementShown, TextShown
from webagent.core.plan import PlanStep, Scope
from webagent.core.target import parse_target
from webagent.core.vetting import LONGEST_WAIT, MOST_ACTIONS, action_fault, fault


def t(raw: object) -> Any:
    return parse_target(raw)


def goto(url: str) -> Goto:
    return Goto(url=url)


def click(raw: object = 'button "Go"', **more: Any) -> Click:
    return Click(target=t(raw), **more)


def fill(value: Any, raw: object = "#q") -> Fill:
    return Fill(entries=(Entry(target=t(raw), value=value),))


def read(**outputs: Any) -> Read:
    return Read(outputs=outputs)


def field(raw: object = ".x", **more: Any) -> FieldRead:
    return FieldRead(target=t(raw), **more)


def rows(**more: Any) -> ListRead:
    return ListRead(**{"each": t(".row"), "fields": {"title": field("b")}, **more})


VALUES = {"query": "lamp", "look.number": 7, "item": {"title": "x", "price": {"amount": 1}}}


def brief(*segment: Action, original: tuple[Action, ...] = (), **more: Any) -> Brief:
    made: dict[str, Any] = {"path": "s", "do": "read", "segment": segment or None, **more}
    return Brief(
        step=PlanStep(**made), values=VALUES, drift="target_missing", original=original,
        origins=("http://a.test", "https://b.test:8443"), secrets=("password",),
    )  # fmt: skip


def why(action: Action, **more: Any) -> str | None:
    return fault(brief(**more), (action,))


# -- addresses -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://a.test", "http://a.test/", "http://a.test/p?q=1#x", "http://a.test:80/p",
        "HTTP://A.TEST/p", "https://b.test:8443/", "http://a.test/?next=http://evil.test/",
        "http://a.test/@evil.test", "http://a.test/{{ query | urlencode }}",
        "http://a.test/{{ look.number }}", "{{ item.title }}",
    ],
)  # fmt: skip
def test_an_address_of_the_steps_own_origins_may_be_opened(url: str):
    assert why(goto(url)) is None


@pytest.mark.parametrize(
    "url",
    [
        "", " ", "a.test", "/p", "//a.test/", "//evil.test/", "javascript:alert(1)",
        "JavaScript:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)", "data:text/html,x",
        "DATA:text/html,x", "blob:http://a.test/1", "file:///etc/passwd", "about:blank",
        "about:srcdoc", "view-source:http://a.test/", "chrome://settings", "ftp://a.test/",
        "ws://a.test/", "http:", "http://", "http:///a.test", "http:/a.test", "http:\\\\a.test",
        "http://evil.test/", "http://a.test.evil.test/", "http://a.test@evil.test/",
        "http://a.test:x@evil.test/", "https://a.test/", "http://a.test:81/", "http://a.test:99999/",
        "http://a.test:80a/", "http://b.test:8443/", "http://sub.a.test/", "http://a.test./",
        "http://\u0430.test/", "http://[::1]/", "http://[a.test/", "http://127.0.0.1/",
        "http://evil.test\\@a.test/", "http://evil.test\\\\@a.test/", "http://user:pass@a.test/",
        "http://user@a.test/",
    ],
)  # fmt: skip
def test_any_other_address_may_not(url: str):
    assert why(goto(url)) is not None


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert('{{ query }}')", "http://evil.test/{{ query }}",
        "http://evil.test\\@a.test/{{ query }}", "data:text/html,{{ query }}",
        "http://a.test@evil.test/?q={{ query }}", "file:///{{ query }}", "//evil.test/{{ query }}",
    ],
)  # fmt: skip
def test_an_address_that_begins_elsewhere_is_refused_whatever_is_put_in(url: str):
    assert why(goto(url)) is not None


def test_a_committing_goto_is_held_to_the_same_addresses():
    away = Commit(action=goto("http://evil.test/"))
    assert "outside the step's scope" in (why(away, effect="once") or "")
    assert why(Commit(action=goto("http://a.test/x")), effect="once") is None


# -- templates -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "lamp", "", "{{ query }}", "{{query}}", "a {{ query }} b", "{{ look.number }}",
        "{{ item.title }}", "{{ item.price.amount }}", "{{ item['title'] }}", "{{ run.date }}",
        "{{ query | lower }}", "{ query }", "} }", "100% {sure}",
    ],
)  # fmt: skip
def test_the_briefs_own_values_may_be_referred_to(text: str):
    assert why(fill(text)) is None


@pytest.mark.parametrize(
    "text",
    [
        "{% if query %}x{% endif %}", "{%- set x = 1 -%}", "x {# hidden #}", "{{ other }}",
        "{{ look.address }}", "{{ look }}", "{{ last.look.number }}", "{{ query ~ other }}",
        "{{ query if other else 1 }}", "{{ query[other] }}", "{{ query", "{{ }}",
        "{{ query | no }}", "{{ query | attr('x') }}", "{{ secrets }}", "{{ secrets['password'] }}",
        "{{ secrets.password }} x",
        "x{{ secrets.password | totp }}", "{{ secrets.password | upper }}",
        "{{ self }}", "{{ " + "(" * 3_000 + "1" + ")" * 3_000 + " }}",
        "{{ query }}" * 5_000,
    ],
    ids=lambda text: text[:30],
)  # fmt: skip
def test_nothing_else_may_be_referred_to(text: str):
    assert why(fill(text)) is not None


@pytest.mark.parametrize(
    "action",
    [
        goto("http://a.test/?q={{ other }}"), click('button "{{ other }}"'),
        click({"css": "#x", "frame": "#{{ other }}"}), click(frame=t("#{{ other }}")),
        click(within=t({"text": "{{ other }}"})), Press(key="{{ other }}"),
        Wait(until=TextShown(text="{{ other }}")), read(x=field(".{{ other }}")),
        read(x=rows(fields={"a": field("b", attr="{{ other }}")})),
        Commit(action=click('button "{{ other }}"')), Select(entries=(
            Entry(target=t("#s"), value=["{{ query }}", "{{ other }}"]),)),
        fill({"deep": [{"er": "{{ other }}"}]}),
    ],
)  # fmt: skip
def test_a_reference_is_found_wherever_it_stands(action: Action):
    effect = "once" if isinstance(action, Commit) else "none"
    assert "'other'" in (why(action, effect=effect) or "")


@pytest.mark.parametrize("action", [
    click({"css": "#x", "frame": "#f"}), click(frame=t("iframe[name=pay]")),
    Wait(until=ElementShown(target=t("#x"))), Press(key="Enter"), DownloadBy(target=t("#x")),
])  # fmt: skip
def test_what_refers_to_nothing_passes(action: Action):
    assert why(action) is None


# -- secrets ---------------------------------------------------------------------------------

SECRET = "{{ secrets.password }}"


@pytest.mark.parametrize("text", [SECRET, "{{secrets.password}}", "{{ secrets.password | totp }}"])
def test_a_secret_of_the_brief_is_typed_by_its_name(text: str):
    assert why(fill(text)) is None
    assert why(Type(entries=(Entry(target=t("#p"), value=text),))) is None


@pytest.mark.parametrize("action", [
    goto(SECRET), goto(f"http://a.test/?p={SECRET}"), click(f'button "{SECRET}"'), click(SECRET),
    Press(key=SECRET), Select(entries=(Entry(target=t("#s"), value=SECRET),)),
    Wait(until=TextShown(text=SECRET)), read(x=field(SECRET)),
    fill("{{ secrets.other_shop }}"), fill("{{ secrets.other_shop | totp }}"),
    fill(f"is it {SECRET}?"), fill("x", SECRET), fill([SECRET, "{{ secrets.other_shop }}"]),
])  # fmt: skip
def test_a_secret_goes_nowhere_else(action: Action):
    assert why(action) is not None


# -- verbs -----------------------------------------------------------------------------------


def test_a_verb_outside_the_steps_tools_is_refused():
    scope = Scope(tools=("goto", "click"))
    assert why(click(), scope=scope) is None
    assert why(fill("x"), scope=scope) == "the step may not use fill"
    assert "may not use commit" in (why(Commit(action=click()), scope=scope, effect="once") or "")
    both = Scope(tools=("commit", "goto"))
    assert "may not use click" in (why(Commit(action=click()), scope=both, effect="once") or "")


@pytest.mark.parametrize("effect", ["none", "repeatable"])
def test_only_a_once_step_has_a_commit(effect: str):
    assert "has no commit" in (why(Commit(action=click()), effect=effect) or "")
    assert why(Commit(action=click()), effect="once") is None


@pytest.mark.parametrize(
    "action", [
        Upload(entries=(Entry(target=t("#f"), value="/etc/passwd"),)),
        Dialog(answer="accept"), Dialog(answer="dismiss"),
    ],
)  # fmt: skip
def test_files_and_dialogs_are_for_the_recipe_to_say(action: Action):
    assert "for the recipe's author" in (why(action) or "")
    assert fault(brief(action), (action, click())) is None


@pytest.mark.parametrize("seconds, passes", [
    (0.1, True), (30, True), (LONGEST_WAIT, True), (LONGEST_WAIT + 1, False), (1e9, False),
    (float("inf"), False), (float("nan"), False), (0, False), (-1, False),
])  # fmt: skip
def test_no_action_waits_longer_than_somebody_looks(seconds: float, passes: bool):
    assert (why(click(timeout=seconds)) is None) is passes
    assert (why(Commit(action=click(), timeout=seconds), effect="once") is None) is passes


def test_a_click_may_be_optional_and_a_read_or_a_commit_not():
    assert why(click(optional=True)) is None
    assert why(Read(outputs={"x": field()}, optional=True)) == "a read may not be optional"
    assert "may not be optional" in (
        why(Commit(action=click(), optional=True), effect="once") or ""
    )


def test_a_commit_in_a_commit_cannot_be_written():
    with pytest.raises(ValidationError):
        Commit.model_validate({"action": Commit(action=click()).model_dump()})


def test_a_segment_has_some_actions_and_not_too_many():
    assert fault(brief(), ()) == "it has no actions"
    assert fault(brief(), (click(),) * MOST_ACTIONS) is None
    assert "are the most" in (fault(brief(), (click(),) * (MOST_ACTIONS + 1)) or "")


# -- reads -----------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [
    field(), rows(), TableRead(table=t("table")), rows(pages=Pages(next=t("#n"))),
    rows(pages=Pages(next=t("#n"), until="rows | length > 3")), rows(fields={"me": FieldRead()}),
])  # fmt: skip
def test_what_reads_passes(spec: Any):
    assert why(read(x=spec)) is None


@pytest.mark.parametrize("spec", [
    field(optional=True), rows(optional=True), TableRead(table=t("table"), optional=True),
    FieldRead(fixed=True, value="12.50"), FieldRead(fixed=True),
    rows(fields={"a": field(), "b": FieldRead(fixed=True, value="x")}),
    rows(fields={"a": field(optional=True)}),
])  # fmt: skip
def test_a_read_that_need_not_read_is_refused(spec: Any):
    assert why(read(x=spec)) is not None


@pytest.mark.parametrize("old, new", [
    (field(".a", optional=True), field(".b", optional=True)),
    (rows(optional=True), rows(each=t("li"), optional=True)),
    (FieldRead(fixed=True, value="x"), FieldRead(fixed=True, value="x")),
    (
        rows(fields={"a": field(".a", optional=True), "b": FieldRead(fixed=True, value=1)}),
        rows(each=t("li"), fields={
            "a": field(".n", optional=True), "b": FieldRead(fixed=True, value=1)}),
    ),
])  # fmt: skip
def test_what_the_recipe_lets_be_absent_or_fixes_may_stay_so(old: Any, new: Any):
    assert fault(brief(read(x=old)), (click(), read(x=new))) is None
    revised = brief(click(), original=(read(x=old),))
    assert action_fault(revised, read(x=new)) is None


def test_another_fixed_value_than_the_recipes_is_refused():
    made = brief(read(x=FieldRead(fixed=True, value="x")))
    assert fault(made, (read(x=FieldRead(fixed=True, value="y")),)) is not None


def test_no_output_is_dropped():
    made = brief(read(a=field()), read(b=rows()), DownloadBy(target=t("#d"), name="bill"))
    whole = (read(a=field(".y"), b=rows()), DownloadBy(target=t("#d"), name="bill"))
    assert fault(made, whole) is None
    assert fault(made, (*whole, read(c=field()))) is None
    assert fault(made, (read(b=rows()), whole[1])) == "it no longer reads a"
    assert fault(made, (read(a=field(), b=rows()),)) == "it no longer reads bill"


def test_no_field_of_a_list_is_dropped():
    made = brief(read(x=rows(fields={"a": field(), "b": field()})))
    assert fault(made, (read(x=rows(fields={"a": field(".n"), "b": field()})),)) is None
    assert fault(made, (read(x=rows(fields={"a": field(".n")})),)) is not None


@pytest.mark.parametrize("until", ["secrets.password == 'x'", "last.look.x", "{% if %}"])
def test_the_condition_of_paging_sees_no_other_names(until: str):
    """What it may see is what was read so far; the recipe's own check says the same."""
    assert why(read(x=rows(pages=Pages(next=t("#n"), until=until)))) is not None


# -- the recipe's own ------------------------------------------------------------------------

OWN: tuple[Action, ...] = (
    goto("http://elsewhere.test/"), fill("{{ other }}"), fill("{{ secrets.other_shop }}"),
    Upload(entries=(Entry(target=t("#f"), value="{{ other }}"),)), Dialog(answer="accept"),
    click(optional=True), read(x=field(optional=True)),
)  # fmt: skip


def test_what_the_recipes_own_segment_holds_passes():
    assert fault(brief(*OWN), OWN) is None
    assert fault(brief(*OWN), tuple(reversed(OWN))) is None
    # After a revision in this run it is the original that counts.
    assert fault(brief(click(), original=OWN), (*OWN, click("#new"))) is None


@pytest.mark.parametrize("action", OWN[:5])
def test_the_same_is_refused_where_the_recipe_does_not_have_it(action: Action):
    assert why(action) is not None


def test_the_first_fault_is_told():
    told = fault(brief(), (click(), goto("http://evil.test/"), Dialog(answer="accept")))
    assert told == (
        "http://evil.test is outside the step's scope (http://a.test, https://b.test:8443)"
    )


@pytest.mark.parametrize("old, new, told", [
    (rows(), field(), "may not become one value"),
    (field(), rows(), "may not become a list"),
    (rows(key="a"), rows(), "told apart by a"),
    (field(type="money"), field(type="text"), "read as money"),
    (rows(fields={"a": field(type="money")}), rows(fields={"a": field()}), "x.a is read as money"),
    (rows(), rows(pages=Pages(next=t("#n"), max=10**9)), "at most 30 pages"),
    (rows(pages=Pages(next=t("#n"), max=40)), rows(pages=Pages(next=t("#m"), max=41)), "most 40"),
])  # fmt: skip
def test_what_is_read_stays_of_its_kind(old: Any, new: Any, told: str):
    said = fault(brief(read(x=old)), (read(x=new),))
    assert said is not None
    assert told in said


@pytest.mark.parametrize("old, new", [
    (field(type="money"), FieldRead(target=t("#other"), type="money")),
    (rows(key="a"), TableRead(table=t("table"), key="a")),
    (rows(pages=Pages(next=t("#n"), max=40)), rows(pages=Pages(next=t("#m"), max=40))),
])  # fmt: skip
def test_another_place_for_the_same_kind_of_value_passes(old: Any, new: Any):
    assert fault(brief(read(x=old)), (read(x=new),)) is None
