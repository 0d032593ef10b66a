# Everything that is measured. The main Makefile includes this file. The environment is not that of the tests: peers'
# versions are pinned in requirements.txt.

BENCH_VENV := bench/.venv
BENCH_BIN := $(BENCH_VENV)/bin

.PHONY: bench choosing rates instructions

# Installed anew only when the list of peers changes.
$(BENCH_VENV)/installed: bench/requirements.txt
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_BIN)/python -m pip install --quiet -r bench/requirements.txt
	touch $@

# The package of this checkout, installed as a user does.
$(BENCH_VENV)/built: $(BENCH_VENV)/installed $(NATIVE_SOURCES) $(wildcard python/rpfcluster/*.py)
	$(BENCH_BIN)/python -m pip install --quiet --force-reinstall --no-deps .
	$(CARGO) build --release --locked -p rpfcluster-cli
	touch $@

bench: $(BENCH_VENV)/built ## rpf beside its peers: time, memory, accuracy (hours; ARGS=--quick: minutes)
	$(BENCH_BIN)/python bench/peers.py $(ARGS)

choosing: $(BENCH_VENV)/built ## the choice without labels on every data set (hours; ARGS="--sets iris --seeds 1": seconds)
	$(BENCH_BIN)/python bench/choosing.py $(ARGS)

rates: ## rates of the inner loops against the machine's own
	$(CARGO) run --release --locked -p rpfcluster --example rates

instructions: binary ## compare instructions of the hot paths with the counts kept (needs valgrind)
	@status=0; sh .ci/needs valgrind avx2 || status=$$?; \
	case $$status in 0) $(PYTHON) bench/instructions.py $(ARGS) ;; 3) ;; *) exit $$status ;; esac
