# Two commands: `make run` and `make test`. Both first install what the lock files say, into .venv, when it changed.

PYTHON ?= python3.11
# cores that the workflow may use: a number, or all
CORES ?= all
# what to make: any targets or files of the workflow
TARGET ?= all
# further arguments of snakemake, such as --configfile mine.yaml
ARGS ?=
# further arguments of pytest, such as -k configuration
TESTS ?=
# folder of larger data for the benchmarks, see tests/benchmarks/README.md
SCALE ?=
# passages that the benchmarks of search index, one number or several
SIZES ?= 18000
# index of torch; https://download.pytorch.org/whl/cpu saves the CUDA libraries where the default index has them
TORCH_INDEX ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
SNAKEMAKE := $(BIN)/snakemake --workflow-profile workflow/profiles/default
LOCK := $(BIN)/uv pip compile --quiet --generate-hashes --no-annotate --no-header --python-version 3.11 \
	--override requirements-overrides.in

.PHONY: run report test bench-retrieval bench-runner bench-statistics inspect lint format lock clean help

help:  ## list these targets
	@sed -n 's/^\([a-z-]*\):.*##/make \1\t/p' $(MAKEFILE_LIST)

run: $(VENV)/.installed  ## install, run the workflow, write the report
	@$(SNAKEMAKE) --cores $(CORES) $(TARGET) $(ARGS)
	@test "$(TARGET)" != all || $(MAKE) --no-print-directory report

report: $(VENV)/.installed  ## write results/report.html, if a table, figure or caption is newer
	@if [ ! -f results/report.html ] || \
	  [ -n "$$(find results/tables results/figures workflow/report -newer results/report.html -print -quit)" ]; then \
	    $(SNAKEMAKE) --quiet all --report results/report.html $(ARGS); fi
	@echo "report   results/report.html"

test: $(VENV)/.installed-dev  ## install, run all tests
	@$(BIN)/python -m pytest --numprocesses 2 --dist loadfile $(TESTS)

bench-retrieval: $(VENV)/.installed-bench  ## install, measure chunking, embedding, indexing and search
	@$(BIN)/python tests/benchmarks/chunking.py $(if $(SCALE),--scale $(SCALE))
	@$(BIN)/python tests/benchmarks/embedding.py $(if $(SCALE),--scale $(SCALE))
	@$(BIN)/python tests/benchmarks/retrieval.py --sizes $(SIZES) $(if $(SCALE),--scale $(SCALE))

bench-runner: $(VENV)/.installed  ## install, measure what running questions costs beside the chat model
	@$(BIN)/python tests/benchmarks/runner.py

bench-statistics: $(VENV)/.installed  ## install, measure tests and bootstrap intervals against plain loops and scipy
	@$(BIN)/python tests/benchmarks/resampling.py

inspect: $(VENV)/.installed-inspect  ## install what the export inspect_ai needs

lint: $(VENV)/.installed-dev  ## check code and workflow
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/snakefmt --check Snakefile workflow/rules
	@$(BIN)/snakemake --lint

format: $(VENV)/.installed-dev  ## format code and workflow
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format .
	@$(BIN)/snakefmt Snakefile workflow/rules

lock: $(VENV)/.installed-dev  ## bring the locked requirements up to date with their .in files
	@$(LOCK) requirements.in --output-file requirements.txt
	@$(LOCK) requirements-dev.in --output-file requirements-dev.txt
	@$(LOCK) --no-deps requirements-bench.in --output-file requirements-bench.txt
	@$(LOCK) --no-deps requirements-inspect.in --output-file requirements-inspect.txt

clean:  ## remove all results (asks nothing)
	rm -rf results .snakemake

# torch comes first and by itself: its index is the user's choice, and so are the CUDA libraries that it brings
$(VENV)/.installed: requirements-torch.txt requirements.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is not there: install Python 3.11, or name one: make run PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV): torch, then $$(grep -c == requirements.txt) locked packages (some minutes, once)"
	@$(PIP) $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) --requirement requirements-torch.txt
	@$(PIP) --no-deps --require-hashes --requirement requirements.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.txt
	@$(PIP) --no-deps --require-hashes --requirement requirements-dev.txt
	@touch $@

$(VENV)/.installed-inspect: $(VENV)/.installed requirements-inspect.txt
	@$(PIP) --no-deps --require-hashes --requirement requirements-inspect.txt
	@touch $@

$(VENV)/.installed-bench: $(VENV)/.installed-dev requirements-bench.txt
	@$(PIP) --no-deps --require-hashes --requirement requirements-bench.txt
	@touch $@
