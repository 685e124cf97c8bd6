// Random programs over the whole grammar, compiled for CUDA with random options and run in the emulator on random sizes
// and strides with two interleavings, against the interpreter. A failure prints a reduced program.
//
//   TC_FUZZ_SEED=123 TC_FUZZ_COUNT=1 build/bin/emulated_fuzz_test     one program, printed first
//   TC_FUZZ_COUNT=20000 build/bin/emulated_fuzz_test                  a long run
//   TC_FUZZ_CONTRACTIONS=100 build/bin/emulated_fuzz_test             percent of the programs that are contractions

#include <gtest/gtest.h>

#include <random>

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

TEST(EmulatedPrograms, AgreeWithTheInterpreter) {
  fuzz_programs(
      200, [](const RandomProgram& program) { return setting_of(program.seed); },
      [](const auto& function, Arguments& arguments, const engine::CompileOptions& options,
         const RandomProgram& program) {
        return emulated_mismatch(function, arguments, options, {program.seed + 1, program.seed + 2}, program.tolerance);
      });
}

}  // namespace
}  // namespace tc::test
