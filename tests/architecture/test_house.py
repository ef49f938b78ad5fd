"""The house's rules hold, and each rule is shown to find its breach."""

from collections.abc import Callable, Iterator

import pytest

from tests.architecture import house
from tests.architecture.house import ROOT, Module

Rule = Callable[[Module], Iterator[str]]

RULES: list[Rule] = [
    house.libraries_outside_their_place,
    house.readings_of_the_environment,
    house.worldly_calls_of_the_pure,
    house.async_in_the_pure,
    house.imports_of_the_face,
    house.vague_names,
    house.broad_excepts,
    house.unfinished_marks,
    house.ignores_without_reason,
    house.protocols_without_promises,
]

# A rule, a module that breaks it, and one nearest to it that does not.
BREACHES: list[tuple[Rule, tuple[str, str], tuple[str, str]]] = [
    (
        house.libraries_outside_their_place,
        ("runtime/runner.py", "def f():\n    from playwright.async_api import Page"),
        ("executors/browser/session.py", "from playwright.async_api import Page"),
    ),
    (
        house.libraries_outside_their_place,
        ("core/plan.py", "import ruamel.yaml"),
        ("formats/recipe_yaml.py", "import ruamel.yaml"),
    ),
    (
        house.readings_of_the_environment,
        ("wiring.py", "import os\nx = os.environ.get('A')"),
        ("settings.py", "import os\nx = os.environ.get('A')"),
    ),
    (
        house.readings_of_the_environment,
        ("stores/sql.py", "from os import getenv"),
        ("stores/sql.py", "from os import getpid"),
    ),
    (
        house.worldly_calls_of_the_pure,
        ("engine/state.py", "import datetime as d\nat = d.datetime.now()"),
        ("runtime/runner.py", "import datetime as d\nat = d.datetime.now()"),
    ),
    (
        house.worldly_calls_of_the_pure,
        ("core/recipe.py", "text = open('x')"),
        ("core/recipe.py", "opened = 1"),
    ),
    (
        house.async_in_the_pure,
        ("engine/decide.py", "async def f(): ..."),
        ("runtime/runner.py", "async def f(): ..."),
    ),
    (
        house.imports_of_the_face,
        ("cli/main.py", "from webagent import run"),
        ("cli/main.py", "from webagent import core"),
    ),
    (
        house.imports_of_the_face,
        ("cli/main.py", "from .. import run"),
        ("cli/main.py", "import re"),
    ),
    (house.vague_names, ("core/page_utils.py", ""), ("core/page.py", "")),
    (house.vague_names, ("helpers/page.py", ""), ("planners/page.py", "")),
    (house.vague_names, ("stores/sql_v2.py", ""), ("stores/sql.py", "")),
    (
        house.broad_excepts,
        ("runtime/runner.py", "try: f()\nexcept (OSError, Exception): pass"),
        ("runtime/runner.py", "try: f()\nexcept BaseException:\n    g()\n    raise"),
    ),
    (
        house.broad_excepts,
        ("stores/sql.py", "try: f()\nexcept: pass"),
        ("runtime/segment.py", "try: f()\nexcept Exception: pass"),
    ),
    (house.unfinished_marks, ("a.py", f"# {'todo'.upper()}: later"), ("a.py", "# to do: later")),
    (
        house.ignores_without_reason,
        ("a.py", "x = 1  # noqa: E501, C901"),
        ("a.py", "x = 1  # noqa: E501, C901 - one arm an event"),
    ),
    (
        house.ignores_without_reason,
        ("a.py", "x = 1  # type: ignore[no-any-return]"),
        ("a.py", "x = 1  # type: ignore[no-any-return]  # the library's stub is wrong"),
    ),
    (house.ignores_without_reason, ("a.py", "x = 1  # noqa because"), ("a.py", "x = '# noqa'")),
    (
        house.protocols_without_promises,
        ("ports.py", "class Store(Protocol):\n    '''Keeps.'''"),
        ("ports.py", "class Store(Protocol):\n    '''Keeps.\n\n    1. All or none.\n    '''"),
    ),
]


def name_of(rule: Rule) -> str:
    return rule.__name__


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_the_package_keeps_the_rule(rule: Rule):
    assert [breach for module in house.modules() for breach in rule(module)] == []


@pytest.mark.parametrize("folder", ["tests", "fixtures"])
@pytest.mark.parametrize(
    "rule", [house.unfinished_marks, house.ignores_without_reason], ids=name_of
)
def test_tests_and_fixtures_keep_the_rules_of_comments(rule: Rule, folder: str):
    assert [breach for module in house.modules(ROOT / folder) for breach in rule(module)] == []


@pytest.mark.parametrize("rule, broken, kept", BREACHES)
def test_the_rule_finds_its_breach_and_spares_its_neighbour(
    rule: Rule, broken: tuple[str, str], kept: tuple[str, str]
):
    assert len(list(rule(Module(*broken)))) == 1
    assert list(rule(Module(*kept))) == []


def test_every_rule_is_shown_to_find_its_breach():
    assert {rule for rule, _, _ in BREACHES} == set(RULES)


def test_anthropic_is_imported_in_one_module_at_most():
    importers = {
        module.name
        for module in house.modules()
        for _, name in house.imports(module)
        if name.split(".")[0] == "anthropic"
    }
    assert len(importers) <= 1
