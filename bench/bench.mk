# Benchmarks; the main Makefile includes this file. They run in an environment of their own, in which requirements.txt
# pins the versions of the peers.

BENCH_VENV := bench/.venv
BENCH_BIN := $(BENCH_VENV)/bin

.PHONY: bench choosing verdict families scale sampling ondask confidence leiden field fieldpicture components rivals reproduction rates instructions tables tablescheck shapespicture faults faultscheck

# Reinstalled only when the list of peers changes.
$(BENCH_VENV)/installed: bench/requirements.txt
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_BIN)/python -m pip install --quiet -r bench/requirements.txt
	touch $@

# The package of this checkout, installed as a user would.
$(BENCH_VENV)/built: $(BENCH_VENV)/installed $(NATIVE_SOURCES) $(wildcard python/rpfcluster/*.py)
	$(BENCH_BIN)/python -m pip install --quiet --force-reinstall --no-deps .
	$(MAKE) --no-print-directory binary
	touch $@

bench: $(BENCH_VENV)/built ## rpf against its peers: time, memory, accuracy (hours; ARGS=--quick: minutes)
	$(BENCH_BIN)/python bench/peers.py $(ARGS)

field: $(BENCH_VENV)/built ## rpf beside EVoC, UMAP, HDBSCAN, Leiden and others on high-dimensional sets (hours; ARGS="--sets usps --seeds 1": minutes)
	$(BENCH_BIN)/python bench/field.py $(ARGS)

fieldpicture: $(BENCH_VENV)/built ## draw the picture of `make field` from the stored results
	$(BENCH_BIN)/python bench/field.py --table --picture docs/pictures/field.png

components: $(BENCH_VENV)/built ## principal components against the columns, on every set of more than 50 columns
	$(BENCH_BIN)/python bench/components.py $(ARGS)

choosing: $(BENCH_VENV)/built ## quality of the label-free choice on every data set (hours; ARGS="--sets iris --seeds 1": seconds)
	$(BENCH_BIN)/python bench/choosing.py $(ARGS)

verdict: $(BENCH_VENV)/built ## calibration of the verdict and of -k auto (an hour; ARGS="--families mixtures": minutes)
	$(BENCH_BIN)/python bench/verdict.py $(ARGS)

families: $(BENCH_VENV)/built ## the choice of a setting against fixed settings, on design and check sets (half an hour)
	$(BENCH_BIN)/python bench/families.py $(ARGS)

scale: $(BENCH_VENV)/built ## raw, standardised and robust columns, and rules that choose without labels (ten minutes)
	$(BENCH_BIN)/python bench/scale.py $(ARGS)

sampling: $(BENCH_VENV)/built ## what samples of trees and of fits cost and save (hours; ARGS="--sets pendigits": minutes)
	$(BENCH_BIN)/python bench/sampling.py $(ARGS)

ondask: $(BENCH_VENV)/built ## 20,000,000 rows on two Dask workers (ten minutes; ARGS="--methods all sample dask --rows 1000000": the crossing)
	$(BENCH_BIN)/python bench/on_dask.py $(ARGS)

confidence: $(BENCH_VENV)/built ## calibration of the confidence of a row (ten minutes)
	$(BENCH_BIN)/python bench/confidence.py $(ARGS)

leiden: $(BENCH_VENV)/built ## communities against leidenalg (ARGS=graphs), by classes (labels), against eigenvectors (time)
	$(BENCH_BIN)/python -m pip install --quiet leidenalg==0.12.0 igraph==1.0.0
	$(BENCH_BIN)/python bench/leiden.py $(ARGS)

rivals: ## K-means and NJW beside R's kmeans and kernlab's specc (needs r-base-core, r-cran-kernlab; twenty minutes)
	$(PYTHON) bench/r_rivals.py $(ARGS)

reproduction: binary ## the experiments of the paper, page and results kept (half an hour; ARGS=--quick: ten minutes)
	$(PYTHON) bench/reproduction.py $(ARGS)

rates: ## speed of the inner loops against the limits of the machine
	$(CARGO) run --release --locked -p rpfcluster --example rates

instructions: binary ## compare instructions of the hot paths with the counts kept (needs valgrind)
	@status=0; sh .ci/needs valgrind avx2 || status=$$?; \
	case $$status in 0) $(PYTHON) bench/instructions.py $(ARGS) ;; 3) ;; *) exit $$status ;; esac

tables: ## write the tables of the pages from bench/results
	$(PYTHON) bench/tables.py $(ARGS)

tablescheck: ## check that the tables of the pages agree with bench/results
	$(PYTHON) bench/tables.py --check

shapespicture: $(BENCH_VENV)/built ## draw the picture of the README
	$(BENCH_BIN)/python bench/shapes_picture.py docs/pictures/shapes.png

# Reads RPF_DATA or ../shared/data for `rpf reproduce`.
faults: binary ## Ctrl-C and kill -9 at random moments of every stage, many processes at once (20 minutes)
	$(PYTHON) bench/faults.py $(ARGS)

faultscheck: binary ## a short version of `make faults`
	$(PYTHON) bench/faults.py --short
