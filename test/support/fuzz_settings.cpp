#include "test/support/fuzz_settings.h"

#include <random>

#include "tc/base/str.h"

namespace tc::test {
namespace {

FuzzSetting plain_setting(std::uint64_t seed) {
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
FuzzSetting parts_setting(std::uint64_t seed) {
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
FuzzSetting contraction_setting(std::uint64_t seed) {
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

FuzzSetting grid_setting(std::uint64_t seed) {
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
    result.target += ",multiprocessors=3";
  }
  return result;
}

/// For contractions whose sizes are whole tiles: of the options, those that leave or vary the copies of operands, which
/// run ahead.
FuzzSetting whole_tiles_setting(std::uint64_t seed) {
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
  result.target += pick({"", "", ",multiprocessors=1", ",multiprocessors=3"});
  result.strided = random() % 12 == 0;
  if (random() % 8 == 0) result.options += ",cooperative=1";
  return result;
}

}  // namespace

FuzzSetting cpu_setting_of(const RandomProgram& program) {
  if (program.contraction) return contraction_setting(program.seed);
  return program.parts ? parts_setting(program.seed) : plain_setting(program.seed);
}

FuzzSetting grid_setting_of(const RandomProgram& program) {
  return program.whole_tiles ? whole_tiles_setting(program.seed) : grid_setting(program.seed);
}

}  // namespace tc::test
