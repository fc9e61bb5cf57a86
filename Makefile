# Everything a contributor runs. Needs make, Python 3.11+ and Java 17+; a C compiler and Chromium are
# optional. docs/building.md explains how the cores are compiled.
#
# The environment in .venv imports the package from src/, as pure Python. The same package with
# compiled cores is built into build/compiled and wins when that directory is on PYTHONPATH.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
COMPILED := build/compiled

SOURCES := $(sort $(shell find src/beforehand -name __pycache__ -prune -o -type f -print))
# The names too, in a file that changes with them, to notice deleted modules.
NAMES := build/sources.txt
$(shell mkdir -p build && echo '$(SOURCES)' | cmp -s - $(NAMES) || echo '$(SOURCES)' > $(NAMES))
TYPED := $(foreach dir,src tests benchmarks examples,$(if $(wildcard $(dir)/*),$(dir))) \
	$(wildcard scripts/*.py)

# Which build the tests really import is checked by tests/conftest.py against BEFOREHAND_EXPECT.
AS_PURE := PYTHONPATH= BEFOREHAND_EXPECT=pure
AS_COMPILED := PYTHONPATH="$(CURDIR)/$(COMPILED)"

# Old versions of make would interleave the output of two targets.
TOGETHER := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

.DEFAULT_GOAL := help
.PHONY: help demo screenshots test lint types test-all test-pure test-surface test-compiled test-spark \
	slow format bench bench-prc bench-audit bench-checker bench-engines bench-diagrams \
	bench-runtime mutants compiled wheel check-java clean

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1 \2/p' $(MAKEFILE_LIST) \
		| while read -r target text; do printf '  make %-14s %s\n' "$$target" "$$text"; done

# What needs neither Java nor compiled cores runs at once; the rest is prepared meanwhile.
DEMO := $(BIN)/beforehand demo --out build/demo

demo: $(VENV)/.base ## see it work: order broken and kept, then an audit on Spark, studies and a report
	@$(BIN)/python scripts/demo.py $(MAKE) $(VENV)/.spark compiled -- $(DEMO)

screenshots: $(VENV)/.stamp compiled ## the pictures of the README, from the output of `make demo`; needs Chromium
	@$(AS_COMPILED) $(BIN)/python scripts/screenshots.py build/demo docs/images

test: check-java lint test-all ## everything that must hold on every commit

# Two at a time, with the output of each in one piece, since a process uses one core. The longest ones first:
# what is short fills the gap at the end. Only compiling comes before, since it uses all cores.
test-all: $(VENV)/.stamp compiled
	@$(MAKE) --no-print-directory --jobs=2 $(TOGETHER) test-pure test-surface test-compiled test-spark types

lint: $(VENV)/.stamp ## style and likely mistakes
	@echo "== ruff"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .

types: $(VENV)/.stamp ## mypy, strict
	@echo "== mypy"
	@$(BIN)/mypy --strict --no-error-summary $(TYPED)

# Once is enough for tests without compiled code, and for clusters of processes, which are slow.
ONLY_PURE := tests/pipeline tests/report tests/browser tests/mutants tests/test_benchmarks.py \
	tests/causality/test_against_brute_force.py tests/test_architecture.py tests/packaging \
	tests/test_check_java.py tests/cli/ui $(addprefix tests/cli/test_,$(addsuffix .py,demo diagram docs)) \
	$(addprefix tests/cli/failures/test_,$(addsuffix .py,files input machine pipeline_interrupts))
# Half of the tests of the pure sources, so that two processes share them.
SURFACE := tests/browser tests/cli tests/packaging tests/pipeline tests/report
ONLY_COMPILED := tests/cli/test_cluster.py tests/runtime/test_killed.py

test-pure: $(VENV)/.stamp ## the tests on the pure Python sources
	@echo "== tests, pure Python"
	@command -v chromium >/dev/null || \
		echo "== tests in a browser: SKIPPED, there is no chromium (Debian: apt install chromium)"
	@$(AS_PURE) $(BIN)/pytest $(ONLY_COMPILED:%=--ignore=%) $(SURFACE:%=--ignore=%)

test-surface: $(VENV)/.stamp ## the tests of commands, pages, packaging and the pipeline, also pure
	@echo "== tests, commands, pages, packaging and pipeline"
	@$(AS_PURE) $(BIN)/pytest $(ONLY_COMPILED:%=--ignore=%) $(SURFACE)

test-compiled: $(VENV)/.stamp compiled ## the tests on the compiled cores
	@if [ -e $(COMPILED)/.stamp ]; then \
		echo "== tests, compiled cores"; \
		$(AS_COMPILED) BEFOREHAND_EXPECT=compiled $(BIN)/pytest $(ONLY_PURE:%=--ignore=%); \
	else \
		echo "== tests, compiled cores: SKIPPED, they could not be built here (reason above)"; \
		$(AS_PURE) $(BIN)/pytest $(ONLY_COMPILED); \
	fi

test-spark: check-java $(VENV)/.stamp compiled ## the tests of the pipeline and its commands on Spark
	@echo "== tests, Spark pipeline"
	@$(AS_COMPILED) $(BIN)/pytest -m "spark and not slow" tests/pipeline tests/cli/failures \
		tests/cli/ui/test_examples.py

slow: $(VENV)/.stamp compiled ## the tests that take long, on the compiled cores if there are any
	@$(AS_COMPILED) $(BIN)/pytest -m slow

format: $(VENV)/.stamp ## rewrite the sources in the project's style
	@$(BIN)/ruff check --quiet --fix .
	@$(BIN)/ruff format --quiet .

# Both, even if the first misses a bar.
bench: $(VENV)/.stamp compiled ## measure the cores and the simulator
	@failed=0; for name in cores simulator; do \
		$(AS_COMPILED) $(BIN)/python benchmarks/$$name.py || failed=1; \
	done; exit $$failed

bench-prc: $(VENV)/.stamp compiled ## the evaluation of the prc paper: figure 5 and table 1 (over an hour; --quick: see the file)
	@$(AS_COMPILED) $(BIN)/python benchmarks/prc.py

bench-audit: check-java $(VENV)/.stamp compiled ## the auditor: speed, cores, growth and memory (a quarter of an hour)
	@$(AS_COMPILED) $(BIN)/python benchmarks/audit.py

bench-engines: check-java $(VENV)/.stamp compiled ## Spark and the local engine, from 1,000 to 5 million rows (twenty minutes; --quick: see the file)
	@$(AS_COMPILED) $(BIN)/python benchmarks/engines.py

bench-checker: $(VENV)/.stamp compiled ## the checker: states per second, what each reduction saves (minutes; --quick: see the file)
	@$(AS_COMPILED) $(BIN)/python benchmarks/checker.py

bench-diagrams: $(VENV)/.stamp ## diagrams in Chromium: loading, panning and selecting (a minute; --quick: see the file)
	@$(BIN)/python benchmarks/diagrams.py

bench-runtime: $(VENV)/.stamp compiled ## nodes compared with pyzmq, nats-py and bare UDP (ten minutes; --quick: see the file)
	@$(AS_COMPILED) $(BIN)/python benchmarks/runtime.py

mutants: $(VENV)/.stamp ## break the sources on purpose and see whether the tests notice
	@$(AS_PURE) $(BIN)/python -m tests.mutants --write

compiled: $(COMPILED)/.stamp ## build the compiled cores, if there is a C compiler

wheel: $(VENV)/.build ## a wheel, compiled if there is a C compiler, and an sdist, in dist/
	@$(BIN)/python scripts/build_wheel.py dist

check-java: ## check for the one prerequisite
	@scripts/check-java

clean: ## remove everything that these targets create
	@rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis src/*.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment grows as far as a target needs it: the package with reports, then compiling, Spark, and what
# only developers need. The package's __init__.py because it has the version, which is installed as metadata.
INSTALL = $(BIN)/python scripts/install.py $(VENV)

$(VENV)/.base: pyproject.toml setup.py src/beforehand/__init__.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
		"beforehand needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	@$(PYTHON) scripts/install.py $(VENV) report --editable
	@touch $@

$(VENV)/.build: $(VENV)/.base
	@$(INSTALL) build
	@touch $@

# Not at the same time as the one before: pip does not lock the environment.
$(VENV)/.spark: $(VENV)/.base | $(VENV)/.build
	@$(INSTALL) spark
	@touch $@

# Everything at once, and with the names of the parts.
$(VENV)/.stamp: $(VENV)/.base
	@$(INSTALL) dev
	@touch $(VENV)/.build $(VENV)/.spark $@

# Stays out of date while there is no compiler, so that installing one is enough.
$(COMPILED)/.stamp: $(SOURCES) $(NAMES) pyproject.toml setup.py scripts/build-compiled $(VENV)/.build
	@echo "== building the compiled cores into $(COMPILED)"
	@scripts/build-compiled $(BIN)/python $(COMPILED)
