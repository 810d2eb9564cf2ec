# Everything sets itself up: `make demo` and `make test` work on a fresh clone with Python 3.11 or later and pip.

export PYTHON ?= python3
# Compiled modules are kept: to compile the tests anew, assertions rewritten, takes each process a quarter of a minute.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
LANGGRAPH := .venv-langgraph
HARNESSES := .venv-harnesses
INSTALL := .ci/install $(VENV) --constraint constraints.txt
PYTEST := $(BIN)/python -m pytest --dist loadfile
# One more than cores for the quick tests, which now and then wait for a server or a deadline.
CORES := $(shell $(PYTHON) -c 'import os; print(os.cpu_count() or 1)')
# Two folders are of slow kinds as a whole: what they import is left out, too.
QUICK := --numprocesses $(shell expr $(CORES) + 1) --ignore tests/browser --ignore tests/real
# Browsers, servers and deadlines lose a race now and then on a busy machine; what is broken fails twice.
AGAIN := --reruns 1 -r R
SLOW := process or browser or ray or postgres or statistical or large or torch
FOLDERS := agents tools prompts evaluation
CODE := $(FOLDERS) factloop tests benchmarks setup.py .ci

.PHONY: demo test test-slow test-real test-all check docs dist bench schemas clean build/packages

# Two stamps: the demo needs neither torch nor the test tools.
$(VENV)/.demo: pyproject.toml constraints.txt
	$(INSTALL) --editable '.[documents,offline]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt
	$(INSTALL) --editable '.[dev]'
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo  ## Check examples/lighthouse with the offline engine; write demo-report.html
	$(BIN)/factloop check examples/lighthouse/answer.md \
	  --question "What is known about the Eddystone Lighthouse?" \
	  --docs examples/lighthouse/sources --html demo-report.html
	@echo "The same as a page: demo-report.html"

# A file's tests stay together and in order: those of the README share a folder. No test needs network, key or GPU.
test: $(VENV)/.dev  ## The quick tests, on every core
	$(PYTEST) $(QUICK) -m "not ($(SLOW) or real)"

test-slow: $(VENV)/.dev  ## The tests of the slow kinds, and properties with more examples
	HYPOTHESIS_PROFILE=full $(PYTEST) $(AGAIN) --numprocesses $(CORES) --ignore tests/real -m "($(SLOW) or hypothesis) and not real"

# Of Debian: apt-get install --no-install-recommends mediawiki php-cli php-sqlite3 php-mbstring php-xml php-intl \
#   postgresql pgbouncer nginx-light openssl curl
test-real: $(VENV)/.real $(LANGGRAPH)/.installed $(HARNESSES)/.installed  ## Against servers and in harnesses that others wrote; what is not installed is skipped, and said so
	$(BIN)/python -m pytest $(AGAIN)s -m real
	@[ ! -e $(HARNESSES)/.installed ] || \
	  $(HARNESSES)/bin/python -m pytest -W default -k harnesses tests/integrations/test_harnesses.py tests/documents/test_guides.py

$(VENV)/.real: $(VENV)/.dev
	$(INSTALL) --editable '.[real]'
	@touch $@

# LangGraph's server wants other versions of a few packages than the tests do. Where it cannot be had, its tests skip.
$(LANGGRAPH)/.installed: pyproject.toml constraints.txt
	@mkdir -p $(LANGGRAPH)
	@grep -vE '^(jsonschema_rs|protobuf|sse-starlette)==' constraints.txt > $(LANGGRAPH)/constraints.txt
	@.ci/install $(LANGGRAPH) --constraint $(LANGGRAPH)/constraints.txt --editable '.[documents,offline]' \
	  'langgraph-cli[inmem]==0.4.40' && touch $@ || echo "LangGraph's server could not be installed: its tests skip"

# Evaluation harnesses, too; their versions are those that docs/harnesses.md names.
$(HARNESSES)/.installed: pyproject.toml constraints.txt
	@mkdir -p $(HARNESSES)
	@grep -E '^(hypothesis|langchain-core|numpy|pydantic|pytest.*|spacy|thinc)==' constraints.txt > $(HARNESSES)/constraints.txt
	@.ci/install $(HARNESSES) --constraint $(HARNESSES)/constraints.txt --editable '.[documents,offline]' \
	  hypothesis pytest-asyncio pytest-socket pytest-timeout pytest-xdist 'deepeval==4.3.1' 'inspect-ai==0.3.285' \
	  'langchain-community<0.4.2' 'mlflow==3.17.2' 'pydantic-evals==2.62.0' 'ragas==0.4.3' && touch $@ || \
	  echo "The evaluation harnesses could not be installed: their tests skip"

test-all: test test-slow test-real  ## All tests

check: $(VENV)/.dev build/packages  ## Lint, format, types and the size of folders
	$(BIN)/python .ci/lines.py
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	@bash -o pipefail -c '$(BIN)/mypy | sed "s,build/packages/factloop/,,"'
	MYPYPATH=examples/support $(BIN)/mypy $(wildcard $(addprefix examples/,langgraph/*.py openai/*.py rag/*.py support/app.py))
	$(BIN)/pyright --pythonpath $(BIN)/python

# The package as a wheel has it, by links: mypy and mkdocstrings read files and do not know what is imported from where.
build/packages:
	@rm -rf $@ && mkdir -p $@/factloop
	@ln -s $(addprefix ../../../,$(wildcard factloop/*) $(FOLDERS)) $@/factloop/

bench: $(VENV)/.dev  ## Speed and cost against the simulator, accuracy on labelled data where it is found
	$(BIN)/python -m benchmarks.without_model
	$(BIN)/python -m benchmarks.large_inputs
	$(BIN)/python -m benchmarks.distractors
	$(BIN)/python -m benchmarks.trust_speed
	$(BIN)/python -m benchmarks.trust_corpus
	$(BIN)/python -m benchmarks.audit
	$(BIN)/python -m benchmarks.correction_coverage
	$(BIN)/python -m benchmarks.eval_run
	$(BIN)/python -m benchmarks.runnable
	$(BIN)/python -m benchmarks.stream_guard
	$(BIN)/python -m benchmarks.service
	$(BIN)/python -m benchmarks.experiment_errors
	$(BIN)/python -m benchmarks.safe_speed

docs: $(VENV)/.docs build/packages  ## The documents as pages, with every public name, under build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

$(VENV)/.docs: pyproject.toml constraints.txt
	$(INSTALL) --editable '.[docs]'
	@touch $@

dist: $(VENV)/.dev  ## Build sdist and wheel, and check them; run a check from the wheel in an environment of its own
	.ci/dist

schemas: $(VENV)/.dev  ## Note the versions and fields of the published records after a change to them
	$(BIN)/python -m tests.test_schemas

clean:
	rm -rf $(VENV) $(LANGGRAPH) $(HARNESSES) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache demo-report.html
