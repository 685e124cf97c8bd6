// Random programs over the whole grammar, compiled for CUDA with random options and run in the emulator on random sizes
// and strides with two interleavings, against the interpreter. A failure prints a reduced program.
//
//   TC_FUZZ_SEED=123 TC_FUZZ_COUNT=1 build/bin/emulated_fuzz_test     one program, printed first
//   TC_FUZZ_COUNT=20000 build/bin/emulated_fuzz_test                  a long run
//   TC_FUZZ_CONTRACTIONS=100 build/bin/emulated_fuzz_test             percent of the programs that are contractions
//
// Most programs are contractions with sizes of whole tiles, so that their copies run ahead: of all kernels, one in eight
// or more must copy asynchronously. Where units for matrices can compute a product, three in four programs have a nest in
// which they do.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "tc/engine/compile/pipeline.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "test/cuda_emulator/device_program.h"
#include "test/cuda_emulator/units/unit_nests.h"
#include "test/support/from_environment.h"
#include "test/support/fuzz_settings.h"
#include "test/support/random/nest_moves.h"
#include "test/support/random/random_loops.h"

namespace tc::test {
namespace {

/// Some of the arguments of \p def, or all, to begin anywhere.
std::set<std::string> names_of(const lang::Def& def, std::uint64_t seed) {
  std::mt19937_64 random(seed * 7919 + 13);
  std::set<std::string> names;
  const bool all = random() % 3 == 0;
  for (const auto* tensors : {&def.params, &def.returns})
    for (const auto& tensor : *tensors)
      if (all || random() % 2 == 0) names.insert(tensor.name);
  return names;
}

/// The nest of a random tile of units for a product of \p function, if one fits.
std::optional<std::string> random_unit_nest(const std::shared_ptr<const engine::Function>& function,
                                            const Arguments& arguments, const engine::CompileOptions& options,
                                            std::uint64_t seed) {
  std::mt19937_64 random(seed * 7907 + 17);
  const auto pick = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
  std::vector<strategy::UnitTile> tiles(12);
  for (auto& tile : tiles)
    tile = {pick({16, 32, 64}), pick({8, 16, 32, 64}), pick({1, 1, 2, 4}),
            pick({1, 1, 2, 4}), pick({16, 16, 32}),    static_cast<int>(pick({2, 3, 4}))};
  return unit_nest(function, arguments, options, tiles);
}

/// Lets \p options name a nest near that of a kernel of \p function, moved at random; false where the laws allow none of
/// those that are tried.
bool take_moved_nest(const std::shared_ptr<const engine::Function>& function, const Arguments& arguments,
                     engine::CompileOptions& options, std::uint64_t seed) {
  auto result = std::make_shared<std::map<std::string, std::string>>();
  auto find = [result, seed](engine::CompileState& state) {
    if (state.launches.empty()) return;
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto& launch = state.launches.front();
    for (std::size_t i = 0; i < launch.clusters.size(); ++i)
      for (int count = 0; count < 4; ++count) {
        const auto& nests = launch.grid().nests.at(i);
        const auto nest = moved_nest(nests.space, nests.nest, random);
        if (nest == nests.nest || !is_allowed(*launch.scop, launch.clusters[i], nest, *state.target.grid)) continue;
        const auto text = to_string(nest, polyhedral::nest_names(*launch.scop, launch.clusters[i]));
        result->emplace(state.launches.size() > 1 ? "nest.0" : "nest", text);
        return;
      }
  };
  engine::map_launches(function,
                       engine::make_arguments(*function, arguments.input_specs(), arguments.output_specs(), options),
                       options, find, engine::Phase::Choose);
  options.stages.replace.insert(result->begin(), result->end());
  return !result->empty();
}

/// Of the kernels that were run, how many there are, how many copy asynchronously, how many use units and how many have a nest
/// that no mapping was chosen for.
struct Kernels {
  int all = 0, asynchronous = 0, units = 0, moved = 0;

  void count(const DeviceProgram& program) {
    const std::string head = "__global__";
    for (auto at = program.text.find(head); at != std::string::npos;) {
      auto end = program.text.find(head, at + 1);
      ++all;
      const auto text = program.text.substr(at, end - at);
      asynchronous += text.find("tc_copy_async_") != std::string::npos;
      units += text.find("tc_multiply_") != std::string::npos;
      at = end;
    }
  }
};

/// Of so many kernels, one at least is to copy asynchronously. Of 60 programs one in five does, 21 of 111; 30 may have 8 of 49.
constexpr int kernels_for_one_asynchronous = 8;

constexpr std::uint64_t usual_programs = 16;

/// Invariants are checked for one of so many programs, for all where TC_ALL_RUNS=1: they take most of a compile.
constexpr std::uint64_t laws_of_programs = 3;

TEST(EmulatedPrograms, AgreeWithTheInterpreter) {
  RandomOptions programs;
  programs.contractions = 92;
  programs.whole_tiles = 92;
  Kernels kernels;
  fuzz_programs(
      usual_programs, grid_setting_of,
      [&](const auto& function, Arguments& arguments, engine::CompileOptions options, const RandomProgram& program) {
        options.stages.verify = program.seed % laws_of_programs == 0 || all_runs_are_taken();
        if (program.seed % 5 == 0) options.unaligned = names_of(function->def, program.seed / 5);
        if (program.whole_tiles && program.seed % 4 != 0)
          if (auto nest = random_unit_nest(function, arguments, options, program.seed))
            options.stages.replace["nest"] = *nest;
        if (options.stages.replace.empty() && program.seed % 2 == 0)
          kernels.moved += take_moved_nest(function, arguments, options, program.seed);
        auto compiled = device_program(function, arguments.input_specs(), arguments.output_specs(), options);
        kernels.count(compiled);
        return emulated_mismatch(compiled, *function, arguments, {program.seed + 1, program.seed + 2},
                                 reference(*function, arguments));
      },
      programs);
  std::printf("%d kernels, %d of them with asynchronous copies, %d with matrix units, %d by moved nests\n", kernels.all,
              kernels.asynchronous, kernels.units, kernels.moved);
  if (kernels.all >= static_cast<int>(usual_programs)) {
    EXPECT_GE(kernels_for_one_asynchronous * kernels.asynchronous, kernels.all)
        << "too few kernels whose copies run ahead";
    EXPECT_GT(kernels.units, 0);
  }
}

/// Random programs with ordered loops, on whose iterations the threads of a block wait for each other.
TEST(EmulatedLoops, AgreeWithTheInterpreter) {
  static const std::vector<std::string> mappings = {"", "fusion=max", "fusion=min,tile=4x8,reduction_parts=3",
                                                    "parallel=0", "tile=8x16,block=32"};
  const auto first = from_environment("TC_FUZZ_SEED", 1), count = from_environment("TC_FUZZ_COUNT", 7);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const ProgramFile program = random_loops(seed);
    SCOPED_TRACE(str("seed ", seed, "\n", program.text));
    const auto function = function_of(program, "loops");
    const auto arguments = make_arguments(*function, program, program.runs.front());
    engine::CompileOptions options;
    options.target = Target::parse("cuda:sm_90");
    options.mapping = options::MappingOptions::parse(mappings[seed % mappings.size()]);
    options.stages.verify = seed % laws_of_programs == 0 || all_runs_are_taken();
    const auto compiled = device_program(function, arguments.input_specs(), arguments.output_specs(), options);
    const auto wrong =
        emulated_mismatch(compiled, *function, arguments, {seed, seed + 1}, reference(*function, arguments));
    EXPECT_FALSE(wrong) << *wrong;
  }
}

}  // namespace
}  // namespace tc::test
