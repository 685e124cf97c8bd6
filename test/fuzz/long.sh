#!/usr/bin/env bash
# More of the random tests than `make test` runs, from a seed that is another one each time and is printed.
#   long.sh BUILD [SEED]
set -euo pipefail
build=$1
seed=${2:-$(date +%s)}
cd "$(dirname "$0")/../.."

echo "random tests from seed $seed: make test-long SEED=$seed repeats them"
export TC_FUZZ_SEED=$seed TC_GRADIENT_FIRST=$seed TC_LAYOUT_FIRST=$seed TC_DERIVE_FIRST=$seed
run() {
  echo "== $1 $2"
  "$build/bin/$1_test" --gtest_brief=1 --gtest_filter="$2"
}

TC_RANDOM_SCOPS=400 run polyhedral 'RandomScops.*'
TC_RANDOM_SCOPS=400 run strategy '*RandomMappings*:MappingStates.*'
TC_GRADIENT_SEEDS=400 run autodiff 'RandomGradients.*'
TC_LAYOUT_SEEDS=600 run layout 'RandomLayouts.*'
TC_DERIVE_SEEDS=120 run derive 'RandomDerivations.*'
TC_FUZZ_COUNT=7000 run engine 'MutatedTexts.*'
TC_FUZZ_COUNT=2000 run engine 'Calls.Random*'
TC_LAYOUT_GRAPHS=40 run engine 'GraphLayouts.Random*'
TC_FUZZ_COUNT=3000 run fuzz '*'
TC_FUZZ_COUNT=120 run random_limits '*'
TC_FUZZ_COUNT=500 run emulated_fuzz '*/0'
TC_ALL_RUNS=1 run programs '*'
TC_ALL_RUNS=1 run cuda 'KernelOfProgram.*'
TC_ALL_INSTRUCTIONS=1 run engine '*SpecialValues*'
TC_ALL_RUNS=1 run emulated_programs 'EmulatedPrograms.*:EmulatedImages.*:*UnitPrograms*:UnitNests*'
TC_MATH_ROUNDS=8 run cpu 'Errors.*'
TC_FUZZ_SECONDS=300 run entry_points '*'
TC_CACHE_KILLS=1000 run cache 'Crash.*'
TC_CHAOS_SEEDS=6 run autotuner 'Chaos.*'

echo "== Python"
TC_TEST_LAWS=1 TC_MODELS_FIRST=$seed TC_MODELS=200 TC_FACE_SECONDS=300 TC_FORKS=10 TC_ENDS=10 \
  .venv/bin/python -m pytest test/python -q -n "$(nproc)" --dist loadfile -m "not alone"
