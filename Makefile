# `make test` checks everything, from a bare checkout on; CI runs the same (.ci/run).
# Needs make and Python 3.11 or newer. The rest goes into .venv/ and build/.

PORT ?= 8787
WORKER ?= py
PYTHON := .venv/bin/python
READY := .venv/.ready
TYPES := build/typecheck/flarebed
WORKERD := build/workerd

.PHONY: test tests check format demo bench crash test-oracle clean

# Side by side, and three at a time on two cores: tests wait for processes and files part of their time.
test: $(READY) $(TYPES) $(WORKERD)/.ready
	@$(MAKE) --no-print-directory -j 2 check tests

tests:
	$(PYTHON) -m pytest -q -n 3 --dist worksteal

check: $(READY) $(TYPES)
	$(PYTHON) -m ruff check -q .
	$(PYTHON) -m ruff format -q --check .
	cd build/typecheck && MYPYPATH=. ../../$(PYTHON) -m mypy --config-file ../../pyproject.toml --cache-dir ../mypy_cache \
		--namespace-packages --explicit-package-bases --no-error-summary -p flarebed.emulator -p flarebed.bindings

format: $(READY)
	$(PYTHON) -m ruff check -q --fix .
	$(PYTHON) -m ruff format -q .

# Serves fixtures/onboarding: `make demo`, or `make demo PORT=9000`. The same in TypeScript: `make demo WORKER=ts`.
demo: $(READY) $(if $(filter ts,$(WORKER)),$(WORKERD)/.ready)
	@sh scripts/demo.sh $(PORT) $(WORKER)

# Compares with `wrangler dev`: `make bench`, or `make bench QUICK=1` for a first impression.
bench: $(READY)
	@sh bench/run.sh $(if $(QUICK),quick,full)

# Kills a Worker's process thousands of times (docs/durability.md): `make crash`, or `make crash KILLS=500`.
crash: $(WORKERD)/.ready
	@$(PYTHON) -m tests.crash --kills $(or $(KILLS),3000)

# Puts all questions about Workflows, KV, D1 and Queues to `wrangler dev` and to our engines, and has both work on one
# state folder: `make test-oracle`, or `make test-oracle RECORD=1`.
test-oracle: $(WORKERD)/.ready
	@sh scripts/oracle.sh $(if $(RECORD),--record)

clean:
	rm -rf .venv build dist *.egg-info

$(READY): pyproject.toml scripts/venv.sh
	@sh scripts/venv.sh .venv
	@touch $@

$(WORKERD)/.ready: scripts/workerd.sh scripts/node.sh $(READY)
	@sh scripts/workerd.sh $(WORKERD)
	@touch $@

# The folders install as flarebed.emulator and flarebed.bindings; mypy finds them under these names through links.
$(TYPES):
	@mkdir -p $@
	@ln -s ../../../emulator $@/emulator
	@ln -s ../../../bindings $@/bindings
