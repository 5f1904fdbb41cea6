# What is needed: Python 3.11 or later with venv, Rust, a C compiler, and the package registries.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps

# Says what the longest step does, which prints nothing itself.
BUILDING := Download what ssdlab needs, compile its core and install it: minutes the first time

# One Python for everything that is built against it, so that nothing is built twice.
export PYO3_PYTHON := $(abspath $(BIN)/python)

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name target -prune -o \
	\( -name '*.rs' -o -name '*.toml' \) -print)
PYTHON_SOURCES := pyproject.toml README.md LICENSE $(shell find python -type f \
	-not -path '*/__pycache__/*')

# What writes mutants into the sources: a crate of its own.
PLANT := tests/mutants/plant

OFFICE := examples/office.csv.xz

# What tests and lints install: these versions, these bytes (docs/project/supply-chain.md).
LOCK := requirements/dev.lock
# The lowest versions that pyproject.toml allows of what ssdlab needs, and the tests' own as above.
MINIMAL := requirements/minimal.lock
# What the documentation site is built with, beside those of the tests.
SITE := requirements/docs.lock
LOCKED := -m pip install --quiet --require-hashes --only-binary :all: --requirement
# The package alone, by the build backend that is installed in $(1): nothing else is fetched.
alone = PATH="$(abspath $(1)):$$PATH" $(1)/python -m pip install --quiet --no-deps \
	--no-build-isolation .

DEV_PROFILE := --config-settings "build-args=--profile dev"

# Lets an environment find the ledger: nothing is built or fetched.
beside = echo $(abspath reproduction) > \
	"$$($(1)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/ssdlab-reproduction.pth"

.PHONY: help install fast dev full lock audit test-minimal demo dlv pa-ssd pv-read readguard \
	readguard-full hire all-five streams excerpts buffers reproduce ldpc fit test test-rust \
	test-python test-browser test-newcomer test-wheel test-release theory validation lint format bench \
	time-first-run digests figures scale twins twins-fit fuzz faults mutants docs docs-site test-site clean

help:
	@echo "make demo      set up, run a drive on a small trace, compare four settings"
	@echo "make fast      like make install, profile-guided: faster to run, slower to build"
	@echo "make test      set up, run the tests, except those in a browser and of the wheel"
	@echo "make test-browser   the report in a real browser (Debian: apt-get install chromium)"
	@echo "make install   make .venv with the command ssdlab in it, built for speed"
	@echo "make test-wheel     the wheel in a bare environment"
	@echo "make test-release   the same of a wheel from the source distribution, built for speed"
	@echo "make lint      formatting and lints of Rust and Python"
	@echo "make lock      the versions and hashes of what tests install, renewed"
	@echo "make audit     licenses, sources and known vulnerabilities of what ssdlab is made of"
	@echo "make test-minimal  the Python tests with the oldest versions that ssdlab allows"
	@echo "make bench     the speed of the simulator, kept under benches/runs"
	@echo "make time-first-run  how long a newcomer waits, on a fresh clone (half an hour)"
	@echo "make digests   write the expected digests of small runs anew"
	@echo "make figures   whether the figures of all schemes and devices are unchanged (ten minutes)"
	@echo "make scale     the cost of a request as drives, runs and footprints grow (five minutes)"
	@echo "make theory    what is measured against theory, the long tests included (half an hour)"
	@echo "make validation  MQSim's cases, into docs/project/validation.md (a minute)"
	@echo "make dlv       the tables of docs/systems/dlv.md (half an hour)"
	@echo "make pa-ssd    the tables of docs/systems/pa-ssd.md (minutes after make reproduce)"
	@echo "make pv-read   the tables of docs/systems/pv-read.md (three quarters of an hour)"
	@echo "make readguard the tables of docs/systems/readguard.md (hours)"
	@echo "make readguard-full  the same mixes to their ends, into build/ (a working day)"
	@echo "make hire      the tables of docs/systems/hire.md (three quarters of an hour)"
	@echo "make all-five  the tables of docs/systems/all-five.md (twenty minutes)"
	@echo "make streams   the tables of docs/systems/sepbit.md (minutes); also of SSDLAB_TRACES"
	@echo "make buffers   the tables of docs/systems/buffers.md; anew from traces in SSDLAB_TRACES"
	@echo "make excerpts  the ledger's headlines on real excerpts in SSDLAB_TRACES (minutes)"
	@echo "make reproduce what the papers claim, recomputed, into docs/ledger.md (hours)"
	@echo "make ldpc      the figures of docs/concepts/ldpc.md (ten minutes)"
	@echo "make fit       the shipped coefficients of ReadGuard's predictor, docs/guides/calibrate.md"
	@echo "make twins     every twin against its targets, into docs/concepts/twins.md (ten minutes)"
	@echo "make twins-fit the fits of twins on excerpts in SSDLAB_TRACES, their shapes and tables"
	@echo "make docs      generate the pages of keys and results, and the printed texts of the others"
	@echo "make test-site the site in a real browser"
	@echo "make docs-site the documentation as a site, into build/site"
	@echo "make fuzz      fuzz the readers, the config and state files, a minute each"
	@echo "make faults    make every write, link and thread of the commands fail (two hours)"
	@echo "make mutants   mutation tests of the drive's core (hours)"

# The environment itself, made anew only if it is gone.
$(STAMPS)/venv:
	@echo "Make $(VENV), an environment of $(PYTHON)"
	@$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

# The ledger is a package beside the wheel (reproduction/), which the environment finds in the
# checkout.
$(STAMPS)/reproduction: $(STAMPS)/venv
	$(call beside,$(BIN))
	@touch $@

# The package with the command, built for speed (Cargo's release profile) whenever a source has
# changed.
$(STAMPS)/package: $(STAMPS)/venv $(RUST_SOURCES) $(PYTHON_SOURCES)
	@echo "$(BUILDING)"
	@$(BIN)/python -m pip install --quiet .
	@touch $@ $(STAMPS)/built

# The same package, sooner built and slower to run (Cargo's dev profile, which the Rust tests
# share). A build for speed does as well.
$(STAMPS)/built: $(STAMPS)/venv $(RUST_SOURCES) $(PYTHON_SOURCES)
	@echo "$(BUILDING)"
	@$(BIN)/python -m pip install --quiet $(DEV_PROFILE) .
	@rm -f $(STAMPS)/package && touch $@

# What tests and lints need besides.
$(STAMPS)/dev: $(STAMPS)/venv $(LOCK)
	$(BIN)/python $(LOCKED) $(LOCK)
	@touch $@

# The package in the dev profile, built by what the lock has.
$(STAMPS)/locked: $(RUST_SOURCES) $(PYTHON_SOURCES) | $(STAMPS)/dev
	$(call alone,$(BIN)) $(DEV_PROFILE)
	@rm -f $(STAMPS)/package && touch $@ $(STAMPS)/built

install: $(STAMPS)/package $(STAMPS)/reproduction

# The same package, faster: built once to learn from short runs what is done often, and once more
# for that (profile-guided optimization).
fast: $(STAMPS)/venv $(STAMPS)/reproduction
	rustup component add llvm-tools
	MATURIN_PGO=1 $(BIN)/python -m pip install --quiet .
	@touch $(STAMPS)/package $(STAMPS)/built

dev: $(STAMPS)/dev $(STAMPS)/locked $(STAMPS)/reproduction

# What runs for hours, or is timed: the same with a build for speed.
full: $(STAMPS)/dev $(STAMPS)/package $(STAMPS)/reproduction

# What renews and audits: apart from what it is about.
TOOLS := target/tools
$(TOOLS)/bin/uv:
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet uv pip-audit

# One process for each core; an idle process takes tests from a busy one.
PARALLEL := --numprocesses logical --dist worksteal

# The newest versions that pyproject.toml allows and, for the minimal ones, the lowest; UPGRADE=
# keeps what the files have as far as that is allowed.
UPGRADE ?= --upgrade
COMPILE = $(TOOLS)/bin/uv pip compile --quiet --universal --python-version 3.11
HASHED = $(UPGRADE) --generate-hashes --custom-compile-command "make lock" --output-file
BUILD := target/build-requires.in
LOWEST := target/lowest.in
lock: $(TOOLS)/bin/uv
	$(PYTHON) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' > $(BUILD)
	$(COMPILE) pyproject.toml $(BUILD) --extra arrow --group dev $(HASHED) $(LOCK)
	$(COMPILE) pyproject.toml $(BUILD) --extra arrow --group dev --group docs \
		--constraint $(LOCK) $(HASHED) $(SITE)
	$(COMPILE) pyproject.toml $(BUILD) --extra arrow --resolution lowest-direct --output-file $(LOWEST)
	$(COMPILE) $(LOWEST) pyproject.toml --group dev $(HASHED) $(MINIMAL)

# cargo install --locked cargo-deny. Needs the advisories of RustSec (GitHub) and of PyPI.
audit: $(TOOLS)/bin/uv
	for lock in . fuzz $(PLANT); do \
		cargo deny --locked --manifest-path $$lock/Cargo.toml --config deny.toml check || exit 1; \
	done
	for lock in $(LOCK) $(SITE); do \
		$(TOOLS)/bin/pip-audit --strict --disable-pip --require-hashes --requirement $$lock || exit 1; \
	done

# That the lower bounds in pyproject.toml are true: docs/project/supply-chain.md holds the last
# result.
test-minimal: $(STAMPS)/venv
	@mkdir -p target
	$(PYTHON) -m venv --clear target/minimal
	target/minimal/bin/python $(LOCKED) $(MINIMAL)
	$(call alone,target/minimal/bin)
	$(call beside,target/minimal/bin)
	target/minimal/bin/pytest $(PARALLEL) tests/python reproduction/tests

demo: $(STAMPS)/built $(STAMPS)/reproduction
	@echo "Run a drive on $(OFFICE)"
	$(BIN)/ssdlab run --trace $(OFFICE)
	@echo
	@echo "Compare four settings of the drive on it"
	$(BIN)/ssdlab compare --trace $(OFFICE) \
		--vary scheduler=fifo,read_first --vary suspend=none,program_erase

test: test-rust test-python

test-rust: $(STAMPS)/venv
	cargo test --quiet --workspace --locked --lib --bins --tests
	cargo test --quiet --workspace --locked --doc

# The whole range of write amplification, into the tables of docs/project/validation.md.
theory: dev
	@mkdir -p build
	cargo test --release -p ssdlab-run --test all --locked theory:: -- --include-ignored --nocapture \
		> build/theory.txt || (cat build/theory.txt; exit 1)
	PYTHONPATH=tests/validation $(BIN)/python docs/generators/validation_table.py theory \
		build/theory.txt

# The other tables of docs/project/validation.md: ssdlab beside what MQSim printed. MQSIM_TRACES=DIR
# runs the two traces that come with MQSim, too.
validation: dev
	PYTHONPATH=tests/validation $(BIN)/python docs/generators/validation_table.py mqsim

test-python: dev
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest ssdlab._native --mypy-config-file pyproject.toml
	$(BIN)/pytest $(PARALLEL)

# The tables of docs/systems/pa-ssd.md: seven schemes on eight workloads in full, twice, and what
# varies.
pa-ssd: full
	$(BIN)/python -m ssdlab_reproduction.tables.pa_ssd

# The tables of docs/systems/pv-read.md: what the paper claims, on eight workloads in full. What was
# stopped goes on.
pv-read: full
	$(BIN)/python -m ssdlab_reproduction.tables.pv_read

# The tables of docs/systems/readguard.md: what the paper claims, on five mixes; hours. What was
# stopped goes on.
readguard: full
	$(BIN)/python -m ssdlab_reproduction.tables.readguard

# The mixes to their ends, at each stage, into build/readguard-full.md; a working day.
# What was stopped goes on.
readguard-full: full
	$(BIN)/python -m ssdlab_reproduction.tables.readguard full

# docs/ledger.md: what the five papers claim, recomputed; hours. What was stopped goes on.
reproduce: full
	@mkdir -p build
	$(BIN)/ssdlab reproduce --out build/reproduction
	PYTHONPATH=benches $(BIN)/python docs/generators/reproduction.py build/reproduction/ledger.md

# The tables of docs/systems/hire.md: what the paper claims, on seventeen workloads. What was
# stopped goes on.
hire: full
	$(BIN)/python -m ssdlab_reproduction.tables.hire

# The tables of docs/systems/all-five.md: systems by themselves, and each part alone and taken out
# of all. What was stopped goes on.
all-five: full
	$(BIN)/python -m ssdlab_reproduction.tables.all_five

# The tables of docs/systems/sepbit.md: write amplification with SepBIT and without, real traces
# with SSDLAB_TRACES=DIR. What was stopped goes on.
streams: full
	$(BIN)/python -m ssdlab_reproduction.tables.streams

# The headlines of docs/ledger.md on excerpts of real traces in SSDLAB_TRACES=DIR.
excerpts: full
	$(BIN)/python -m ssdlab_reproduction.tables.excerpts

# The tables of docs/systems/buffers.md from the recorded results; SSDLAB_TRACES=DIR records them
# anew.
buffers: dev
	$(BIN)/python docs/generators/buffers_table.py

# The figures of docs/concepts/ldpc.md: what is derived, and frames of the real code at four numbers
# of levels.
ldpc: full
	$(BIN)/python docs/generators/ldpc_table.py

# The coefficients that are shipped, and what they are worth in docs/guides/calibrate.md.
fit: full
	$(BIN)/python docs/generators/fit_table.py

# The tables of docs/systems/dlv.md: eight schemes on twenty workloads, twice, and the sweeps.
dlv: full
	$(BIN)/python -m ssdlab_reproduction.tables.dlv 200000
	$(BIN)/python -m ssdlab_reproduction.tables.dlv_sweeps 50000

# The report as a browser shows it: needs Chromium, and nothing else does.
test-browser: dev
	$(BIN)/pytest tests/browser --ignore tests/browser/test_site.py

# The wheel that dev has built, in an environment that has nothing else.
test-wheel: dev
	$(BIN)/python tests/release/check.py \
		"$$(ls -t target/wheels/ssdlab-*.whl | head -n 1)" $(BIN)/ssdlab

# The same of what is released: a wheel in the release profile, built from the source distribution.
test-release: dev
	rm -rf build/release
	$(BIN)/maturin sdist --quiet --out build/release
	PATH="$(abspath $(BIN)):$$PATH" CARGO_TARGET_DIR=$(abspath target/sdist) \
		$(BIN)/python -m pip wheel \
		--quiet --no-deps --no-build-isolation --wheel-dir build/release build/release/ssdlab-*.tar.gz
	$(BIN)/python tests/release/check.py build/release/ssdlab-*.whl $(BIN)/ssdlab

# That a new policy is as little work as CONTRIBUTING.md says.
test-newcomer: dev
	PYTHON=$(abspath $(BIN)/python) tests/newcomer/check.sh

lint: $(STAMPS)/dev
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="--deny rustdoc::broken_intra_doc_links --allow rustdoc::private_intra_doc_links" \
		cargo doc --quiet --workspace --no-deps --document-private-items --locked
	cargo fmt --manifest-path $(PLANT)/Cargo.toml --check
	cargo clippy --quiet --manifest-path $(PLANT)/Cargo.toml --target-dir target/mutants/plant \
		--locked -- -D warnings
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo clippy --quiet --manifest-path fuzz/Cargo.toml --target-dir target --locked -- -D warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: $(STAMPS)/dev
	cargo fmt --all
	cargo fmt --manifest-path $(PLANT)/Cargo.toml
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench:
	cargo bench --quiet --locked --package ssdlab-run --bench speed -- --keep

# From a clone to the first table, and from an edit to a run, on a fresh clone: half an hour of a
# quiet machine.
time-first-run: dev
	$(BIN)/python benches/first_run.py
	$(BIN)/python docs/generators/figures.py

# What the results of some small runs are: changed only together with the reason.
digests:
	SSDLAB_WRITE_DIGESTS=1 cargo test --quiet --locked --package ssdlab-run --test all digests::

# That no figure of any scheme on any device has changed, names aside (ten minutes).
figures: $(STAMPS)/venv
	cargo test --quiet --locked --package ssdlab-run --test all figures:: -- --ignored

# The end of docs/project/performance.md: what a request costs as drives, runs and footprints grow.
scale: full
	PYTHONPATH=benches $(BIN)/python docs/generators/scale_table.py

# Every twin in full: docs/concepts/twins.md holds the last result.
twins:
	cargo run --release --quiet --locked --package ssdlab-workload --example twins_table -- \
		docs/concepts/twins.md

# make twins-fit SSDLAB_TRACES=DIR: what excerpts give of arrivals and of shapes, and published hit
# ratios of locality, which depends on both. Then the tables of these shapes.
FIT = cargo run --release --quiet --locked --package ssdlab-run --example twins_fit --
twins-fit:
	cargo run --release --quiet --locked --package ssdlab-workload --example twins_arrivals -- \
		crates/ssdlab-workload/src/twins/arrivals.toml
	$(FIT) shapes crates/ssdlab-workload/src/twins/fitted
	cargo run --release --quiet --locked --package ssdlab-workload --example twins_locality -- \
		crates/ssdlab-workload/src/twins/locality.toml
	$(FIT) tables docs/concepts/twins.md

docs: dev
	$(BIN)/python docs/generators/generate.py
	$(BIN)/python docs/generators/commands.py
	$(BIN)/python docs/generators/figures.py
	$(BIN)/python docs/generators/bench_table.py
	$(BIN)/python docs/generators/picture.py

# A warning, such as a link that leads nowhere, fails the build.
docs-site: dev
	$(BIN)/python $(LOCKED) $(SITE)
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -b html docs build/site
	cargo doc --quiet --workspace --no-deps --locked
	rm -rf build/site/rust && cp -r target/doc build/site/rust
	@echo "open build/site/index.html"

# The site in Chromium: its pages at two widths, its search, its Rust reference.
test-site: docs-site
	$(BIN)/pytest tests/browser/test_site.py

# cargo install cargo-fuzz, and a nightly toolchain.
FUZZ_SECONDS ?= 60
fuzz:
	for target in $$(cargo +nightly fuzz list); do \
		cargo +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; \
	done

# What commands leave behind when the system fails: the end of docs/project/robustness.md. Then
# every wrong value at every place of a result.
faults: dev
	PYTHONPATH=tests/python $(BIN)/python docs/generators/faults_table.py
	SSDLAB_EVERY_VALUE=1 $(BIN)/pytest $(PARALLEL) tests/python/test_wrong_results.py

# cargo install --locked cargo-mutants. Some hours; what is stopped goes on where it was.
# MUTANTS="--only ftl/" tries those of one folder, MUTANTS=--again what was missed, MUTANTS=--help
# says the rest.
MUTANTS ?=
mutants:
	$(PYTHON) tests/mutants/run.py $(MUTANTS)

clean:
	rm -rf $(VENV) target
