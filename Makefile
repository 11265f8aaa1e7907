# What people and CI type. Nothing has to be prepared but git, Python >= 3.11 and (for up and test) Go >= 1.26.

SHELL := /bin/bash
STACK ?= local
PYTHON ?= python3
BIN := .venv/bin
UV_VERSION := 0.13.9

# The stamp's name holds a checksum of what is installed: other requirements, another installation.
REQUIREMENTS := requirements.txt requirements-dev.txt components/pyproject.toml
STAMP := .venv/.installed-$(shell cat $(REQUIREMENTS) | cksum | cut -d ' ' -f 1)

export PYTHONPATH := $(CURDIR):$(CURDIR)/components
export PYTHONUNBUFFERED := 1
# Compiled once, not at every start: the provider SDKs have thousands of files.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help venv tools up status down plan simulate check lint test test-nightly test-nvidia-charts bench
.DEFAULT_GOAL := help

help:
	@echo 'make up | status | down        the local stack: simulated Azure and GPUs, a real engine, API server and scheduler'
	@echo 'make plan STACK=dev            what a stack comes to; needs no Azure, no cluster, no Pulumi CLI'
	@echo 'make simulate STACK=dev WORKLOAD=jobs.yaml   where the real scheduler would put a workload, and why not'
	@echo 'make check                     the findings of every stack file; with STACK=... of one'
	@echo 'make test                      everything but the nightly tests'
	@echo 'make test-nightly              the long ones'
	@echo 'make test-nvidia-charts        the charts of NVIDIA, in the folder AKS_DRA_NVIDIA_CHARTS, beside the stand-ins'
	@echo 'make bench                     times of the matching, and of its CEL engine beside cel-python'
	@echo 'make venv | tools | lint       the parts of it'

venv: $(STAMP)

$(STAMP): $(REQUIREMENTS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	    f"Python 3.11 or newer is needed, {sys.executable} is {sys.version.split()[0]}; set PYTHON=python3.12 or the like")'
	@echo 'installing the pinned requirements into .venv …'
	@$(PYTHON) -m venv .venv || { echo 'python3 -m venv failed: install the venv module (Debian: python3-venv)' >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(BIN)/uv pip install --quiet --python $(BIN)/python -r requirements.txt -r requirements-dev.txt
	@rm -f .venv/.installed-*
	@touch $@

tools: venv
	@$(BIN)/python -m local.tools.build

up status down: venv
	@$(BIN)/python -m local.up $@ --stack $(STACK)

plan: venv
	@$(BIN)/aks-dra plan stacks/Pulumi.$(STACK).yaml

simulate: venv
	@$(if $(WORKLOAD),,echo 'set WORKLOAD to one or more files with Kubernetes manifests' >&2; exit 2;) true
	@$(BIN)/python -m local.tools.build kubernetes > /dev/null
	@$(BIN)/python -m local.simulate stacks/Pulumi.$(STACK).yaml $(WORKLOAD)

check: venv
	@status=0; for file in $(if $(filter command line environment,$(origin STACK)),stacks/Pulumi.$(STACK).yaml,stacks/Pulumi.*.yaml); do \
	    $(BIN)/aks-dra check $$file || status=$$?; done; exit $$status

lint: venv
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

# Two processes; tests/conftest.py says what runs in one of them, and in which order.
IN_PARALLEL := --numprocesses 2

# pytest comes last, so that its own summary is the last thing printed.
test: venv lint tools
	@$(BIN)/python -m pytest $(IN_PARALLEL)

test-nightly: venv tools
	@$(BIN)/python -m pytest -m nightly

test-nvidia-charts: venv tools
	@test -d "$(AKS_DRA_NVIDIA_CHARTS)" || \
	    { echo 'set AKS_DRA_NVIDIA_CHARTS to a folder with gpu-operator.tgz, dra-driver-nvidia-gpu.tgz and nvidia-device-plugin.tgz' >&2; exit 2; }
	@AKS_DRA_NVIDIA_CHARTS="$(abspath $(AKS_DRA_NVIDIA_CHARTS))" $(BIN)/python -m pytest -m 'not nightly' \
	    tests/nvidia_charts tests/end_to_end/test_scheduling.py tests/end_to_end/test_again.py tests/end_to_end/test_wiring.py

# What is measured against stays out of .venv.
BENCH := .local/bench
BENCH_STAMP := $(BENCH)/.installed-$(shell cat benchmarks/requirements.txt | cksum | cut -d ' ' -f 1)

$(BENCH_STAMP): benchmarks/requirements.txt | venv
	@$(PYTHON) -m venv $(BENCH)
	@$(BIN)/uv pip install --quiet --python $(BENCH)/bin/python -r benchmarks/requirements.txt
	@touch $@

bench: venv $(BENCH_STAMP)
	@$(BIN)/python benchmarks/matching.py --other $(BENCH)/bin/python
