# Every task by name, for developers and for continuous integration. `make help` lists them.

CARGO ?= cargo
export CARGO

.PHONY: help setup needs test format lint doc api rust binary scalar msrv demo speed licences package publish workflows site
# The oldest supported compiler, as [workspace.package] states it.
MSRV = $(shell sed -n 's/^rust-version = "\([0-9.]*\)".*/\1/p' Cargo.toml)

.DEFAULT_GOAL := help

help: ## list the tasks
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

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
	$(MAKE) --no-print-directory needs format lint doc api rust instructions tablescheck pages python package workflows || status=$$?; \
	sh .ci/needs list; \
	exit $$status

# First, so that a machine that lacks something says so before it builds for minutes.
needs: ## check for the programs and the data that tests need
	@sh .ci/needs chromium npm valgrind data nextest || [ $$? -eq 3 ]

format: ## check the layout of the Rust sources
	$(CARGO) fmt --all --check

lint: ## run clippy with warnings as errors; names that rust-version lacks are errors too
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

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
	$(CARGO) test --release --workspace --doc --locked

# With the examples, --workspace resolves the same features as the tests do, so that `make test` builds no dependency
# twice. `cargo build --bin rpf` alone has other features and takes minutes more.
binary: ## build the command and the program whose instructions are counted, as the tests use them
	$(CARGO) build --release --workspace --locked --quiet --bin rpf --example instructions

# Folders of their own: other flags or another compiler would invalidate what target/ holds.
scalar: ## run the Rust tests without SIMD
	RUSTFLAGS="--cfg rpf_scalar" CARGO_TARGET_DIR=target/scalar $(MAKE) rust

msrv: ## run the Rust tests with the oldest supported compiler (needs rustup)
	rustup toolchain install $(MSRV) --profile minimal
	RUSTUP_TOOLCHAIN=$(MSRV) CARGO_TARGET_DIR=target/msrv $(MAKE) rust

demo: ## cluster the embedded Iris data
	$(CARGO) run --release --locked -- demo

speed: ## time growing and counting on a million rows
	$(CARGO) run --release --locked -p rpfcluster --example speed -- 1000000 100

licences: ## check the licences of all dependencies (needs cargo-deny)
	$(CARGO) deny check licenses bans sources

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
