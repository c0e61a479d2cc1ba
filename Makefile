# `make demo` shows what this does, `make test` proves it. Both make the environment they need; the second time is quick.

PYTHON ?= python3
VENV ?= .venv
DEMO_VENV ?= .venv-demo
BIN := $(VENV)/bin

.PHONY: help demo test check format docs soak compat clean

help:
	@echo 'make demo    write conversations in four scripts, find and show them, move the home, find them again'
	@echo 'make test    make an environment and run every check in it (what CI runs)'
	@echo 'make check   the checks alone, in the environment that is there'
	@echo 'make format  bring the code into its form; make docs: docs/cli.md and the README's outputs'
	@echo 'make soak    the long runs at full size'
	@echo 'make compat  memory providers of other people, installed from the package index and talked to'

demo: $(DEMO_VENV)/.installed
	@$(DEMO_VENV)/bin/python examples/demo.py

test: $(VENV)/.installed
	@$(MAKE) --no-print-directory check

check:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest
	$(BIN)/python -m hermes_state.commands.reference | diff -u docs/cli.md -

format:
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs:
	$(BIN)/python -m hermes_state.commands.reference > docs/cli.md
	$(BIN)/python examples/readme.py

soak: $(VENV)/.installed
	$(BIN)/pytest -m soak

compat: $(VENV)/.installed
	$(BIN)/pytest -m compat tests/compat

clean:
	rm -rf $(VENV) $(DEMO_VENV) build dist

$(VENV)/.installed: pyproject.toml
	$(call make_environment,$(VENV),.[dev])

$(DEMO_VENV)/.installed: pyproject.toml
	$(call make_environment,$(DEMO_VENV),.)

# An editable install: the environment follows the sources, and only a change of pyproject.toml makes it anew.
define make_environment
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'hermes-state needs Python 3.11 or newer; say which one: make PYTHON=python3.12 …' >&2; exit 1; }
	@echo 'making $(1)'
	@test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
	@$(1)/bin/python -m pip install --quiet --disable-pip-version-check -e '$(2)'
	@touch $@
endef
