# Every task by name, for developers and for continuous integration. `make help` lists them.

CARGO ?= cargo
export CARGO

.PHONY: help setup needs test format lint doc api rust scalar databases threads outcomes arm64 sanitize binary portable msrv demo speed licences advisories coverage mutants package publish workflows site
# The oldest supported compiler, as [workspace.package] states it.
MSRV = $(shell sed -n 's/^rust-version = "\([0-9.]*\)".*/\1/p' Cargo.toml)

.DEFAULT_GOAL := help

help: ## list the tasks
	@grep -hE '^[a-z0-9]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

include python/python.mk
include bench/bench.mk
include crates/rpfcluster-report/browser/browser.mk
include fuzz/fuzz.mk

setup: ## install what the tests need beyond Rust (Debian; asks for sudo when not root)
	@sh .ci/setup

# Runs the parts one after another and lists at the end what was skipped, also after a failure.
test: ## run every test; with CI set, what cannot be tested is an error
	@sh .ci/needs clear
	@status=0; \
	$(MAKE) --no-print-directory needs format lint doc api rust instructions faultscheck tablescheck pages python package workflows || status=$$?; \
	sh .ci/needs list; \
	exit $$status

# First, so that a machine that lacks something says so before it builds for minutes.
needs: ## check for the programs and the data that tests need
	@sh .ci/needs chromium npm valgrind data nextest || [ $$? -eq 3 ]

format: ## check the layout of the Rust sources
	$(CARGO) fmt --all --check

lint: ## run clippy with warnings as errors; names that rust-version lacks are errors too
	$(CARGO) clippy --workspace --all-targets --locked --features rpfcluster-cli/sqlite -- -D warnings

doc: ## build the API pages with warnings as errors
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

api: ## compare the public API of the library with the recorded one (ARGS=--update records it)
	$(PYTHON) .ci/public_api.py $(ARGS)

# The release profile, since tests use real sizes. nextest kills a test that hangs; cargo's own runner does without.
rust: ## test the crates and the command, and the examples of the API pages
	@sh .ci/needs data || [ $$? -eq 3 ]
	if $(CARGO) nextest --version >/dev/null 2>&1; then \
		$(CARGO) nextest run --release --workspace --locked; \
	else \
		$(CARGO) test --release --workspace --lib --bins --tests --examples --locked; \
	fi
	$(MAKE) --no-print-directory scalar databases
	$(CARGO) test --release --workspace --doc --locked

# Tests that compare bits with a record, with a definition or between runs. RPF_SIMD selects the code at run time.
EQUALITY = labels definition same_bits keys degenerate kernel_pairs random_numbers fixture model_bytes spectral kmeans

scalar: ## run the tests that compare bits with the portable code instead of AVX2
	RPF_SIMD=scalar $(CARGO) test --release --workspace --locked --quiet $(EQUALITY:%=--test %)

databases: ## test the reader of SQLite, a feature that is off by default
	$(CARGO) test --release --workspace --locked --quiet --features rpfcluster-cli/sqlite --test databases --test queries

threads: ## compare 1, 2, 3 and 8 threads below and above every size threshold, or those from FROM rows (minutes)
	RPF_FROM_ROWS=$(or $(FROM),0) $(CARGO) test --release --workspace --locked --test thread_count -- --ignored --nocapture at_any_size

outcomes: ## print what becomes of 200 adversarial tables
	$(CARGO) test --release --workspace --locked --test adversarial_tables -- --nocapture | grep '^|'

# A folder of its own: another architecture. qemu-user emulates it on x86-64; a native arm64 machine runs `make rust`.
ARM64 = aarch64-unknown-linux-gnu
ARM64_TESTS = definition same_bits degenerate kernel_pairs random_numbers fixture model_bytes kmeans affinity points
arm64: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER = aarch64-linux-gnu-gcc
arm64: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER = qemu-aarch64 -L /usr/aarch64-linux-gnu
# The standard library of arm64 is rustup's, or Debian's libstd-rust-dev:arm64 where there is no rustup (sid, after
# `dpkg --add-architecture arm64`). All lines name the same packages and features, so that nothing is built twice.
arm64: CORE = -p rpfcluster -p rpfcluster-data --no-default-features --features rpfcluster/serde
arm64: export CARGO_TARGET_DIR = target/arm64
arm64: ## run the core's tests on an emulated arm64 CPU and compare its bits with those of this one (Debian)
	sh .ci/needs qemu
	! command -v rustup >/dev/null || rustup target add $(ARM64)
	$(CARGO) test --release --locked --quiet --target $(ARM64) $(CORE) --lib $(ARM64_TESTS:%=--test %) --test labels
	$(CARGO) test --release --locked --quiet --target $(ARM64) $(CORE) --test thread_count -- \
		--ignored --nocapture --exact print_hashes | grep ' f[36]' >target/arm64/hashes.txt
	$(CARGO) test --release --locked --quiet $(CORE) --test thread_count -- --ignored --nocapture --exact print_hashes | \
		grep ' f[36]' | diff - target/arm64/hashes.txt

# A folder of its own, since everything is instrumented. --target keeps the flag away from build scripts.
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
SANITIZED = definition same_bits degenerate kernel_pairs points gaps sampled arbitrary_inputs
sanitize: ## run the tests of the SIMD code under AddressSanitizer (needs a nightly compiler)
	RUSTUP_TOOLCHAIN=nightly RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=target/sanitize $(CARGO) test --release --locked \
		--quiet --target $(HOST) -p rpfcluster --lib $(SANITIZED:%=--test %)

# With the examples, --workspace resolves the same features as the tests do, so that `make test` builds no dependency
# twice. `cargo build --bin rpf` alone has other features and takes minutes more.
binary: ## build the command and the program whose instructions are counted, as the tests use them
	$(CARGO) build --release --workspace --locked --quiet --bin rpf --example instructions

# Folders of their own: other flags or another compiler would invalidate what target/ holds.
portable: ## run the Rust tests of a build without any SIMD
	RUSTFLAGS="--cfg rpf_scalar" CARGO_TARGET_DIR=target/scalar $(MAKE) rust

msrv: ## run the Rust tests with the oldest supported compiler (needs rustup)
	rustup toolchain install $(MSRV) --profile minimal
	RUSTUP_TOOLCHAIN=$(MSRV) CARGO_TARGET_DIR=target/msrv $(MAKE) rust

demo: ## cluster the embedded Iris data
	$(CARGO) run --release --locked -- demo

speed: ## time growing and counting on a million rows
	$(CARGO) run --release --locked -p rpfcluster --example speed -- 1000000 100

licences: ## check licences, sources and bans of all dependencies (needs cargo-deny)
	$(CARGO) deny --locked check licenses bans sources

advisories: ## check all dependencies for known vulnerabilities (needs cargo-deny, npm and the network)
	$(CARGO) deny --locked check advisories
	npm --prefix $(BROWSER) audit --audit-level=low

# In a folder of its own, since instrumented code would replace what target/ holds. An hour on two idle cores. llvm-cov
# and llvm-profdata have the compiler's version of LLVM (`rustc -vV`): the component llvm-tools of rustup, or Debian's
# package of that version with its programs named in LLVM_COV and LLVM_PROFDATA.
coverage: $(VENV)/built binary ## measure line coverage of the Rust and the Python tests (needs cargo-llvm-cov)
	CARGO_LLVM_COV_TARGET_DIR=$(CURDIR)/target/coverage $(CARGO) llvm-cov nextest --release --workspace --locked --summary-only
	RPF="$(abspath $(or $(CARGO_TARGET_DIR),target))/release/rpf$(EXE)" \
		$(BIN)/python -m pytest -n 2 --ignore python/tests/test_interrupt.py --cov rpfcluster --cov-branch --cov-report term-missing

# All changes are compiled into one program, so that each costs a run of the tests. Hours for all groups: ARGS names some.
mutants: ## change the code and see whether a test notices (needs cargo-mutants; ARGS="metrics": minutes)
	$(PYTHON) .ci/mutants.py $(ARGS)

# Without the build that verifies a package: it takes minutes, and `make publish` does it. rpfcluster-py is a wheel.
package: ## pack every crate for the registry into target/package
	$(CARGO) package --workspace --exclude rpfcluster-py --no-verify --allow-dirty --locked --quiet

publish: ## verify and publish every crate (the release workflow runs it)
	$(CARGO) publish --workspace --exclude rpfcluster-py --locked

workflows: $(VENV)/installed ## lint the workflows and templates in .github
	sh .ci/workflows

site: pydocs doc ## build the documentation with the Rust API pages under site/rust
	rm -rf site/rust
	cp -r $(or $(CARGO_TARGET_DIR),target)/doc site/rust
