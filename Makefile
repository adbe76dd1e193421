VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2
PYTEST := env PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --durations 15 --durations-min 5

.PHONY: help demo test test-core test-statistics test-kernel test-processes test-packages test-service test-agents test-rest test-web soak faults bench evidence cards audit docs check format lock clean
help:  ## list what can be made
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 18

demo: $(VENV)/run.installed  ## the main job, offline: what do tools change on generated worlds?
	$(BIN)/gnomon demo

test: $(VENV)/dev.installed  ## everything, on real Redis, real processes and a real small language model
	$(MAKE) --no-print-directory --keep-going --jobs=$$(( $(WORKERS) + 1 )) $(PARTS)

# A part is one process, which reads its own tests alone: nothing is imported or made in two of them; that of the
# processes has two. More parts run at a time than there are cores, as the first two mostly wait, and those that
# only compute are nice to them. The longest come first; the check, last, fills both cores. A browser gives up a
# page where networks come and go: tests that make some run before it, in its part.
CORE_PARTS := test-statistics test-kernel
PARTS := test-service test-processes test-packages test-web test-rest test-agents $(CORE_PARTS) check
NETWORKS := tests/workers/test_machines.py
STATISTICS := tests/gnomon/statistics tests/gnomon/report
CORE := tools gnomon gnomon_conformance tests/tools tests/gnomon tests/golden

test-core: $(VENV)/dev.installed  ## the kernel alone: no packages, browsers or processes; a few minutes
	$(MAKE) --no-print-directory --keep-going --jobs=$(WORKERS) $(CORE_PARTS)

test-statistics:
	nice $(PYTEST) $(STATISTICS)

test-kernel:
	nice $(PYTEST) $(CORE) $(addprefix --ignore=,$(STATISTICS))

test-processes:
	$(PYTEST) -n 2 --dist loadfile tests/workers --ignore=$(NETWORKS)

test-service:
	$(PYTEST) workers service gnomon_lab tests/service tests/lab

test-packages:
	nice $(PYTEST) packages

test-agents:
	$(PYTEST) agents tests/agents

test-rest:
	$(PYTEST) tests $(addprefix --ignore=tests/,agents workers service lab web tools gnomon golden)

test-web:
	$(PYTEST) $(NETWORKS) tests/web

soak: $(VENV)/dev.installed  ## slow checks: faults with the clocks of production, very many orders of events and drawn examples (an hour)
	$(BIN)/pytest -m "soak or hypothesis" -s --hypothesis-profile many

faults: $(VENV)/dev.installed  ## what each fault costs: lost, doubled, seconds; a table
	$(BIN)/python -m tests.workers.fault_table

bench: $(VENV)/dev.installed  ## what a trial costs, beside a bare loop and Inspect AI; fills docs/performance.md
	$(BIN)/python -m bench.performance --write-docs docs/performance.md
	$(BIN)/python -m bench.making_questions
	$(BIN)/python -m bench.report_size --rows 1000000
	$(BIN)/python -m bench.view_times

evidence: $(VENV)/dev.installed  ## ask two real models with and without tools, and seal what came (two and a half hours; goes on where it stopped)
	$(BIN)/python -m scripts.evidence

cards: $(VENV)/dev.installed  ## ask a real model with the tools of six public servers, seal, and write docs/cards (two hours; goes on)
	$(BIN)/python -m scripts.evidence cards

audit: $(VENV)/dev.installed  ## known vulnerabilities of the locked packages (needs the network)
	scripts/audit $(VENV)

docs: $(VENV)/dev.installed  ## the parts of docs/ that are made from the modules: tools, agents, presets, benchmarks
	$(BIN)/python -m scripts.write_docs

check: $(VENV)/dev.installed  ## lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	nice $(BIN)/mypy --num-workers $(WORKERS)
	$(BIN)/lint-imports

format: $(VENV)/dev.installed  ## put the code into shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(VENV)/dev.installed  ## resolve the dependencies anew (releases younger than a week are left out)
	$(BIN)/python scripts/lock.py

clean:  ## remove the environment and all caches
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

PROJECTS := pyproject.toml $(wildcard packages/*/pyproject.toml)  # whose entry points an installation reads

$(VENV)/run.installed: requirements/run.lock scripts/install $(PROJECTS)
	scripts/install $(VENV) run
	touch $@

$(VENV)/dev.installed: requirements/dev.lock requirements/qwen-0.5b.lock scripts/install $(PROJECTS)
	scripts/install $(VENV) dev
	touch $@ $(VENV)/run.installed
