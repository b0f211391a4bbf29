# make indexes   environment, manuals, chunks, indexes: everything, from a fresh clone
# make test      the tests
#
# make indexes MANUALS=DIR PRESET=tam|sections ENCODER=NAME WINDOWS=on|off
# make lint | bench | ablation STUDY=studies/NAME.toml | clean

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
OUT ?= indexes
STUDY ?= studies/paper.toml
# Two workers and whole files each: session fixtures are built once a worker, and two cores are common.
WORKERS ?= 2
PIP_INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --config-settings editable_mode=compat

.PHONY: help indexes test lint bench ablation clean

help:
	@sed -n 's/^# \{0,1\}//p' Makefile | sed -n '1,5p'

# A Python that runs: a version manager's stand-in for a version that is not installed does not.
$(BIN)/python:
	@found=; \
	for python in $(PYTHON) python3 python3.13 python3.12 python3.11 python3.14 python; do \
	  if "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	  then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "make: no Python 3.11 or newer (with venv) found; install one or give PYTHON=/path/to/python3" >&2; \
	  exit 1; \
	fi; \
	echo "environment: $(VENV), of $$("$$found" --version)"; \
	"$$found" -m venv $(VENV)

# Stamps: the environment is made anew only when what it is made of changes.
$(VENV)/.runtime: $(BIN)/python pyproject.toml constraints.txt
	@echo "environment: installing what tam needs (a few minutes on the first run)"
	@$(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	@echo "environment: installing what tam and its tests need (a few minutes on the first run)"
	@$(PIP_INSTALL) --editable '.[eval,llm,mcp,static,dev]'
	@touch $@ $(VENV)/.runtime

indexes: $(VENV)/.runtime
	@$(BIN)/tam build --out $(OUT) \
	  $(if $(MANUALS),--manuals '$(MANUALS)') $(if $(PRESET),--preset '$(PRESET)') \
	  $(if $(ENCODER),--encoder '$(ENCODER)') $(if $(WINDOWS),--windows '$(WINDOWS)')

test: $(VENV)/.dev
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

lint: $(VENV)/.dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

bench: $(VENV)/.dev
	@$(BIN)/python -m benchmarks.bench $(if $(MANUALS),--manuals '$(MANUALS)')

ablation: $(VENV)/.dev
	@$(BIN)/tam ablate '$(STUDY)'

# Manuals that were fetched, and runs that cost money, are not thrown away unasked.
clean:
	@rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@if [ -d '$(OUT)' ]; then find '$(OUT)' -mindepth 1 ! -path '$(OUT)/README.md' -delete; fi
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
	@if [ -d manuals/data ]; then \
	  answer=n; \
	  if [ -t 0 ]; then read -r -p "Remove the fetched manuals in manuals/data too? [y/N] " answer; fi; \
	  if [ "$$answer" = y ] || [ "$$answer" = Y ]; then rm -rf manuals/data; \
	  else echo "kept: manuals/data"; fi; \
	fi
