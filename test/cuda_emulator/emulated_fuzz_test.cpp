// Random programs over the whole grammar, compiled for CUDA with random options and run in the emulator on random sizes
// and strides with two interleavings, against the interpreter. A failure prints a reduced program.
//
//   TC_FUZZ_SEED=123 TC_FUZZ_COUNT=1 build/bin/emulated_fuzz_test     one program, printed first
//   TC_FUZZ_COUNT=20000 build/bin/emulated_fuzz_test                  a long run
//   TC_FUZZ_CONTRACTIONS=100 build/bin/emulated_fuzz_test             percent of the programs that are contractions
//
// Most programs are contractions with sizes of whole tiles, so that their copies run ahead: of all kernels, one in four
// or more must copy asynchronously.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>

#include "tc/base/str.h"
#include "test/cuda_emulator/device_program.h"
#include "test/support/fuzz_run.h"

namespace tc::test {
namespace {

FuzzSetting setting_of(std::uint64_t seed) {
  std::mt19937_64 random(seed * 7919 + 5);
  auto pick = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
  FuzzSetting result;
  result.options =
      str("fusion=", pick({"max", "preserve3", "preserve3", "min"}),
          pick({"", "", "", ",tile=4", ",tile=3x5", ",tile=16x0x8", ",tile=1x32"}), pick({"", "", "", ",promote=0"}),
          pick({"", "", "", ",vectorise=0"}), pick({"", "", "", "", "", "", "", ",parallel=0"}));
  static const std::vector<std::string> of_the_grid = {
      "", "", ",grid=1", ",grid=3x2", ",block=1", ",block=7", ",block=32x8", ",block=5x3x2", ",block=16x16,grid=2x2"};
  static const std::vector<std::string> of_memory = {
      "", "", "", ",shared=0", ",registers=0", ",reduce_in_block=0", ",shared_bytes=512"};
  static const std::vector<std::string> of_gathers = {"", "", ",gather_reuse=1", ",gather_reuse=1",
                                                      ",gather_reuse=100000"};
  static const std::vector<std::string> of_tiles = {"",
                                                    "",
                                                    "",
                                                    ",unroll_limit=1",
                                                    ",unroll_limit=64",
                                                    ",register_tile=2x4",
                                                    ",register_tile=8x8",
                                                    ",reduction_block=4",
                                                    ",reduction_block=3,register_tile=4x4"};
  for (const auto* list : {&of_the_grid, &of_memory, &of_tiles, &of_gathers}) result.options += pick(*list);
  auto parts = pick({"", "", ",reduction_parts=2", ",reduction_parts=5", ",reduction_parts=64"});
  if (random() % 10 == 0) result.options = pick({"naive", "single_thread", "pointwise", "mlp", "conv", "group_conv"});
  result.target = pick({"cuda:sm_75", "cuda:sm_80", "cuda:sm_90", "cuda:sm_90"});
  result.strided = random() % 3 == 0;
  result.options += parts;
  if (random() % 4 == 0) {
    result.options += ",cooperative=1";
    result.target += ",processors=3";
  }
  return result;
}

/// For contractions whose sizes are whole tiles: of the options, those that leave or vary the copies of operands, which
/// run ahead.
FuzzSetting setting_of_tiles(std::uint64_t seed) {
  std::mt19937_64 random(seed * 7901 + 9);
  auto pick = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
  FuzzSetting result;
  auto one_in = [&](unsigned n, const std::vector<std::string>& from) { return random() % n == 0 ? pick(from) : ""; };
  result.options =
      str("fusion=", pick({"max", "preserve3", "min"}),
          one_in(2, {",register_tile=2x2", ",register_tile=1x2", ",register_tile=2x1", ",register_tile=4x2"}),
          one_in(2, {",reduction_block=4", ",reduction_block=8", ",reduction_block=32"}), one_in(6, {",vectorise=0"}),
          one_in(12, {",grid=1", ",grid=2x1"}),
          one_in(4, {",shared_bytes=8192", ",shared_bytes=16384", ",unroll_limit=1"}), one_in(3, {",gather_reuse=1"}),
          random() % 12 == 0 ? ",reduction_parts=2" : pick({",reduction_parts=1", ",reduction_parts=1", ""}));
  result.target = pick({"cuda:sm_80", "cuda:sm_86", "cuda:sm_90", "cuda:sm_90"});
  if (random() % 12 == 0) result.target = "cuda:sm_75";
  result.target += pick({"", "", ",processors=1", ",processors=3"});
  result.strided = random() % 12 == 0;
  if (random() % 8 == 0) result.options += ",cooperative=1";
  return result;
}

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

/// Of the kernels that were run, how many there are and how many copy asynchronously.
struct Kernels {
  int all = 0, asynchronous = 0;

  void count(const DeviceProgram& program) {
    const std::string head = "__global__";
    for (auto at = program.text.find(head); at != std::string::npos;) {
      auto end = program.text.find(head, at + 1);
      ++all;
      asynchronous += program.text.substr(at, end - at).find("tc_copy_async_") != std::string::npos;
      at = end;
    }
  }
};

/// Of so many kernels of a part, one at least is to copy asynchronously. Of all parts together one in three does, 43 of
/// 134; a part of 30 programs may have as few as one in five.
constexpr int kernels_for_one_asynchronous = 6;

/// The programs are run in parts, which may run side by side. Those that the environment asks for are all in the first.
constexpr int parts = 3;
constexpr std::uint64_t programs_of_a_part = 30;

class EmulatedPrograms : public testing::TestWithParam<int> {};

TEST_P(EmulatedPrograms, AgreeWithTheInterpreter) {
  if (GetParam() > 0 && (std::getenv("TC_FUZZ_SEED") || std::getenv("TC_FUZZ_COUNT")))
    GTEST_SKIP() << "the first part runs what the environment asks for";
  RandomOptions programs;
  programs.contractions = 92;
  programs.whole_tiles = 92;
  Kernels kernels;
  fuzz_programs(
      programs_of_a_part,
      [](const RandomProgram& program) {
        return program.whole_tiles ? setting_of_tiles(program.seed) : setting_of(program.seed);
      },
      [&](const auto& function, Arguments& arguments, engine::CompileOptions options, const RandomProgram& program) {
        options.stages.verify = true;
        if (program.seed % 5 == 0) options.unaligned = names_of(function->def, program.seed / 5);
        auto compiled = device_program(function, arguments.input_specs(), arguments.output_specs(), options);
        kernels.count(compiled);
        return emulated_mismatch(compiled, *function, arguments, {program.seed + 1, program.seed + 2},
                                 reference(*function, arguments));
      },
      programs, 1 + static_cast<std::uint64_t>(GetParam()) * programs_of_a_part);
  std::printf("%d kernels, %d of them with asynchronous copies\n", kernels.all, kernels.asynchronous);
  if (kernels.all >= static_cast<int>(programs_of_a_part)) {
    EXPECT_GE(kernels_for_one_asynchronous * kernels.asynchronous, kernels.all)
        << "too few kernels whose copies run ahead";
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, EmulatedPrograms, testing::Range(0, parts));

}  // namespace
}  // namespace tc::test
