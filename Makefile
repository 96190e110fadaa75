# `make demo` shows what sqljury does; `make test` runs all checks but those of training, which need torch: a build with
# CUDA has gigabytes. `make test-all` installs the extra `train` and runs them too, as CI does. All need Python 3.11-3.13
# only.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Further options of pip install.
INSTALL ?=
EXTRAS := dev,openai,anthropic,gemini,pandas,sandbox,duckdb,embed,postgres,mysql,mcp,chat,serve,notebook,docs,cluster,traces

# The version that the tests of training ran with. Which build of it comes is pip's to say (PIP_INDEX_URL and the like).
TORCH ?= torch==2.13.0

.PHONY: demo test test-all lint types weights training pytest docs format clean

# Tests that run a model use all cores, and are many times slower beside others: so they come first, one after another.
# Of the others the longest files begin first (tests/conftest.py), not those of the most tests.
marked = $(sort $(shell grep -rl 'mark\.$(1)\b' tests --include='test_*.py'))
RUN_TESTS = $(BIN)/python -m pytest -m "weights and not train" $(call marked,weights) && \
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not (weights or train)"

demo: $(VENV)/.core
	$(BIN)/sqljury models pull
	$(BIN)/python examples/shop/build.py
	$(BIN)/python examples/demo.py

# Weights wait for the network; lint, types and training each use a processor: side by side, they take as long as the
# longest.
test: $(VENV)/.dev
	$(MAKE) -j 4 lint types training
	$(RUN_TESTS)

test-all: $(VENV)/.train
	$(MAKE) test

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

weights: $(VENV)/.dev
	$(BIN)/sqljury models pull
	$(BIN)/sqljury models pull smollm2-135m
	$(BIN)/sqljury models pull gemma-3-270m

# What these tests train is so small that more threads would mostly wait for each other.
training: weights
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m train $(call marked,train)

pytest: training
	$(RUN_TESTS)

# The documentation as a site in build/site; a link that leads nowhere is an error.
docs: $(VENV)/.dev
	$(BIN)/mkdocs build --strict

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build .mypy_cache .pytest_cache .ruff_cache .hypothesis examples/shop/shop.db

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
		|| { echo 'sqljury needs Python 3.11 to 3.13; name one with: make PYTHON=python3.12 ...' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) \
		|| { rm -rf $(VENV); echo 'no virtual environment could be made; on Debian and Ubuntu run: apt install python3-venv' >&2; exit 1; }

$(VENV)/.core: pyproject.toml | $(BIN)/python
	$(PIP) install $(INSTALL) -e .
	touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(PIP) install $(INSTALL) -e '.[$(EXTRAS)]'
	touch $@ $(VENV)/.core

# All at once: what fits together is found once. A test reads our adapters with peft.
$(VENV)/.train: pyproject.toml | $(BIN)/python
	$(PIP) install $(INSTALL) -e '.[train,$(EXTRAS)]' '$(TORCH)' 'peft>=0.21'
	touch $@ $(VENV)/.dev $(VENV)/.core
