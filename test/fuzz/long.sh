#!/usr/bin/env bash
# The random tests from a seed that is another one each time and is printed.
#   long.sh BUILD [SEED]          more of each than `make test` runs, then what is long of other tests; the first failure ends it
#   long.sh BUILD SEED MINUTES    all generators in turn, with new seeds in each round, for so many minutes; 0: without end.
#                                 Failures go to BUILD/fuzz/finds and do not end it, counts are added to BUILD/fuzz/log.tsv
set -euo pipefail
build=$1
seed=${2:-}
seed=${seed:-$(date +%s)}
minutes=${3:-}
cd "$(dirname "$0")/../.."
export TC_ALL_RUNS=1

# kind, program, tests, variables of the first seed and of the count, count of a long run and of a round
generators="
programs     fuzz          CompiledPrograms.AgreeWithTheInterpreter  TC_FUZZ_SEED       TC_FUZZ_COUNT    3000  100
sizes        fuzz          CompiledPrograms.AgreeForAllValues*       TC_FUZZ_SEED       TC_FUZZ_COUNT    3000   20
loops        fuzz          CompiledPrograms.AgreeOverLoops           TC_FUZZ_SEED       TC_FUZZ_COUNT    3000  100
schedules    polyhedral    RandomScops.*                             TC_RANDOM_FIRST    TC_RANDOM_SCOPS   400   24
mappings     strategy      *RandomMappings*:MappingStates.*          TC_RANDOM_FIRST    TC_RANDOM_SCOPS   400   12
grid_nests   strategy      RandomGrid*.*                               TC_RANDOM_FIRST    TC_RANDOM_SCOPS   400   24
nests        polyhedral    RandomNests.*                             TC_RANDOM_FIRST    TC_RANDOM_SCOPS   400   24
gradients    autodiff      RandomGradients.*                         TC_GRADIENT_FIRST  TC_GRADIENT_SEEDS 400   40
layouts      layout        RandomLayouts.*                           TC_LAYOUT_FIRST    TC_LAYOUT_SEEDS   600   60
derivations  derive        RandomDerivations.*                       TC_DERIVE_FIRST    TC_DERIVE_SEEDS   120   12
texts        engine        MutatedTexts.*                            TC_FUZZ_SEED       TC_FUZZ_COUNT    7000  500
calls        engine        Calls.*Random*                            TC_FUZZ_SEED       TC_FUZZ_COUNT    2000  100
rechecks     engine        Recheck.FreshEntries*                     TC_FUZZ_SEED       TC_FUZZ_COUNT     120   12
graphs       engine        GraphLayouts.Random*                      TC_LAYOUT_FIRST    TC_LAYOUT_GRAPHS   40    6
operators    operator_layouts RandomPrograms.*                       TC_LAYOUT_FIRST    TC_LAYOUT_PROGRAMS 250  20
proofs       proof         ProvedPrograms.OfRandomTexts              TC_FUZZ_SEED       TC_FUZZ_COUNT     600   30
pairs        engine        *GradientPairs.*                          TC_GRADIENT_PAIRS_FIRST TC_GRADIENT_PAIRS 60 3
limits       random_limits *                                         TC_FUZZ_SEED       TC_FUZZ_COUNT     120   10
grids        emulated_fuzz EmulatedPrograms.*                        TC_FUZZ_SEED       TC_FUZZ_COUNT     500    5
grid_loops   emulated_fuzz EmulatedLoops.*                           TC_FUZZ_SEED       TC_FUZZ_COUNT     500   20"

tests_of() {  # PROGRAM TESTS, with the variables of the environment
  "$build/bin/$1_test" --gtest_brief=1 --gtest_filter="$2"
}

models_of() {  # FIRST COUNT
  TC_MODELS_FIRST=$1 TC_MODELS=$2 .venv/bin/python -m pytest test/python/torch_backend/test_random_models.py -q -k test_random_models
}

entries_of() {  # FIRST SECONDS
  TC_FUZZ_SEED=$1 TC_FUZZ_SECONDS=$2 tests_of entry_points '*'
}

# kept KIND SEED COUNT COMMAND...: runs the command, keeps what fails and adds a line to the log
kept() {
  local kind=$1 first=$2 count=$3 start=$SECONDS result=ok
  shift 3
  "$@" </dev/null >"$fuzz/output.txt" 2>&1 || result=FOUND
  printf '%s\t%s\t%s\t%s\t%s\t%s s\t%s\n' "$(date -u +%F)" "$revision" "$kind" "$first" "$count" "$((SECONDS - start))" "$result" >>"$fuzz/log.tsv"
  if [ "$result" = FOUND ]; then
    finds=$((finds + 1))
    echo "$kind from seed $first: a find"
    python3 test/fuzz/keep_finds.py "$fuzz/output.txt" "$fuzz/finds" "$kind" "$first" "$revision"
  fi
}

totals() {
  awk -F'\t' '{ programs[$3] += $5; finds += $7 == "FOUND" } END { for (kind in programs) { print kind, programs[kind]; all += programs[kind] }
    print all " programs in " FILENAME ", runs with finds: " finds + 0 }' "$fuzz/log.tsv"
}

without_end() {
  fuzz=$build/fuzz revision=$(git rev-parse --short HEAD 2>/dev/null || echo unknown) finds=0
  mkdir -p "$fuzz"
  trap totals EXIT
  local end=$((SECONDS + 60 * minutes))
  over() { [ "$minutes" != 0 ] && [ "$SECONDS" -ge "$end" ]; }
  while ! over; do
    echo "round from seed $seed: make fuzz SEED=$seed repeats it"
    while read -r kind program tests first_of count_of _ count; do
      over && break
      [ -z "$kind" ] || kept "$kind" "$seed" "$count" env "$first_of=$seed" "$count_of=$count" \
        "$build/bin/${program}_test" --gtest_brief=1 --gtest_filter="$tests"
    done <<<"$generators"
    over || kept models "$seed" 20 models_of "$seed" 20
    over || kept entries "$seed" 0 entries_of "$seed" 20
    seed=$((seed + 10000))
  done
  [ "$finds" = 0 ]
}

if [ -n "$minutes" ]; then
  without_end
  exit
fi

echo "random tests from seed $seed: make test-long SEED=$seed repeats them"
run() {
  echo "== $1 $2"
  tests_of "$1" "$2"
}
while read -r kind program tests first_of count_of count _; do
  [ -z "$kind" ] || (export "$first_of=$seed" "$count_of=$count"; run "$program" "$tests")
done <<<"$generators"

export TC_FUZZ_SEED=$seed
run programs '*'
run cuda 'KernelOfProgram.*'
run cuda_emulator '*HostPrelude*'
TC_ALL_INSTRUCTIONS=1 run engine '*SpecialValues*'
run engine '*EachKind*'
run proof 'CorruptedEvidence.*:ProvedPrograms.OfFiles'
run emulated_programs 'EmulatedPrograms.*:EmulatedImages.*:*UnitPrograms*:UnitNests*:*GroupPrograms*:GroupGate*:*GridCandidates*'
TC_ALL_INSTRUCTIONS=1 TC_MATH_ROUNDS=8 run cpu 'Errors.*:VectorMathTest.*:*ExpandDivisions*:StridedKernels.*'
TC_FUZZ_SECONDS=300 run entry_points '*'
TC_CACHE_KILLS=1000 run cache 'Crash.*'
TC_CHAOS_SEEDS=6 run autotuner 'Chaos.*'

echo "== Python"
TC_TEST_LAWS=1 TC_BATCH_COUNT=60 TC_MODELS_FIRST=$seed TC_MODELS=200 TC_FACE_SECONDS=300 TC_FORKS=10 TC_ENDS=10 \
  .venv/bin/python -m pytest test/python -q -n "$(nproc)" --dist loadfile -m "not alone"
