# Every target sets up what it needs: a fresh clone needs only Rust, Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= results
MARKS := $(abspath target/marks.tsv)
ARGS ?=

RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml -o -path 'crates/kernel/objects/*.o') Cargo.toml Cargo.lock

.PHONY: setup reproduce test test-rust test-captures test-python lint format bench bench-parts simulators instructions instructions-record fuzz fuzz-coverage \
	api docs drill-kernel kernel-objects kernel-cost differential docs-images algorithm-figures screenshots validation studies mcubic forensics live-studies fidelity fidelity-windows conformance attacks \
	explore deny live-attacks soak cores field solo standards scenario-docs settings manuals wheels guided clean-install crates platforms clean

# What is built is the package with its native module, in a virtual environment of its own.
setup: $(VENV)/.built

$(VENV)/.created: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip "maturin>=1.9.4,<2"
	touch $@

$(VENV)/.built: $(VENV)/.created pyproject.toml $(RUST_SOURCES)
	@command -v cargo >/dev/null || { echo "cargo is needed: https://rustup.rs" >&2; exit 1; }
	PIP_QUIET=1 VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --quiet --extras test,docs
	touch $@

reproduce: setup
	$(BIN)/anabranch reproduce --out $(OUT) $(ARGS)

test: test-rust test-python

test-rust:
	mkdir -p target && rm -f $(MARKS)
	ANABRANCH_MARKS=$(MARKS) cargo test --workspace --quiet

# Those that read captures with tshark, alone: which of the others need it, they say.
test-captures:
	cargo test --workspace --quiet --test all -- tshark:: capture::

test-python: setup
	$(BIN)/python -m pytest -n auto --dist loadgroup --no-loadscope-reorder $(ARGS)

lint: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	cargo clippy --manifest-path bench/parts/Cargo.toml --target-dir target --all-targets --quiet -- -D warnings
	$(BIN)/ruff format --check python tests examples packaging bench/simulators
	$(BIN)/ruff check python tests examples packaging bench/simulators
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest anabranch._core

format:
	cargo fmt --all
	$(BIN)/ruff format python tests examples packaging bench/simulators

bench: setup
	$(BIN)/anabranch bench --json $(OUT)/bench.json $(ARGS)

# Times of single operations; a name as ARGS selects some.
bench-parts:
	cargo bench --manifest-path bench/parts/Cargo.toml -- $(ARGS)

# ns-2 and ns-3 beside ours, and their section of docs/performance.md; needs Debian's packages ns2, libns3-dev, g++,
# pkg-config and valgrind (those that are missing are named), and takes an hour. ARGS can be --rounds N or --parts time.
simulators: setup
	cargo build --release --quiet -p anabranch-scenario --example bench
	$(BIN)/python bench/simulators/run.py --json $(abspath $(OUT))/simulators.json --page docs/performance.md $(ARGS)

# Instructions a packet-hop beside those on record, and the record anew; they need valgrind.
instructions:
	cargo build --release --quiet -p anabranch-scenario --example bench
	$(PYTHON) tests/instructions.py check target/release/examples/bench
instructions-record:
	cargo build --release --quiet -p anabranch-scenario --example bench
	$(PYTHON) tests/instructions.py write target/release/examples/bench

# Each target of fuzz/ for a minute; needs a nightly toolchain and cargo-fuzz.
fuzz:
	@test -d fuzz || { echo "there are no fuzz targets in fuzz/" >&2; exit 1; }
	for target in $$(cargo +nightly fuzz list); do \
		cargo +nightly fuzz run $$target -- -max_total_time=60 || exit 1; done

# What each target reaches of the code that it is about, as a table; needs rustup's llvm-tools.
fuzz-coverage:
	fuzz/coverage.sh

# Licences, sources and, where a database can be had, advisories of the dependencies; needs cargo-deny.
deny:
	for workspace in . fuzz bench/parts bench/tcp-peers; do \
		cargo deny --manifest-path $$workspace/Cargo.toml --config deny.toml check licenses bans sources || exit 1; \
	done
	cargo deny check advisories || echo "advisories were not checked: there is no database" >&2

# SOAK_RUNS random scenarios from number SOAK_SEED on, and FUZZ_RUNS inputs of every fuzz target:
# what docs/reliability-soak.md reports. What fails is in $(OUT)/soak, made small.
SOAK_RUNS ?= 1000000
SOAK_SEED ?= 1
FUZZ_RUNS ?= 100000000
soak:
	SOAK_RUNS=$(SOAK_RUNS) SOAK_SEED=$(SOAK_SEED) SOAK_OUT=$(OUT)/soak \
		cargo run --profile soak --quiet -p anabranch-soak
	FUZZ_RUNS=$(FUZZ_RUNS) cargo test --manifest-path fuzz/Cargo.toml --no-default-features \
		--release --quiet -- --nocapture
	cargo test --release --quiet -p anabranch-scenario --test all solo:: -- --ignored

# The page of formulas and what was measured beside them.
validation: test-rust setup
	$(BIN)/anabranch reproduce response-functions --out $(OUT)
	$(BIN)/python tests/validation_page.py $(MARKS) $(OUT) docs/validation.md

# The tables of what standards ask, as pages; TEXTS, a folder with texts of RFCs, shows what lacks a row.
TEXTS ?=
standards: setup
	$(BIN)/python tests/standards.py pages
	$(if $(TEXTS),$(BIN)/python tests/standards.py sentences $(TEXTS))

# The tables of docs/scenario.md, from the declarations of the fields.
scenario-docs: setup
	$(BIN)/python tests/scenario_page.py docs/scenario.md

# The types of the tables of scenarios, for editors, from the declarations that the core reads.
settings: setup
	$(BIN)/python tests/settings_page.py python/anabranch/settings.py

# The manual pages and shell completions that the wheel installs, from the command line.
manuals: setup
	$(BIN)/python tests/manuals.py packaging/data/data/share

# Wheels for Linux and the source distribution, in target/wheels: of the targets that rustup has installed, or of those
# that ARGS names. Zig, which links them, comes from PyPI.
wheels: setup
	$(BIN)/python -m pip install --quiet "ziglang>=0.13"
	$(BIN)/python packaging/wheels.py $(ARGS)

# The package in .venv anew, compiled by a profile of the workloads: some 15 % fewer instructions (docs/performance.md).
# Takes two builds of it; needs llvm-profdata (packaging/guided.py).
guided: setup
	RUSTFLAGS="-Cprofile-use=$$($(BIN)/python packaging/guided.py)" && export RUSTFLAGS && \
	PIP_QUIET=1 VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --quiet \
		--target $$(rustc -vV | sed -n 's/^host: //p')

# What `make setup` compiled as a wheel, in a new environment without Rust: it does what the tutorial shows.
clean-install: setup
	$(BIN)/python tests/clean_install.py $(ARGS)

# Packs every crate that is published, and compiles each from its archive, in order of dependency; needs cargo 1.90.
# With ARGS=--no-verify nothing is compiled.
crates:
	cargo publish --workspace --dry-run --locked --quiet $(ARGS)

# Whether the simulator compiles for other systems, of whose targets rustup must have the standard library.
PLATFORMS ?= aarch64-apple-darwin x86_64-pc-windows-msvc aarch64-unknown-linux-gnu
platforms:
	for target in $(PLATFORMS); do \
		cargo clippy --quiet -p anabranch-python --target $$target -- -D warnings || exit 1; done

# The page of all claims with their verdicts.
studies: setup
	$(BIN)/anabranch reproduce --full --out $(OUT) $(ARGS)
	$(BIN)/python tests/studies_page.py $(OUT) docs/studies.md

# The tables of the page of MCubic; the prose around them is written by hand.
mcubic: setup
	$(BIN)/anabranch reproduce mcubic --full --out $(OUT)
	$(BIN)/python tests/mcubic_page.py $(OUT) docs/mcubic.md

# The settings under which published tables come out nearest; some ten minutes.
forensics: setup
	$(BIN)/python -m anabranch.studies.mcubic.forensics $(OUT)
	$(BIN)/python -m anabranch.studies.fast_tcp.forensics $(OUT)
	$(BIN)/python tests/forensics_page.py $(OUT) docs/forensics.md

# The same on real packets: needs Linux, root and libusrsctp-dev, and takes half an hour.
live-studies: setup
	$(BIN)/anabranch reproduce --live --out $(OUT) $(ARGS)
	$(BIN)/python tests/live_page.py $(OUT) docs/live-verdicts.md

# The window algorithms for the running kernel, from crates/kernel/bpf: needs clang-16 and llvm-strip-16 of Debian's packages
# clang-16 and llvm-16. They are committed; a test looks whether they are those of their source.
KERNEL_OBJECTS ?= crates/kernel/objects
kernel-objects:
	for source in crates/kernel/bpf/*.bpf.c; do \
		object=$(abspath $(KERNEL_OBJECTS))/$$(basename $$source .bpf.c).o; \
		(cd crates/kernel/bpf && clang-16 -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror \
			-fdebug-compilation-dir=. -c $$(basename $$source) -o $$object) || exit 1; \
		llvm-strip-16 -g $$object || exit 1; done

# CPU seconds per GB of the kernel's own windows and of ours over a veth pair: needs Linux and root, and takes three minutes.
kernel-cost: setup
	$(BIN)/python bench/kernel_cost.py $(ARGS)

# The project's own packetdrill scripts against the running kernel, in real time: needs Linux, root and
# an idle machine.
drill-kernel:
	cargo test -p anabranch-drill --test own_scripts -- --ignored

# COUNT random sessions of TCP from number FIRST on, against our stack and the running kernel: needs Linux and
# root, and takes a minute for 500.
FIRST ?= 1
COUNT ?= 1000
differential:
	cargo run --profile test --quiet -p anabranch-drill --example differential -- $(FIRST) $(COUNT)

# Our models of window algorithms beside the kernel's own: needs Linux and root, and takes ten minutes.
# RUN says on the page where and when that was.
RUN ?=
fidelity: setup
	for sweep in fidelity fidelity-bbr; do \
		$(BIN)/anabranch compare examples/sweeps/$$sweep.toml --out $(OUT)/$$sweep || exit 1; done
	$(BIN)/python tests/fidelity_page.py docs/fidelity.md "$(RUN)" $(OUT)/fidelity $(OUT)/fidelity-bbr

# The last section of the same page: our windows in the kernel beside virtual time. Needs Linux and root, and takes a quarter of an hour.
fidelity-windows: setup
	for sweep in windows paths shares; do \
		$(BIN)/anabranch compare examples/sweeps/fidelity-$$sweep.toml --out $(OUT)/fidelity-kernel/$$sweep || exit 1; done
	$(BIN)/python tests/fidelity_windows_page.py docs/fidelity.md "$(RUN)" $(OUT)/fidelity-kernel
	$(BIN)/python tests/judged_page.py docs

# One run on two cores beside one: rows of a table of docs/performance.md. ROUNDS=N.
cores: setup
	$(BIN)/python bench/cores.py $(ROUNDS)

# What public packetdrill scripts say of our stacks, of this kernel and of usrsctp, as root and with libusrsctp-dev:
# SUITES names indices of them with `:` between, see crates/packetdrill/src/suites.rs.
conformance:
	@test -n "$(SUITES)" || { echo "SUITES=INDEX, SUITES=FOLDER or several with : is needed" >&2; exit 2; }
	cargo run --release --quiet -p anabranch-drill --example conformance -- $(SUITES) \
		> docs/conformance.md

# Every window algorithm through the checks of `anabranch evaluate`, and its page; a quarter of an hour of one processor. ARGS can be
# --jobs N or an algorithm of your own.
field: setup
	$(BIN)/anabranch evaluate --all --out $(OUT)/field $(ARGS)
	$(BIN)/python tests/field_page.py $(OUT)/field docs/field.md

# What each window algorithm moves of idle links.
solo: setup
	cargo run --release --quiet -p anabranch-scenario --example solo > docs/algorithms/solo.md
	$(BIN)/python tests/judged_page.py docs
	cargo run --release --quiet -p anabranch-scenario --example solo -- --sctp > docs/algorithms/solo-sctp.md

# What attacks leave of honest flows, each by itself and beside none.
attacks:
	cargo run --release --quiet -p anabranch-scenario --example attacks -- examples/attacks \
		> docs/reliability-attacks.md

# Every loss, copy and timer order of short transfers: docs/exploration.md. ARGS narrow it down.
explore:
	cargo run --release --quiet -p anabranch-explore --example explore -- --states 10000000 $(ARGS)

# The same on real packets, at our stack and at the kernel's: needs Linux, root and Python, and takes eight minutes.
live-attacks: attacks
	cargo run --release --quiet -p anabranch-scenario --example attacks_live -- tests/data \
		>> docs/reliability-attacks.md

# The pictures of the overview, from the study's figures.
docs-images: reproduce
	cp $(OUT)/sack-recovery/fig6.png docs/images/sack-recovery-cwnd.png
	cp $(OUT)/sack-recovery/fig7e.png docs/images/sack-recovery-progress.png

# The pages of the published crates alone, in target/doc: rustdoc's search finds what else was ever documented there.
UNPUBLISHED := $(shell grep -hm1 '^name' $$(grep -l '^publish = false' crates/*/Cargo.toml examples/*/Cargo.toml) | cut -d'"' -f2)
api:
	rm -rf $(or $(CARGO_TARGET_DIR),target)/doc
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace $(UNPUBLISHED:%=--exclude %) --no-deps --quiet

# target/site has everything, the pages of the crates in its folder api. Broken links are errors.
docs: setup api
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The figure of its source for every window algorithm, with its caption in the page of each; NAMES has some alone.
NAMES ?=
algorithm-figures: setup
	$(BIN)/python tests/figures_page.py docs $(NAMES)
	$(BIN)/python tests/judged_page.py docs

# The pictures of the report; needs Chromium.
screenshots: setup
	$(BIN)/python tests/screenshots.py docs/images

clean:
	rm -rf $(VENV) target $(OUT)
