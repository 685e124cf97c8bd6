# Two commands do everything, set-up included:  make demo   make test
.DEFAULT_GOAL := help
.PHONY: help setup packages isl venv configure build demo test test-long fuzz separate wheel bench gpu-bundle lint format sanitize asan tsan clean

PYTHON := .venv/bin/python
JOBS := $(shell nproc)

help:            ## list the commands
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## ?/  make \1\t/' | expand -t 16

# isl is compiled while Python packages are fetched and unpacked.
setup: packages  ## install what is missing (Debian packages, isl, .venv); does nothing the second time
	@$(MAKE) --no-print-directory -j 2 isl venv

packages:
	@third_party/install.sh debian

isl: packages
	@third_party/isl.sh

venv: packages
	@third_party/install.sh python

# CONFIGURE holds more options of CMake for a first build, -DTC_WARNINGS_AS_ERRORS=ON for example.
configure: setup
	@test -f build/build.ninja || cmake --preset release $(CONFIGURE)

build: configure ## compile the library, the extension, examples and tests into build/
	@cmake --build build -j $(JOBS)
	@$(PYTHON) third_party/link_package.py

demo: configure  ## run the quick start: five tensor programs on torch tensors; builds what it needs
	@cmake --build build -j $(JOBS) --target _core
	@$(PYTHON) third_party/link_package.py
	@$(PYTHON) examples/01_quick_start.py

# Tests marked `alone` measure time, or count on cores that others do not take.
test: build      ## run all tests: GoogleTest, file tests, pytest
	@ctest --test-dir build --output-on-failure -j $(JOBS)
	@$(PYTHON) -m pytest test/python -q -n $(JOBS) --dist loadfile --max-worker-restart=0 -m "not alone and not long"
	@$(PYTHON) -m pytest test/python -q -m "alone and not long"

test-long: build ## more of the random tests, from a seed that is printed; SEED=... repeats one
	@test/fuzz/long.sh build $(SEED)

fuzz: build      ## random programs of all kinds with new seeds in each round, without end or for MINUTES=...; finds go to build/fuzz/finds
	@test/fuzz/long.sh build "$(SEED)" $(or $(MINUTES),0)

separate: setup  ## compile each source for itself, warnings as errors: an include that only a neighbour has is missed
	@cmake --preset dev
	@cmake --build build-dev -j $(JOBS) --target all benchmarks

wheel: configure ## put a wheel with all libraries inside into dist/; PYTHONS="python3.12 ..." makes theirs beside it
	@$(PYTHON) packaging/make_wheel.py build dist $(PYTHONS)

bench: build     ## measure, beside torch and this machine's own peak; ARGS="--quick" and others pass through
	@cmake --build build -j $(JOBS) --target benchmarks
	@$(PYTHON) benchmarks/bench.py $(ARGS)

gpu-bundle: build ## pack what benchmarks/gpu.sh needs on a machine with a GPU into build/gpu_bundle.tar
	@cmake --build build -j $(JOBS) --target benchmarks
	@$(PYTHON) benchmarks/gpu_suite/make_bundle.py

lint: venv       ## check the sources: contracts, lengths, includes, tests of passes, layout, prose of the pages, types of the Python package
	@$(PYTHON) tools/lint/lint.py --format
	@$(PYTHON) -m mypy

format: venv     ## lay out all sources by .clang-format
	@git ls-files '*.h' '*.cpp' | xargs .venv/bin/clang-format -i

# What CI runs of the tests under sanitizers: the floors that compile in a few minutes. They need no Python package.
SANITIZED := base_test lang_test options_test cache_test
sanitize: isl    ## build and run the tests of the lower floors under the sanitizers
	@cmake --preset asan -DTC_UNITY=ON
	@cmake --build build-asan -j $(JOBS) --target $(SANITIZED)
	@printf '%s\n' $(SANITIZED) | xargs -P $(JOBS) -I TEST sh -c 'build-asan/bin/TEST --gtest_brief=1'

asan: setup      ## build and run the C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@cmake --preset asan
	@cmake --build build-asan -j $(JOBS)
	@ctest --test-dir build-asan --output-on-failure -j $(JOBS)

# Tests of what threads share. LLVM, Halide and libstdc++ are not instrumented: what only they see is left out.
TSAN_TESTS := Supervise*:ExecutableCache*:WorkspacePool*:Compile.Threads*:-*IsLeftBehind:*LeftBehind
tsan: setup      ## build and run the concurrent C++ tests under ThreadSanitizer
	@cmake --preset tsan
	@cmake --build build-tsan -j $(JOBS) --target engine_test cache_test cpu_test
	@export TSAN_OPTIONS="halt_on_error=1 report_mutex_bugs=0 suppressions=$(CURDIR)/test/support/tsan.supp"; \
	  build-tsan/bin/engine_test --gtest_filter='$(TSAN_TESTS)' && build-tsan/bin/cache_test && \
	  build-tsan/bin/cpu_test --gtest_filter='*ThreadPool*:*TeamTest*:OpenMp*:WorkerTeam*'

clean:           ## remove the builds; .venv stays
	@rm -rf build build-asan build-dev build-tsan
