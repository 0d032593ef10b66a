# Everything about the Python package. The main Makefile includes this file; on its own it works as
# `make -f python/python.mk python`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE_SOURCES := $(shell find crates/rpfcluster crates/rpfcluster-data crates/rpfcluster-report crates/rpfcluster-py \
	\( -name '*.rs' -o -name 'Cargo.toml' -o -name 'page*.css' -o -path '*/src/page/*.js' \) -not -path '*/tests/*') Cargo.toml Cargo.lock

.PHONY: python pytest pylint pydocs wheel

python: pylint pytest ## tests of the Python package, in a virtual environment of its own

# Installed anew only when pyproject.toml changes.
$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --group test numpy scipy scikit-learn
	touch $@

# Built anew only when Rust sources change; the Python half is used in place.
$(VENV)/built: $(VENV)/installed $(NATIVE_SOURCES)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --quiet --locked
	touch $@

pytest: $(VENV)/built ## behaviour, scikit-learn's checks, docstrings, examples
	$(BIN)/python -m pytest

pylint: $(VENV)/installed ## layout, lints and types of the Python sources
	$(BIN)/ruff check python examples
	$(BIN)/ruff format --check python examples
	$(BIN)/mypy

wheel: $(VENV)/installed ## the package as a wheel in dist/, for Python 3.10 and up
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin build --release --locked --out dist

# The documentation tools are not needed by the tests.
$(VENV)/documented: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

pydocs: $(VENV)/built $(VENV)/documented ## the pages of docs/ as a site in site/, warnings are errors
	mkdir -p docs/images
	MPLBACKEND=agg $(BIN)/python examples/python/compare_clusterers.py docs/images/clusterers.png
	MPLBACKEND=agg $(BIN)/python examples/python/swiss_roll.py docs/images/swiss_roll.png
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
