# make demo   install into .venv and run the tour        make check   format, lint, types, the package's layout
# make test   install and run all tests                  make benchmark   eigenpath beside its peers
#
# Another interpreter: make demo PYTHON=python3.12       More for the tool: make test ARGS="-k filters"

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt
# Each pytest worker keeps to one core.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

export NO_COLOR := 1

.PHONY: help demo test check format benchmark clean
.NOTPARALLEL:

help:
	@sed -n '1,4s/^# \{0,1\}//p' Makefile

demo: $(VENV)/demo.stamp
	@$(BIN)/python examples/tour.py

test: $(VENV)/dev.stamp
	@$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --color=no $(ARGS)

check: $(VENV)/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q --color=no tests/test_house.py

format: $(VENV)/dev.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

benchmark: $(VENV)/bench.stamp
	@$(BIN)/python -m benchmarks --output results $(ARGS)

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .hypothesis

# A stamp is as old as the last installation of its extra, and each of them holds what the demo needs.
$(VENV)/demo.stamp: EXTRAS :=
$(VENV)/dev.stamp: EXTRAS := [dev]
$(VENV)/bench.stamp: EXTRAS := [bench]
$(VENV)/%.stamp: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "eigenpath needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>/dev/null || echo missing)." >&2; \
	  echo "Name another one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@echo "Installing eigenpath$(EXTRAS) into $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) --editable '.$(EXTRAS)'
	@touch $@ $(VENV)/demo.stamp
