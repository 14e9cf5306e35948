# The two commands of the README. Both set up everything they need in .venv.
PYTHON ?= python3.11
BIN := .venv/bin

# Where Python is told to keep no compiled modules, each of the processes that tests start would
# compile all of them again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test tests lint docs attack bench-guard test-package test-oldest clean

demo: .venv/demo.stamp
	$(BIN)/halfseen demo --force

# At once, as types are checked by one core only.
test: .venv/test.stamp
	$(MAKE) --jobs=2 lint tests

# One thread each: two workers with two BLAS threads each would fight over two cores. A worker has its
# own half of the tests, as long as there are any, and what several tests of a file need is made once.
tests: .venv/test.stamp
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

lint: .venv/test.stamp
	$(BIN)/ruff check src tests benchmarks docs
	$(BIN)/ruff format --check src tests benchmarks docs
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, in docs/_build/html. Examples that have not changed are not run again.
docs: .venv/docs.stamp
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/sphinx-build -W --keep-going -n -q docs docs/_build/html
	@echo "Site: docs/_build/html/index.html"

# Hours on two cores; ATTACK="files --number 5000" for some of it.
attack: .venv/test.stamp
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.attack --jobs 2 $(ATTACK)

# Fails where a fit takes 25 % longer than is kept; GUARD=--keep keeps what it takes today.
bench-guard: .venv/test.stamp
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.bench.guard $(GUARD)

# The wheel, made from the sdist, in new environments: alone, and with each extra alone. Some minutes,
# most of them to install; needs an index. PACKAGE="excel dask" for some.
test-package: .venv/test.stamp
	$(BIN)/python -m tests.installed $(PACKAGE)

# The tests with the oldest libraries that pyproject.toml allows; OLDEST=tests/io for some.
test-oldest: .venv-oldest/stamp
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv-oldest/bin/python -m pytest -n 2 --dist worksteal $(OLDEST)

.venv-oldest/stamp: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-oldest.txt \
		-e '.[dask,plots,formats]' hatchling hypothesis openpyxl pandas polars pytest pytest-xdist ruff websockets
	touch $@

.venv/bin/python:
	$(PYTHON) -m venv .venv

# Pip compiles modules of libraries with one core, which takes half a minute; this uses all. What is
# no Python of this version among them is left as it is.
define install
$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt -e '$(1)'
-$(BIN)/python -m compileall -qq -j 0 .venv/lib
endef

.venv/demo.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(call install,.)
	touch $@

# What the tests need includes what the demo needs, so this stamps both.
.venv/test.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(call install,.[dev])
	touch .venv/demo.stamp $@

.venv/docs.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	touch .venv/demo.stamp $@

clean:
	rm -rf docs/_build docs/api docs/api.md docs/gallery docs/project
	rm -rf .venv .venv-oldest .pytest_cache .mypy_cache .ruff_cache .hypothesis
