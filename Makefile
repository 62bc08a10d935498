# kasauti. `make` alone lists what there is to do.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# NeMo and torchaudio ask for other versions than the rest does, so each has an environment of its own.
MODELS := $(VENV)-models
ALIGN := $(VENV)-align
# Launcher plugins make every start of Hydra slower, so the default environment goes without them.
RESEARCH := $(VENV)-research

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

$(VENV)/.outside: $(VENV)/.dev constraints/outside.txt
	$(PIP) install --quiet --require-hashes -r constraints/outside.txt
	$(PIP) download --quiet --no-deps --no-binary :all: --dest $(VENV)/sdist jiwer==4.0.0
	@touch $@

# Pins without hashes: one version of torch has many builds, with and without a GPU, and the machine's index chooses.
$(MODELS)/.done: constraints/models.txt pyproject.toml
	@$(MAKE) --no-print-directory VENV=$(MODELS) $(MODELS)/bin/python
	$(MODELS)/bin/python -m pip --disable-pip-version-check install --quiet -c constraints/models.txt -e '.[test-models]'
	@touch $@

$(ALIGN)/.done: constraints/align.txt pyproject.toml
	@$(MAKE) --no-print-directory VENV=$(ALIGN) $(ALIGN)/bin/python
	$(ALIGN)/bin/python -m pip --disable-pip-version-check install --quiet -c constraints/align.txt -e '.[local,align,test]'
	@touch $@

$(RESEARCH)/.done: constraints/research.txt pyproject.toml
	@$(MAKE) --no-print-directory VENV=$(RESEARCH) $(RESEARCH)/bin/python
	$(RESEARCH)/bin/python -m pip --disable-pip-version-check install --quiet --require-hashes -r constraints/research.txt
	$(RESEARCH)/bin/python -m pip --disable-pip-version-check install --quiet --no-deps -e .
	@touch $@

# What tests of the base need and nothing that it must do without.
$(VENV)/.base: $(BIN)/python constraints/base.txt pyproject.toml
	$(PIP) install --quiet --require-hashes -r constraints/base.txt
	$(PIP) install --quiet --no-deps -e .
	@touch $@

setup: $(VENV)/.local ## make the environment in .venv (speech engines, recogniser, their weights)

setup-dev: $(VENV)/.dev ## the same with what development needs

setup-research: $(RESEARCH)/.done ## the environment for studies, in .venv-research (W&B, figures, notebooks, Ray, launchers)

setup-align: $(ALIGN)/.done ## the environment for word times, in .venv-align (torch, torchaudio; 8 GB)

setup-models: $(MODELS)/.done ## the environment for models of one's own machine, in .venv-models (torch, transformers, NeMo; 3 GB or more)

# --- use ----------------------------------------------------------------------------------------------------------

demo: $(VENV)/.local ## the main job: three voices, six languages, one leaderboard (about five minutes the first time)
	$(BIN)/python run.py -m system=espeak,kokoro,piper promptset.limit=4 $(ARGS)

smoke: $(VENV)/.local ## the default run: all smoke prompts with eSpeak NG
	$(BIN)/python run.py $(ARGS)

figures: $(RESEARCH)/.done ## figures of all studies in results/ as PNG and SVG, into figures/ (ARGS="STUDY --out DIR")
	$(RESEARCH)/bin/python -m kasauti figures $(ARGS)

STUDY ?= temperature_sweep

# A sweep shows its own end, also after failed jobs; one that was killed (a code above 130) can't.
sweep: $(VENV)/.local ## a study over several settings, one table at its end (STUDY=temperature_sweep ARGS='promptset.langs=[en]')
	@code=0; $(BIN)/python run.py -m +experiment=$(STUDY) $(ARGS) || code=$$?; \
	  if [ $$code -gt 130 ]; then $(BIN)/python -m kasauti aggregate --sweep latest || true; fi; exit $$code

# --- checks -------------------------------------------------------------------------------------------------------

# One process a core; tests of one file share what is slow to set up.
SPREAD := -n auto --dist loadfile

test: $(VENV)/.dev ## all tests that need nothing but the environment
	$(BIN)/python -m pytest $(SPREAD) $(ARGS)

test-base: $(VENV)/.base ## the quick ones, on the base install alone (no speech engine, no weights)
	$(BIN)/python -m pytest tests/unit tests/config $(SPREAD) $(ARGS)

test-data: $(VENV)/.dev ## published tables recomputed (KASAUTI_SHARED_DATA=folder of the IndicEmo bundle)
	$(BIN)/python -m pytest tests/data $(ARGS)

test-browser: $(VENV)/.dev ## the report page in Chromium (Debian: chromium chromium-driver fonts-noto-core)
	$(BIN)/python -m pytest tests/browser $(ARGS)

test-outside: $(VENV)/.outside ## counts and letters against sclite, ICU, Aksharamukha, jiwer's tests (Debian: sctk libicu-dev pkg-config g++)
	KASAUTI_JIWER_SDIST=$$(echo $(VENV)/sdist/jiwer-*.tar.gz) $(BIN)/python -m pytest tests/outside $(ARGS)

test-models: $(MODELS)/.done ## systems and judges that run on torch, transformers, NeMo and ONNX Runtime, on tiny random checkpoints
	$(MODELS)/bin/python -m pytest tests/models $(SPREAD) $(ARGS)

test-research: $(RESEARCH)/.done ## W&B, figures, notebooks, Ray and the launchers of sweeps (Debian: fonts-noto-core)
	$(RESEARCH)/bin/python -m pytest tests/research $(ARGS)

test-align: $(ALIGN)/.done ## word times by forced alignment with torchaudio (8 GB)
	$(ALIGN)/bin/python -m pytest tests/align $(ARGS)

lint: $(VENV)/.dev ## style, types, and nothing in the tree that must not be there
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m kasauti check

check: $(VENV)/.local ## refuse audio, weights and keys in the tree; recompute results/
	$(BIN)/python -m kasauti check

PINS := uv pip compile -q --universal --python-version 3.11 --no-emit-index-url --no-header --no-annotate
COMPILE := $(PINS) --generate-hashes --annotate

lock: ## write constraints/ anew from pyproject.toml (needs uv on the path)
	$(COMPILE) --extra local --extra dev --extra outside pyproject.toml -o constraints/outside.txt
	$(COMPILE) -c constraints/outside.txt --extra local pyproject.toml -o constraints/local.txt
	$(COMPILE) -c constraints/outside.txt --extra local --extra dev pyproject.toml -o constraints/dev.txt
	$(COMPILE) -c constraints/outside.txt --extra test pyproject.toml -o constraints/base.txt
	$(COMPILE) -c constraints/outside.txt --extra local --extra test --extra tracking --extra notebooks --extra cluster \
	  pyproject.toml -o constraints/research.txt
	$(PINS) --extra test-models pyproject.toml -o constraints/models.txt
	$(PINS) --extra local --extra align --extra test pyproject.toml -o constraints/align.txt

clean: ## remove the environment and caches; runs and the store stay
	rm -rf $(VENV) $(MODELS) $(ALIGN) $(RESEARCH) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help setup setup-dev demo smoke sweep figures test test-base test-data test-browser test-outside test-models test-align test-research setup-research setup-models setup-align lint check lock clean
