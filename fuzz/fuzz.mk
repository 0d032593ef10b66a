# Fuzzing; the main Makefile includes this file. Needs a nightly compiler and cargo-fuzz (`cargo install cargo-fuzz`).
# New inputs are kept in fuzz/corpus, findings in fuzz/artifacts; neither is part of the repository.

.PHONY: fuzz fuzzseeds

FUZZ_TARGETS = text json workbook npy npz mtx parquet arrow gzip labels similarity model forest graph quantized arguments config
# Seconds for each target.
SECONDS ?= 1200
# An allocation of more than this is a finding: twice what the targets allow the readers.
FUZZ_LIMITS = -malloc_limit_mb=128 -rss_limit_mb=2048 -timeout=20 -max_len=65536 -print_final_stats=1

fuzz: ## fuzz every target, or TARGET, for SECONDS (1200) each
	for target in $(or $(TARGET),$(FUZZ_TARGETS)); do \
		mkdir -p fuzz/corpus/$$target; \
		RUSTUP_TOOLCHAIN=nightly $(CARGO) fuzz run --features command $$target fuzz/corpus/$$target fuzz/seeds/$$target \
			-- $(FUZZ_LIMITS) -max_total_time=$(SECONDS) || exit 1; \
	done

fuzzseeds: ## write the seeds of the fuzz targets again (needs pyarrow, numpy and scipy)
	$(PYTHON) fuzz/seeds.py
