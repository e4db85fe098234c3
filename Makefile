# make quickstart   sets up .venv and runs examples/quickstart.py
# make test         sets up .venv and runs ruff, mypy and every test, the examples and documents included
# make bench        sets up .venv, other engines to compare with included, and runs the benchmarks
#
# LONG=1 runs the long versions (make test LONG=1, make bench LONG=1); JOBS=n sets how many processes test at once;
# PYTHON=... chooses the interpreter .venv is made with (3.11 or later).

PYTHON ?= $(shell python3.11 -c "" 2>/dev/null && echo python3.11 || echo python3)
JOBS ?= 2
BENCHMARKS := matching call chain engine growth many_rules startup default_mode

.PHONY: quickstart test bench

quickstart: .venv/installed-examples
	.venv/bin/python examples/quickstart.py

test: .venv/installed-test
	.venv/bin/ruff check
	.venv/bin/mypy
	.venv/bin/python -m pytest -n $(JOBS) $(if $(LONG),--long)

bench: .venv/installed-bench
	set -e; for name in $(BENCHMARKS); do .venv/bin/python benchmarks/$$name.py $(if $(LONG),--long); done

# The stamp says which extra is installed, as of which pyproject.toml.
.venv/installed-%: pyproject.toml | .venv/bin/python
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	touch $@

.venv/bin/python:
	$(PYTHON) -m venv .venv
