# Everything about the Python package. The main Makefile includes this file; on its own it works as
# `make -f python/python.mk python`.

CARGO ?= cargo
PYTHON ?= python3
# Interpreters the wheel is tried with; give several to fill the table of docs/python-figures.md.
PYTHONS ?= $(PYTHON)
VENV := .venv
BIN := $(VENV)/bin
NATIVE_SOURCES := $(shell find crates/rpfcluster crates/rpfcluster-data crates/rpfcluster-paper crates/rpfcluster-report \
	crates/rpfcluster-py \( -name '*.rs' -o -name 'Cargo.toml' -o -name 'page*.css' -o -path '*/src/page/*.js' \) \
	-not -path '*/tests/*') Cargo.toml Cargo.lock

.PHONY: python pytest pylint pydocs wheel wheelcheck pypictures pyfigures

python: pylint pytest wheelcheck pydocs ## tests of the Python package, in a virtual environment of its own

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

# The command is built before: tests hold the package against it, and each of them has a time limit.
pytest: $(VENV)/built ## behaviour, scikit-learn's checks, docstrings, examples, the command's models and labels
	$(CARGO) build --release --locked --quiet --bin rpf
	$(BIN)/python -m pytest

pylint: $(VENV)/installed ## layout, lints and types of the Python sources
	$(BIN)/ruff check python examples bench
	$(BIN)/ruff format --check python examples bench
	$(BIN)/mypy

wheel: $(VENV)/installed ## the package as a wheel in dist/, for Python 3.10 and up
	rm -rf dist
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin build --release --locked --quiet --out dist

wheelcheck: wheel ## the wheel in fresh environments: size, tag, known labels
	$(BIN)/python python/tests/check_wheel.py dist/*.whl $(PYTHONS)

# The documentation tools are not needed by the tests.
$(VENV)/documented: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

pydocs: $(VENV)/built $(VENV)/documented ## the pages of docs/ as a site in site/, warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Kept in git, since pages are read without a build; times in a picture differ from run to run.
pypictures: $(VENV)/built ## the pictures of the Python pages, drawn anew
	MPLBACKEND=agg $(BIN)/python examples/python/compare_clusterers.py docs/pictures/clusterers.png
	MPLBACKEND=agg $(BIN)/python examples/python/swiss_roll.py docs/pictures/swiss-roll.png
	MPLBACKEND=agg $(BIN)/python examples/python/pictures_of_a_fit.py docs/pictures/fit.png
	MPLBACKEND=agg $(BIN)/python examples/python/what_auto_tries.py docs/pictures/auto-tries.png

pyfigures: $(VENV)/built ## the figures of docs/python-figures.md, measured anew (give it a quiet machine)
	$(BIN)/python python/figures/sklearn_checks.py
	$(BIN)/python python/figures/overhead.py
	$(BIN)/python python/figures/import_time.py
	$(BIN)/python examples/python/svc_on_the_kernel.py
	$(BIN)/python examples/python/label_spreading_pendigits.py
