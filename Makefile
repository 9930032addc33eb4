# Every command of the project. `make help` lists them.
# Needs only Python 3.11 or later and make; everything else goes into .venv.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# in a process of its own: a process has one Spark, and other tests have theirs
SPARK_CLUSTER := tests/unit/engine/cluster/test_cluster_spark.py
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet

# or every process would compile all that it imports again
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-figures test-kills test-engines test-spark test-slow test-nightly test-system coverage mutants lint format docs bench lock wheels changelog clean

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.report  ## set up and take the tour: five protocols on built-in data, one report
	@$(BIN)/evenhand demo

test: $(VENV)/.test  ## set up and run the tests (under 5 minutes)
	$(BIN)/python -m pytest -n auto

test-figures: $(VENV)/.test  ## the large samples that every change must pass as well
	$(BIN)/python -m pytest -n auto -m figures

test-kills: $(VENV)/.test  ## stop a study by force at fifty moments, and resume it
	$(BIN)/python -m pytest -m nightly tests/attacks/study/test_kills.py

test-engines: $(VENV)/.engines  ## real engines on this machine: DuckDB, Ibis, Dask with workers, Spark (needs Java)
	$(BIN)/python -m pytest -m "engines and not slow" --ignore=$(SPARK_CLUSTER)

test-spark: $(VENV)/.engines  ## a Spark cluster of a master and two workers on this machine (needs Java)
	$(BIN)/python -m pytest -m "engines and not slow" $(SPARK_CLUSTER)

test-slow: $(VENV)/.test  ## the slow comparisons with other libraries
	$(BIN)/python -m pytest -n auto -m slow

test-nightly: $(VENV)/.test  ## the nightly figures of the reliability tests
	$(BIN)/python -m pytest -n auto -m nightly

test-system: $(VENV)/.test  ## the first command of a newcomer, in a fresh clone
	$(BIN)/python -m pytest -m system

coverage: $(VENV)/.test  ## the tests and the figures with branch coverage: all of privacy, 95 % of every other package
	$(BIN)/python tools/coverage.py

mutants: $(VENV)/.test  ## break the code in 320 places, one at a time, and count what the tests notice (hours)
	$(BIN)/python tools/mutants

lint: $(VENV)/.lint  ## style, types and import layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.lint  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.docs  ## build the documentation, warnings are errors
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "Read docs/_build/html/index.html"

bench: $(VENV)/.bench  ## measure speed against peers and floors
	@for each in benchmarks/bench_*.py; do echo "== $$each"; $(BIN)/python $$each || exit 1; done

lock: $(VENV)/.lock  ## write constraints.txt anew, without index addresses
	$(BIN)/python tools/lock.py

wheels: $(VENV)/.demo  ## show that wheels exist for every supported Python
	$(BIN)/python tools/wheels.py

changelog: $(VENV)/.lint  ## show the notes of the next release
	@$(BIN)/towncrier build --draft --version next

clean:  ## remove what the commands above made
	rm -rf $(VENV) docs/_build build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage* .mutants

$(VENV)/bin/python:
	@$(PYTHON) tools/check_python.py
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.lock: $(VENV)/bin/python
	$(PIP) uv
	@touch $@

$(VENV)/.%: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) --constraint constraints.txt --editable '.[$*]'
	@touch $@
