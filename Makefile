# Needs nothing but Python 3.11 or newer; everything else is installed into .venv.
# Paths stay relative, so that a clone may stand in a folder whose name has spaces.

PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$name" && break; done)
VENV := .venv
RUN := $(VENV)/bin/python -m
ARGS ?=
# Processes of the tests, each with servers of its own.
JOBS ?= 2

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo dev worker test lint format types unit histories sabotage crash torture bench wheel clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/dev.stamp ## Kill a worker, reset a workflow, prove that no note is lost or doubled
	$(RUN) durable_memory.cli demo $(ARGS)

dev: $(VENV)/dev.stamp ## Run Postgres, Temporal and a worker until Ctrl-C
	$(RUN) durable_memory.cli dev $(ARGS)

worker: $(VENV)/dev.stamp ## Run the worker as the environment says
	$(RUN) durable_memory.cli worker

test: lint types unit ## Run everything CI runs

lint: $(VENV)/test.stamp ## Check style and formatting
	$(RUN) ruff check
	$(RUN) ruff format --check

format: $(VENV)/test.stamp ## Mend style and formatting where that is safe
	$(RUN) ruff check --fix
	$(RUN) ruff format

types: $(VENV)/test.stamp .types/durable_memory ## Check types
	$(RUN) mypy

unit: $(VENV)/test.stamp ## Run the tests; choose with ARGS="tests/notebook -k append", JOBS=1
	$(RUN) pytest --numprocesses $(JOBS) --dist worksteal $(ARGS)

histories: $(VENV)/test.stamp ## Record the workflow histories behind the replay tests anew
	$(VENV)/bin/python scripts/record_histories.py

sabotage: $(VENV)/test.stamp ## Take safeguards out of copies, and see their tests fail
	$(VENV)/bin/python scripts/sabotage.py $(ARGS)

crash: $(VENV)/test.stamp ## Kill every store at every step of every mutation; writers in four processes
	PYTHONPATH=tests $(RUN) crash $(ARGS)
	PYTHONPATH=tests $(RUN) crash.writers

torture: $(VENV)/test.stamp ## Run 1,000 workflows with every fault at random; ARGS="--seed 1 --workflows 200"
	PYTHONPATH=tests $(RUN) torture $(ARGS)

bench: $(VENV)/test.stamp ## Measure what a model request adds to a history, in bytes
	$(VENV)/bin/python benchmarks/history_bytes.py $(ARGS)

wheel: $(VENV)/test.stamp ## Build the distribution into dist/
	$(RUN) build
	rm -rf build

clean: ## Remove the environment, caches and what was built
	rm -rf $(VENV) .types .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The packages of an extra, installed again whenever pyproject.toml changes. What setuptools warns of
# is its own; errors are shown.
$(VENV)/%.stamp: pyproject.toml | $(VENV)/bin/python
	PYTHONWARNINGS=ignore $(RUN) pip install --quiet --disable-pip-version-check --editable '.[$*]'
	touch $@

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo 'Python 3.11 or newer is needed; name it with PYTHON=...' >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo '$(PYTHON) is not Python 3.11 or newer' >&2; exit 2; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# The root is the package: type checkers see it under its name through this link.
.types/durable_memory:
	mkdir -p .types
	ln -sfn .. .types/durable_memory
