# One command for each thing a person wants; `make help` lists them.
# Everything runs from .venv, which is made from constraints.txt on first use.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# What pytest is given on top of pyproject.toml, e.g. make test PYTEST='-k radius'
PYTEST ?=
NAME   ?=
# How many tests at once: they mostly wait, so more than there are cores.
WORKERS ?= 3

.DEFAULT_GOAL := help
.PHONY: help demo test check bench sites venv browser clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: browser ## two local shops, one of them reorganised; one kill, one order
	$(BIN)/webagent demo

test: browser ## all tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(PYTEST)

check: browser ## format, lint, types, floors and all tests: what CI runs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(PYTEST)

bench: browser ## measure: make bench NAME=radius
	@test -n "$(NAME)" || { echo "Which bench? make bench NAME=…, one of:" \
	  $(patsubst tests/bench/%.py,%,$(filter-out %/__init__.py %/conftest.py,$(wildcard tests/bench/*.py))) >&2; exit 2; }
	@test -f "tests/bench/$(NAME).py" || { echo "There is no tests/bench/$(NAME).py." >&2; exit 2; }
	$(BIN)/python -m tests.bench.$(NAME)

sites: $(STAMP) ## install the real applications below .sites/ (django-oscar, Django admin)
	$(BIN)/python -m fixtures.real_sites install $(NAME)

venv: $(STAMP) ## the environment alone

# doctor --install is quick and silent when a browser is there.
browser: $(STAMP)
	@$(BIN)/webagent doctor --install

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "webagent needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "Name another: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "python3-venv is missing: installing it."; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv; \
	  else \
	    echo "$(PYTHON) cannot make a virtual environment: its venv module is missing." >&2; \
	    echo "On Debian and Ubuntu: sudo apt-get install python3-venv, then again: make $(MAKECMDGOALS)" >&2; exit 1; \
	  fi; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

clean: ## remove what make made (not .sites)
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find webagent tests fixtures -name __pycache__ -type d -prune -exec rm -rf {} +
