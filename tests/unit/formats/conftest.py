"""Recipes written to disk for the tests of the formats."""

from collections.abc import Callable
from pathlib import Path

import pytest

from webagent.core.recipe import Recipe
from webagent.formats.recipe_yaml import load_recipe

Write = Callable[..., Recipe]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes files and loads the first of them."""

    def make(files: dict[str, str]) -> Recipe:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return load_recipe(tmp_path / next(iter(files)))

    return make
