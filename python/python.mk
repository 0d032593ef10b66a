# Tasks of the Python package. The main Makefile includes this file.

PYTHON ?= python3
# Interpreters the wheel is tested with; several of them fill the table of docs/notes/2026-11-python-package.md.
PYTHONS ?= $(PYTHON)
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
EXE := $(if $(filter Windows_NT,$(OS)),.exe)
NATIVE_SOURCES := $(shell find crates \( -path '*/src/*' -o -name Cargo.toml \) -type f) Cargo.toml Cargo.lock

.PHONY: python pytest ecosystem pylint pydocs wheel sdist wheelcheck sdistcheck pypictures pyfigures

python: pylint pytest wheelcheck pydocs ## test the Python package, in a virtual environment of its own

# Installed again only when pyproject.toml changes.
$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --group test numpy scipy scikit-learn
	touch $@

# Built again only when Rust sources change; the Python half is used in place.
$(VENV)/built: $(VENV)/installed $(NATIVE_SOURCES)
	VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin develop --release --quiet --locked
	touch $@

# The command is built before: tests compare the package with it, and each test has a time limit. Tests of Ctrl-C measure
# a second, so they run alone.
pytest: $(VENV)/built binary ## test behaviour, scikit-learn's checks, docstrings, examples, models and labels of the command
	@sh .ci/needs data || [ $$? -eq 3 ]
	RPF="$(abspath $(or $(CARGO_TARGET_DIR),target))/release/rpf$(EXE)" \
		$(BIN)/python -m pytest -n 2 --dist worksteal --ignore python/tests/test_interrupt.py
	$(BIN)/python -m pytest python/tests/test_interrupt.py

# BERTopic without its dependencies: sentence-transformers would bring torch, and the tests have embeddings of their own.
# Spark needs Java 17 or later.
ecosystem: $(VENV)/built binary ## test with scanpy, BERTopic, Ray, Spark and DuckDB, which are installed for it
	$(BIN)/python -m pip install --quiet --group ecosystem
	$(BIN)/python -m pip install --quiet --no-deps 'bertopic>=0.17' pyyaml
	RPF="$(abspath $(or $(CARGO_TARGET_DIR),target))/release/rpf$(EXE)" \
		$(BIN)/python -m pytest python/tests/test_scanpy.py python/tests/test_ray.py python/tests/test_examples.py \
		-k "scanpy or bertopic or test_ray or ray_data or spark or duckdb"

pylint: $(VENV)/installed ## check layout, lints and types of the Python sources
	$(BIN)/ruff check python examples bench
	$(BIN)/ruff format --check python examples bench
	$(BIN)/mypy

wheel: $(VENV)/installed ## build the wheel into dist/, for Python 3.10 and later
	rm -f dist/*.whl
	VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin build --release --locked --quiet --out dist

sdist: $(VENV)/installed ## build the source distribution into dist/
	rm -f dist/*.tar.gz
	$(BIN)/maturin sdist --out dist

wheelcheck: wheel sdist ## check contents, size and tag; known labels from the wheel in fresh environments
	$(BIN)/python python/tests/check_wheel.py dist/*.tar.gz dist/*.whl $(PYTHONS)

# Minutes, since pip compiles the workspace again; compiled dependencies are shared through target/.
sdistcheck: sdist ## install the source distribution in fresh environments and check known labels
	CARGO_TARGET_DIR="$(CURDIR)/target" $(BIN)/python python/tests/check_wheel.py --build dist/*.tar.gz $(PYTHONS)

# The tests do not need the documentation tools.
$(VENV)/documented: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

pydocs: $(VENV)/built $(VENV)/documented ## build the pages of docs/ as a site in site/, with warnings as errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Kept in git, since pages are read without a build; times in a picture differ from run to run.
pypictures: $(VENV)/built ## draw the pictures of the Python pages again
	MPLBACKEND=agg $(BIN)/python examples/python/compare_clusterers.py docs/pictures/clusterers.png
	MPLBACKEND=agg $(BIN)/python examples/python/swiss_roll.py docs/pictures/swiss-roll.png
	MPLBACKEND=agg $(BIN)/python examples/python/pictures_of_a_fit.py docs/pictures/fit.png
	MPLBACKEND=agg $(BIN)/python examples/python/what_auto_tries.py docs/pictures/auto-tries.png

pyfigures: $(VENV)/built ## measure the figures of docs/notes/2026-11-python-package.md again (on an idle machine)
	$(BIN)/python python/figures/sklearn_checks.py
	$(BIN)/python python/figures/overhead.py
	$(BIN)/python python/figures/import_time.py
	$(BIN)/python examples/python/svc_on_the_kernel.py
	$(BIN)/python examples/python/label_spreading_pendigits.py
