# Everything a person or a machine runs by name. `make help` lists it.

CARGO ?= cargo
# nextest kills a test that hangs; where it is not installed, cargo's own runner does.
NEXTEST := $(shell $(CARGO) nextest --version >/dev/null 2>&1 && echo yes)

.PHONY: help test format lint doc rust demo speed licences
.DEFAULT_GOAL := help

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

include python/python.mk
include bench/bench.mk
include crates/rpfcluster-report/browser/browser.mk

test: format lint doc rust instructions pages python ## every test there is

format: ## layout of the source
	$(CARGO) fmt --all --check

lint: ## clippy, warnings are errors
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

doc: ## API pages, warnings are errors
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

# The release profile: the command, the Python module and the tests are then one build, and real sizes run at speed.
rust: ## tests of the crates and of the command, and the examples in the API pages
ifeq ($(NEXTEST),yes)
	$(CARGO) nextest run --release --workspace --locked
else
	$(CARGO) test --release --workspace --lib --bins --tests --examples --locked
endif
	$(CARGO) test --release --workspace --doc --locked

demo: ## see it work on the embedded Iris data
	$(CARGO) run --release --locked -- demo

speed: ## growing and counting on a million rows
	$(CARGO) run --release --locked -p rpfcluster --example speed -- 1000000 100

licences: ## licences of everything we depend on (needs cargo-deny)
	$(CARGO) deny check licenses bans sources
