"""A recipe becomes a plan: needs, sub-plans, sign-ins, order. Its faults: test_bad_input."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webagent.core.compile import compile_plan
from webagent.core.errors import RecipeInvalid
from webagent.core.plan import Plan
from webagent.formats.recipe_yaml import parse_recipe

HEAD = "webagent: 1\nid: one\n"
READ = (
    "    segment: [goto: https://a.example/, "
    "read: {x: .x, rows: {each: li, fields: {id: .i, t: h2}}}]\n"
)
TEXT = "    expect: {text: Hi}\n"


def read(name: str, *keys: str, segment: str = READ) -> str:
    """A read step with some more keys."""
    more = "".join(f"    {key}\n" for key in keys)
    return f"  {name}:\n    do: read\n{more}{segment}{TEXT}"


def plan_of(*steps: str, head: str = "", **files: str) -> Plan:
    """The plan of a recipe with these steps; ``files`` are what it may use."""
    texts = {f"{name}.yaml": text for name, text in files.items()}
    text = HEAD + head + "steps:\n" + "".join(steps)
    return compile_plan(parse_recipe(text, "main.yaml", texts.__getitem__))


def faults_of(*steps: str, head: str = "", **files: str) -> list[str]:
    """What is wrong with such a recipe."""
    with pytest.raises(RecipeInvalid) as caught:
        plan_of(*steps, head=head, **files)
    return [p.message for p in caught.value.problems]


class TestNeeds:
    def test_a_reference_is_a_need(self) -> None:
        plan = plan_of(read("a"), read("b", 'when: a.x == "1"'))
        assert plan.by_path["b"].needs == ("a",)
        assert plan.by_path["b"].declared_needs == ()
        assert plan.by_path["b"].uses == (("a", "x"),)

    @pytest.mark.parametrize(
        "keys",
        [
            ("goal: 'Read {{ a.x }}'",),
            ("for_each: a.rows", "key: item.id"),
            ('for_each: "{{ a.rows }}"', "key: item.id"),
            ("session: none", "when: a.x"),
        ],
    )
    def test_names_in_any_key_are_needs(self, keys: tuple[str, ...]) -> None:
        assert plan_of(read("a"), read("b", *keys)).by_path["b"].needs == ("a",)

    @pytest.mark.parametrize(
        "segment",
        [
            '    segment: [{goto: "https://a.example/{{ a.x }}"}]\n',
            '    scope: https://a.example\n    segment: [{goto: "{{ a.x }}"}]\n',
            '    segment: [goto: https://a.example/, fill: {.q: "{{ a.x }}"}]\n',
            "    segment: [goto: https://a.example/, click: 'button \"{{ a.x }}\"']\n",
            '    segment: [goto: https://a.example/, read: {y: {value: "{{ a.x }}"}}]\n',
            '    segment: [goto: https://a.example/, wait: {text: "{{ a.x }}"}]\n',
            "    segment: [goto: https://a.example/, click: {css: b, frame: '.f{{ a.x }}'}]\n",
        ],
    )
    def test_names_in_any_action_are_needs(self, segment: str) -> None:
        assert plan_of(read("a"), read("b", segment=segment)).by_path["b"].needs == ("a",)

    def test_written_needs_stand_first_and_are_marked(self) -> None:
        plan = plan_of(read("a"), read("b"), read("c", "needs: b", "when: a.x"))
        assert plan.by_path["c"].needs == ("b", "a")
        assert plan.by_path["c"].declared_needs == ("b",)

    def test_a_reference_to_an_alternative_is_no_need(self) -> None:
        plan = plan_of(read("a"), read("b"), read("c", "needs: {any: [a, b]}", "when: a.x or b.x"))
        assert plan.by_path["c"].needs == ()
        assert plan.by_path["c"].needs_any == ("a", "b")
        assert plan.dependants["a"] == ("c",)

    def test_the_authors_order_stands_where_needs_leave_a_choice(self) -> None:
        plan = plan_of(read("d", "needs: c"), read("b"), read("c"), read("a"))
        assert [s.path for s in plan.steps] == ["b", "c", "d", "a"]

    def test_last_run_and_inputs_are_no_needs(self) -> None:
        step = plan_of(
            read("a", 'when: last.a.x != run.date and q == "1"'), head="inputs: {q: {default: x}}\n"
        ).steps[0]
        assert step.needs == ()
        assert step.uses == (("", "q"),)

    @given(st.integers(2, 8).flatmap(lambda n: st.tuples(
        st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=20)
    )))  # fmt: skip
    def test_every_need_stands_before_its_dependant_or_the_ring_is_told(self, graph: Any) -> None:
        count, edges = graph
        needs: dict[int, list[str]] = {i: [] for i in range(count)}
        for a, b in edges:
            needs[a].append(f"s{b}")
        steps = [read(f"s{i}", f"needs: [{', '.join(n)}]") for i, n in needs.items()]
        try:
            plan = plan_of(*steps)
        except RecipeInvalid as error:
            problems = error.problems
        else:
            seen: set[str] = set()
            for step in plan.steps:
                assert set(step.needs) <= seen
                seen.add(step.path)
            assert len(seen) == count
            return
        assert len(problems) == 1
        assert "ring" in problems[0].message


class TestPages:
    CLICK = "    segment: [click: .next]\n"

    def test_a_continued_step_is_not_entered_by_url(self) -> None:
        plan = plan_of(read("a"), read("b", "continues: a", segment=self.CLICK))
        step = plan.by_path["b"]
        assert (step.continues, step.needs, step.enterable) == ("a", ("a",), False)
        assert plan.by_path["a"].enterable
        assert plan.chain("b") == ("a", "b")

    def test_one_with_a_goto_of_its_own_can_be_entered_anew(self) -> None:
        assert plan_of(read("a"), read("b", "continues: a")).by_path["b"].enterable

    def test_compare_is_entered_without_a_page(self) -> None:
        plan = plan_of(read("a"), "  c:\n    do: compare\n    from: a.rows\n")
        assert plan.by_path["c"].enterable

    def test_a_page_is_not_continued_across_a_for_each(self) -> None:
        (fault,) = faults_of(
            read("a", "for_each: q", "key: item"),
            read("b", "continues: a", segment=self.CLICK),
            head="inputs: {q: {type: list, default: []}}\n",
        )
        assert "across a for_each" in fault


class TestOutputs:
    def test_a_read_gives_its_names_and_bad_rows(self) -> None:
        assert plan_of(read("a")).steps[0].outputs == ("x", "rows", "rows_bad")

    def test_compare_gives_the_fields_of_the_one_it_takes(self) -> None:
        one = "  c:\n    do: compare\n    from: a.rows\n    take: 1\n"
        assert plan_of(read("a"), one).by_path["c"].outputs == ("id", "t")
        assert faults_of(read("a"), one, read("d", "when: c.idd")) == ["step c has no output 'idd'"]

    def test_compare_gives_items_and_count_otherwise(self) -> None:
        many = "  c:\n    do: compare\n    from: a.rows\n    take: 2\n"
        assert plan_of(read("a"), many).by_path["c"].outputs == ("items", "count")

    def test_what_cannot_be_told_is_allowed(self) -> None:
        one = "  c:\n    do: compare\n    from: q\n    where: anything.goes > 1\n    take: 1\n"
        head = "inputs: {q: {type: list, default: []}}\n"
        assert plan_of(one, read("b", "when: c.whatever"), head=head).by_path["b"].needs == ("c",)

    def test_for_each_gives_items_failed_and_count(self) -> None:
        plan = plan_of(
            read("a"), read("b", "for_each: a.rows", "key: item.id"),
            "  c:\n    do: compare\n    from: b.items\n    order: -key\n",
            read("d", "for_each: b.failed", "key: item.key", "when: b.count > 0"),
        )  # fmt: skip
        assert plan.by_path["b"].outputs == ("items", "failed", "count")

    def test_items_have_the_fields_that_their_list_has(self) -> None:
        (fault,) = faults_of(read("a"), read("b", "for_each: a.rows", "key: item.idd"))
        assert fault == "the items have no field 'idd'"

    def test_an_ask_gives_its_answer(self) -> None:
        ask = "  q: {do: ask, question: How many?, type: number}\n"
        assert plan_of(ask, read("b", "when: q.answer > 2")).by_path["b"].needs == ("q",)


INNER = (
    HEAD.replace("one", "inner") + "inputs: {q: {}, n: {type: number, default: 1}}\nsteps:\n"
    + read("first", "when: q") + read("second", "needs: first")
)  # fmt: skip


class TestUse:
    def test_its_steps_are_flattened_with_their_paths(self) -> None:
        plan = plan_of("  u: {use: inner.yaml, with: {q: x}}\n", inner=INNER)
        assert [s.path for s in plan.steps] == ["u/first", "u/second"]
        assert plan.by_path["u/second"].needs == ("u/first",)
        assert plan.subplans["u"].recipe_id == "inner"
        assert plan.subplans["u"].with_ == {"q": "x"}

    def test_what_with_refers_to_is_a_need_of_the_steps_that_use_it(self) -> None:
        plan = plan_of(read("a"), '  u: {use: inner.yaml, with: {q: "{{ a.x }}"}}\n', inner=INNER)
        assert plan.by_path["u/first"].needs == ("a",)
        assert ("a", "x") in plan.by_path["u/first"].uses
        assert plan.by_path["u/second"].needs == ("u/first",)

    def test_a_need_on_it_means_all_its_steps(self) -> None:
        plan = plan_of("  u: {use: inner.yaml, with: {q: x}}\n", read("b", "needs: u"), inner=INNER)
        assert plan.by_path["b"].needs == ("u/first", "u/second")

    def test_an_alternative_means_its_last_step(self) -> None:
        plan = plan_of(
            "  u: {use: inner.yaml, with: {q: x}}\n", read("a"), read("b", "needs: {any: [u, a]}"),
            inner=INNER,
        )  # fmt: skip
        assert plan.by_path["b"].needs_any == ("u/second", "a")

    def test_its_outputs_are_named_through_it(self) -> None:
        plan = plan_of(
            "  u: {use: inner.yaml, with: {q: x}}\n", read("b", "when: u.first.x"), inner=INNER
        )
        assert plan.by_path["b"].needs == ("u/first",)
        assert plan.by_path["b"].uses == (("u/first", "x"),)
        faults = faults_of(
            "  u: {use: inner.yaml, with: {q: x}}\n", read("b", "when: u.frist.x"), inner=INNER
        )
        assert faults == ["the recipe behind u has no step 'frist'"]

    def test_its_condition_and_needs_hold_for_all_in_it(self) -> None:
        plan = plan_of(
            read("a"), read("b"),
            "  u: {use: inner.yaml, with: {q: x}, when: a.x, needs: b}\n", inner=INNER,
        )  # fmt: skip
        for path in ("u/first", "u/second"):
            assert set(plan.by_path[path].needs) >= {"a", "b"}
            assert plan.by_path[path].outer_when == (("", "a.x"),)

    def test_it_sees_nothing_of_the_outer_recipe(self) -> None:
        inner = HEAD + "steps:\n" + read("first", "when: outer_step.x")
        assert faults_of(read("outer_step"), "  u: {use: inner.yaml}\n", inner=inner) == [
            "no input or step is named 'outer_step'"
        ]

    def test_its_inputs_must_be_given_and_known(self) -> None:
        assert faults_of("  u: {use: inner.yaml, with: {qq: x}}\n", inner=INNER) == [
            "the recipe inner.yaml needs the input 'q'",
            "the recipe inner.yaml has no input 'qq'",
        ]

    def test_an_on_change_output_may_lie_inside(self) -> None:
        plan = plan_of(
            "  u: {use: inner.yaml, with: {q: x}}\n", head="on_change: u.first.x\n", inner=INNER
        )
        assert plan.on_change == ("u.first.x",)


SIGN_IN = (
    "  enter:\n    do: sign_in\n    segment: [goto: https://a.example/login, click: .go]\n" + TEXT
)


def fill(url: str, more: str = "", name: str = "f") -> str:
    """A fill step at a URL."""
    return f"  {name}:\n    do: fill\n{more}    segment: [goto: {url}, click: .x]\n{TEXT}"


AT_A, AT_B = "https://a.example/", "https://b.example/"


class TestSignIn:
    def test_a_step_with_an_effect_needs_that_of_its_origin(self) -> None:
        step = plan_of(fill(AT_A), SIGN_IN).by_path["f"]
        assert (step.sign_in, step.needs) == ("enter", ("enter",))

    def test_not_at_another_origin(self) -> None:
        assert plan_of(fill(AT_B), SIGN_IN).by_path["f"].sign_in is None

    def test_session_none_opts_out(self) -> None:
        step = plan_of(fill(AT_A, "    session: none\n"), SIGN_IN).by_path["f"]
        assert (step.sign_in, step.needs) == (None, ())

    def test_a_step_without_effect_has_it_only_by_name(self) -> None:
        plan = plan_of(SIGN_IN, read("a"), read("b", "session: enter"))
        assert plan.by_path["a"].sign_in is None
        assert plan.by_path["b"].sign_in == "enter"

    def test_a_step_before_the_sign_in_does_not_wait_for_it(self) -> None:
        consent = fill(AT_A, name="consent")
        enter = SIGN_IN.replace("do: sign_in\n", "do: sign_in\n    needs: consent\n")
        plan = plan_of(consent, enter)
        assert [s.path for s in plan.steps] == ["consent", "enter"]

    def test_one_inside_a_used_recipe_counts(self) -> None:
        inner = HEAD + "steps:\n" + SIGN_IN
        plan = plan_of("  u: {use: inner.yaml}\n", fill(AT_A), inner=inner)
        assert plan.by_path["f"].sign_in == "u/enter"

    def test_a_use_may_be_named_as_the_session(self) -> None:
        inner = HEAD + "steps:\n" + SIGN_IN
        plan = plan_of("  u: {use: inner.yaml}\n", read("b", "session: u"), inner=inner)
        assert plan.by_path["b"].sign_in == "u/enter"

    def test_the_chain_before_a_signed_in_step_is_signed_in_too(self) -> None:
        follow = "  f:\n    do: fill\n    continues: a\n    segment: [click: .x]\n" + TEXT
        plan = plan_of(SIGN_IN, read("a"), follow)
        assert plan.by_path["a"].needs == ("enter",)
        assert plan.by_path["f"].sign_in == "enter"

    def test_an_origin_that_cannot_be_told_is_asked_for(self) -> None:
        assert faults_of(SIGN_IN, fill('"{{ u }}"'), head="inputs: {u: {}}\n") == [
            "it cannot be told at which origin this step works"
        ]


def test_what_a_plan_takes_over_from_its_recipe() -> None:
    plan = plan_of(
        read("a"),
        head="errand: Read\nsites: [https://a.example/]\nmax_radius: 3\nkeep_heals: none\n"
        "budget: {seconds: 5m, pages: 9}\nallow_private: true\non_change: a.x\n",
    )
    assert plan.sites == ("https://a.example",)
    assert (plan.max_radius, plan.keep_heals, plan.allow_private) == (3, "none", True)
    assert (plan.budget.seconds, plan.budget.pages) == (300, 9)


def test_a_plan_survives_json() -> None:
    plan = plan_of("  u: {use: inner.yaml, with: {q: x}}\n", SIGN_IN, read("b"), inner=INNER)
    assert Plan.model_validate_json(plan.model_dump_json(by_alias=True)) == plan
    assert Plan.model_validate(plan.model_dump(mode="json", by_alias=True)) == plan


def test_once_is_the_default_effect_of_whatever_has_a_key() -> None:
    text = (
        "  o:\n    do: fill\n    once: x\n    segment: [goto: https://a.example/, "
        "commit: {click: .x}]\n" + TEXT
    )
    assert plan_of(text).steps[0].effect == "once"
