// Random programs over the whole grammar, compiled with random options and run on random sizes and strides, against the
// interpreter. A failure prints a reduced program.
//
//   TC_FUZZ_SEED=123 TC_FUZZ_COUNT=1 build/bin/fuzz_test     one program, printed first
//   TC_FUZZ_COUNT=20000 build/bin/fuzz_test                  a long run
//   TC_FUZZ_CONTRACTIONS=100 build/bin/fuzz_test             percent of the programs that are contractions

#include <gtest/gtest.h>

#include <random>

#include "tc/base/str.h"
#include "test/support/fuzz_run.h"

namespace tc::test {
namespace {

FuzzSetting setting_of(std::uint64_t seed) {
  std::mt19937_64 random(seed * 7919 + 1);
  auto pick = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
  std::string tile =
      pick({"", "", "", ",tile=3", ",tile=5", ",tile=4", ",tile=7x3", ",tile=3x5", ",tile=16x0x8", ",tile=1x32"});
  std::string promote = pick({"", "", "", ",promote=0"});
  std::string vectorise = pick({"", "", "", ",vectorise=0"});
  std::string skewing = pick({"", "", "", "", "", ",allow_skewing=1"});
  std::string parallel = pick({"", "", ",parallel=0"});
  std::string fusion = pick({"max", "max", "preserve3", "preserve3", "min"});
  FuzzSetting result;
  result.options = str("fusion=", fusion, tile, parallel, skewing, vectorise, promote);
  result.target = pick({"cpu", "cpu", "cpu:avx2", "cpu:plain"});
  result.strided = random() % 3 == 0;
  result.options += pick({"", "", "", "", ",vector_bytes=8", ",vector_bytes=16,unroll=1", ",register_tile=3x2",
                          ",register_tile=1x5,promote_bytes=64", ",reduction_block=2", ",pack=0"});
  result.options += pick({"", "", "", ",reduction_parts=3", ",reduction_parts=8"});
  return result;
}

/// For statements over parts of tensors: fused, in tiles that vectors do not divide.
FuzzSetting parts_setting_of(std::uint64_t seed) {
  std::mt19937_64 random(seed * 7901 + 5);
  auto pick = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
  FuzzSetting result;
  result.options = pick({"fusion=max", "fusion=max", "fusion=max", "fusion=preserve3", "fusion=min"});
  result.options += pick({",tile=3", ",tile=5", ",tile=7", ",tile=3x5", ",tile=5x2", ",tile=0x3", ",tile=9x7", ""});
  result.options += pick({"", "", "", ",allow_skewing=1"});
  result.options += pick({"", "", "", "", "", ",promote=0", ",vectorise=0", ",pack=0", ",positive_orthant=0"});
  result.options += pick({"", "", "", ",vector_bytes=16", ",register_tile=3x2", ",unroll=2", ",promote_bytes=64"});
  result.options += pick({"", "", "", ",reduction_parts=3", ",reduction_block=2", ",parallel=0"});
  result.target = pick({"cpu", "cpu", "cpu:avx2", "cpu:plain"});
  result.strided = random() % 4 == 0;
  return result;
}

/// For contractions: mostly without tiles of the user, and with caches small enough for blocks and packed copies.
FuzzSetting contraction_setting_of(std::uint64_t seed) {
  std::mt19937_64 random(seed * 7907 + 3);
  auto pick = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
  std::string rest = pick({"", "", "", "", "", ",vector_bytes=16", ",vector_bytes=32,unroll=1", ",register_tile=3x2",
                           ",register_tile=1x5", ",register_tile=8x1", ",register_tile=5x3,promote_bytes=512"});
  std::string promote = pick({"", "", "", "", "", "", "", ",promote=0"});
  std::string vectorise = pick({"", "", "", "", "", "", "", ",vectorise=0"});
  std::string parallel = pick({"", "", ",parallel=0"});
  std::string tile = pick({"", "", "", "", "", "", ",tile=4", ",tile=3x5", ",tile=16x0x8"});
  std::string fusion = pick({"max", "preserve3", "preserve3", "min"});
  std::string caches = pick({"", ",l1=1k,l2=4k", ",l1=1k,l2=16k", ",l1=2k,l2=8k", ",l1=4k,l2=1m"});
  std::string cores = pick({"1", "2", "3", "8"});
  std::string machine = pick({"cpu:", "cpu:", "cpu:avx2,", "cpu:plain,"});
  FuzzSetting result;
  result.options = str("fusion=", fusion, tile, parallel, vectorise, promote, rest);
  result.target = str(machine, "cores=", cores, caches);
  result.strided = random() % 4 == 0;
  return result;
}

TEST(CompiledPrograms, AgreeWithTheInterpreter) {
  fuzz_programs(
      500,
      [](const RandomProgram& program) {
        if (program.contraction) return contraction_setting_of(program.seed);
        return program.parts ? parts_setting_of(program.seed) : setting_of(program.seed);
      },
      [](const auto& function, Arguments& arguments, engine::CompileOptions options, const RandomProgram& program) {
        if (options.target.isa > Target::parse("cpu").isa) options.target = Target::parse("cpu");
        return mismatch(function, arguments, options, program.tolerance);
      });
}

}  // namespace
}  // namespace tc::test
