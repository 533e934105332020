# Nothing is assumed but python3 (3.11 or newer) and make: everything else goes into .venv, from the lock files.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV_READY := $(VENV)/.dev-ready
DEMO := .demo
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Without bytecode every process that a test starts would compile the whole product again.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := $(BIN)/python -m pytest
# Long runs of one test have no time limit.
LONG := $(PYTEST) --timeout 0

.PHONY: demo test check fast lint types layers supply-chain tests browser clients screenshots laws fuzz fuzz-http vault-edits soak citus growth attack bench site lock clean

demo: $(READY)  ## install, load the sample, ask it questions, show why it answers as it does
	@$(BIN)/python examples/demo.py --store $(DEMO)/harbor.db

test: check supply-chain site tests  ## everything that must hold

check: lint types layers  ## style, types, layers: seconds, once mypy has its cache

fast: $(DEV_READY)  ## the tests that matter while editing: none that is slow, in a browser or over the evaluation data
	RECALLENS_EXAMPLES=10 $(PYTEST) -n 2 --dist worksteal -m "not slow and not browser and not data" --ignore tests/browser --ignore tests/http/test_http_fuzz.py

lint: $(DEV_READY)
	$(BIN)/ruff check src tests bench examples
	$(BIN)/ruff format --check src tests bench examples

types: $(DEV_READY)
	$(BIN)/mypy

layers: $(DEV_READY)
	$(BIN)/lint-imports

supply-chain: $(DEV_READY)  ## bandit, advisories on the locked packages, a bill of materials in build/
	$(BIN)/python .ci/supply_chain.py

tests: $(DEV_READY)
	-@.ci/browser
	-@.ci/clients
	$(PYTEST) -n 2 --dist worksteal

browser:  ## Debian's Chromium for the tests of the page; does nothing where one is there
	@.ci/browser

clients:  ## Claude Code, Codex, Gemini CLI, the MCP inspector and conformance suite by npm, for tests/clients
	@.ci/clients

screenshots: $(DEV_READY) browser  ## docs/images anew, from the sample
	$(BIN)/python examples/screenshots.py

laws: $(DEV_READY)  ## the property tests with twenty times the examples of `make test`
	RECALLENS_EXAMPLES=1000 $(LONG) -n 2 $$(grep -rl "^from hypothesis import" tests --include "test_*.py")

fuzz: $(DEV_READY)  ## 100,000 arbitrary queries; `make test` runs a short version
	RECALLENS_FUZZ=100000 $(LONG) tests/faults/test_fuzz_queries.py

fuzz-http: $(DEV_READY)  ## Schemathesis with all its phases and 100 examples a route; `make test` runs a short version
	RECALLENS_FUZZ_HTTP=100 $(LONG) tests/http/test_http_fuzz.py

vault-edits: $(DEV_READY)  ## 500 random edits of a vault, then compared with a fresh index; `make test` runs 60
	RECALLENS_VAULT_EDITS=500 $(LONG) tests/engine/test_vault_equal.py

# How long the two that take their time run, in seconds: eight servers at once, and a steady load.
SOAK ?= 600
STEADY ?= 3600
soak: $(DEV_READY)  ## faults at length: kills, crashes, power cuts, full disks, flipped bytes, servers at once, a steady hour
	RECALLENS_KILLS=3072 $(LONG) -s tests/faults/test_kill.py
	RECALLENS_CRASHES=0 $(LONG) -n 2 tests/faults/test_disk.py
	RECALLENS_FLIPS=1000 $(LONG) -s tests/faults/test_flipped_bytes.py tests/faults/test_flipped_rows.py
	RECALLENS_SOAK=$(SOAK) $(LONG) -s tests/faults/test_mcp_soak.py tests/faults/test_processes.py
	RECALLENS_STEADY=$(STEADY) $(LONG) -s tests/faults/test_steady.py

	RECALLENS_SERVERS=60 RECALLENS_QUESTIONS=500 $(LONG) -s tests/faults/test_servers.py tests/faults/test_replica.py "tests/conformance/test_equal_recalls.py::test_recalls_are_equal"

citus: $(DEV_READY)  ## a real Citus cluster, by hand: make citus PG=postgresql://postgres@coordinator/EMPTY-DATABASE
	RECALLENS_CITUS=$(PG) RECALLENS_QUESTIONS=500 $(LONG) -s tests/conformance/test_cluster.py tests/conformance/test_store_contract.py tests/conformance/test_nouns_contract.py \
	  tests/conformance/test_every_method.py "tests/conformance/test_equal_recalls.py::test_recalls_are_equal"

growth: $(READY)  ## what everything costs at 10,000 to 1,000,000 memories, in one run
	$(BIN)/python bench/growth.py

attack: $(DEV_READY)  ## every attack at full length: 10,000 fuzzed calls as each caller and 10,000 in three stores, 15,000 honest texts
	RECALLENS_FUZZ_TOKENS=10000 RECALLENS_NONINTERFERENCE=10000 RECALLENS_HONEST=1500 RECALLENS_FUZZ_HTTP=100 $(LONG) -s tests/attacks tests/http/test_http_fuzz.py

bench: $(READY)  ## speed at 10,000 and 100,000 memories, in one run; then beside three peers at 5,000
	$(BIN)/python bench/search.py
	$(BIN)/python bench/peers.py --folder bench/cache/peers --again --sizes 5000 --sets --peers recallens lancedb tantivy bm25s

# An environment of its own: nothing that the site needs is needed by anything else.
MKDOCS := $(VENV)/docs/bin/mkdocs
export RECALLENS_MKDOCS := $(abspath $(MKDOCS))
export NO_MKDOCS_2_WARNING := 1
site: $(MKDOCS)  ## the documentation as pages in build/site; a warning fails it
	$(MKDOCS) build --quiet --strict

$(MKDOCS): requirements/docs.txt
	@$(PYTHON) -m venv $(VENV)/docs
	@$(VENV)/docs/bin/pip install --quiet --require-hashes -r requirements/docs.txt
	@touch $@

lock: $(DEV_READY)  ## make the lock files anew
	$(BIN)/pip install --quiet pip-tools
	$(BIN)/pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --strip-extras \
	  --extra fast --extra mcp --extra postgres --extra serve --extra watch --upgrade -o requirements/run.txt pyproject.toml
	cd requirements && ../$(BIN)/pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --strip-extras --allow-unsafe --upgrade -o dev.txt dev.in
	cd requirements && ../$(BIN)/pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --strip-extras --allow-unsafe --upgrade -o docs.txt docs.in

$(READY): requirements/run.txt requirements/build.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) …"
	@$(BIN)/pip install --quiet --require-hashes -r requirements/run.txt
	@$(BIN)/pip install --quiet --require-hashes -r requirements/build.txt
	@$(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(DEV_READY): $(READY) requirements/dev.txt
	@$(BIN)/pip install --quiet --require-hashes -r requirements/dev.txt
	@touch $@

clean:
	rm -rf $(VENV) $(DEMO) .mypy_cache .ruff_cache .pytest_cache .hypothesis
