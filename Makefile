# Two commands set everything up on a fresh machine: `make demo` runs the main job, `make test` the tests.
# Both keep their environment in .venv.

PYTHON ?= python3
# The release the trainers were tested with; override for a CUDA build: make demo TORCH=torch
TORCH ?= torch==2.13.0
# make demo DATA=FOLDER trains and evaluates on the real API-Bank files; DATA=official on fetched ones.
DATA ?= starter
SEEDS ?= 0

export OMP_WAIT_POLICY ?= passive
export TOKENIZERS_PARALLELISM ?= false

.PHONY: demo test slow lint docs fuzz clean

demo: .venv/.demo
	.venv/bin/python examples/demo.py --data "$(DATA)" --seeds $(SEEDS)

test: .venv/.test
	.venv/bin/python -m pytest --numprocesses auto --dist loadscope -m "not slow"

# What takes long: clusters that lose machines, processes that train together, runs that learn.
slow: .venv/.test
	.venv/bin/python -m pytest --numprocesses auto --dist loadscope -m slow

lint: .venv/.test
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/python docs/cards.py --check

# The documentation site, built strictly into build/site.
docs: .venv/.test
	.venv/bin/python docs/site.py

# Coverage-guided fuzzing of the dialects' parsers; make fuzz RUNS=500000 for hours of it.
RUNS ?= 20000
fuzz: .venv/.test
	.venv/bin/python -m pip install --quiet --editable ".[fuzz]"
	.venv/bin/python benchmarks/fuzz_dialects.py --runs $(RUNS)

clean:
	rm -rf .venv build dist *.egg-info runs

.venv/.torch:
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --upgrade pip
	.venv/bin/python -m pip install --quiet "$(TORCH)"
	touch $@

.venv/.demo: .venv/.torch pyproject.toml
	.venv/bin/python -m pip install --quiet --editable ".[train,viz]"
	touch $@

.venv/.test: .venv/.torch pyproject.toml
	.venv/bin/python -m pip install --quiet --editable ".[train,ray,viz,dev]"
	touch $@
