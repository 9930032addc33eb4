# Every command of the project. `make help` lists them.
# Needs only Python 3.11 or later and make; everything else goes into .venv.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# in a process of its own: a process has one Spark, and other tests have theirs
SPARK_CLUSTER := tests/unit/engine/cluster/test_cluster_spark.py
# COVERAGE=1 counts the lines that tests reach, in every process that they start; `make covered` judges them
PYTEST := $(BIN)/python $(if $(COVERAGE),-m coverage run )-m pytest
FIGURES := figures and not (browser or engines or nightly or slow or system)
# lines of the workbench, of papers and of plugins are reached by these; all others by the default tests
COUNTED := tests/unit/app tests/attacks/app tests/unit/papers tests/contract/plugins
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet

# or every process would compile all that it imports again
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-figures test-kills test-browser test-engines test-spark test-slow test-nightly test-system coverage covered mutants lint format docs bench lock wheels pythons builds installs gallery changelog clean

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.report  ## set up and take the tour: five protocols on built-in data, one report
	@$(BIN)/evenhand demo

test: $(VENV)/.test  ## set up and run the tests (under 4 minutes)
	$(PYTEST) -n auto

test-figures: $(VENV)/.test  ## large samples, attacks, properties and papers, which every change must pass as well
	$(BIN)/python -m pytest -n auto -m "$(FIGURES)" $(COUNTED:%=--ignore=%)
	$(PYTEST) -n auto -m "$(FIGURES)" $(COUNTED)

test-kills: $(VENV)/.test  ## stop a study by force at fifty moments, and resume it
	$(BIN)/python -m pytest -m nightly tests/attacks/study/test_kills.py

test-browser: $(VENV)/.browser  ## the workbench in a real browser (needs Chromium)
	$(PYTEST) -n 2 -m browser tests/browser

test-engines: $(VENV)/.engines  ## real engines on this machine: DuckDB, Ibis, Dask with workers, Spark (needs Java)
	$(PYTEST) -m "engines and not slow" --ignore=$(SPARK_CLUSTER)

test-spark: $(VENV)/.engines  ## a Spark cluster of a master and two workers on this machine (needs Java)
	$(PYTEST) -m "engines and not slow" $(SPARK_CLUSTER)

test-slow: $(VENV)/.test  ## the slow comparisons with other libraries
	$(PYTEST) -n auto -m slow

test-nightly: $(VENV)/.test  ## the nightly figures of the reliability tests
	$(PYTEST) -n auto -m nightly

test-system: $(VENV)/.test  ## the first command of a newcomer, in a fresh clone
	$(PYTEST) -m system

coverage: $(VENV)/.test  ## the tests, the figures and the browser with branch coverage, judged
	$(BIN)/python -m coverage erase
	$(MAKE) COVERAGE=1 test test-figures test-browser
	$(MAKE) covered

covered: $(VENV)/.test  ## refuse less than all of privacy and 95 % of every other package in what COVERAGE=1 counted
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

pythons:  ## run the default tests on Python 3.11, 3.12 and 3.13, those that are on this machine
	$(PYTHON) tools/try_pythons.py

builds: $(VENV)/.build  ## build the wheel and the sdist twice, in two folders, and compare them byte by byte
	$(BIN)/python tools/try_builds.py

installs: builds  ## install the wheel alone and with each extra into clean environments, and use each
	$(PYTHON) tools/try_installs.py dist/evenhand-*.whl

gallery: $(VENV)/.test  ## run the scripts of the gallery; write its pictures, notebooks and page
	$(BIN)/python tools/gallery.py

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

$(VENV)/.build: $(VENV)/bin/python
	$(PIP) 'hatchling>=1.25'
	@touch $@

$(VENV)/.%: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) --constraint constraints.txt --editable '.[$*]'
	@touch $@
