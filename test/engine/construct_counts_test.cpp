// What a construction does beside pricing: nothing.

#include <gtest/gtest.h>

#include "tc/cpu/code_counts.h"
#include "test/engine/engine_fixture.h"

namespace tc::engine {
namespace {

class EachConstruction : public testing::TestWithParam<const char*> {};

TEST_P(EachConstruction, EmitsAndLoadsNothingBeforeItHasChosen) {
  auto function = define(mm).functions.back();
  CompileOptions how;
  how.mapping = options::MappingOptions::parse(GetParam());
  std::map<std::string, cpu::CodeCounts> after;
  how.stages.mutate = [&](const std::string& stage, CompileState&) { after[stage] = cpu::code_counts(); };
  const auto before = cpu::code_counts();
  auto square = contiguous(DType::Float32, {64, 64});
  compile(function, {square, square}, {}, how);
  ASSERT_TRUE(after.count("choose"));
  EXPECT_EQ(after["choose"], before);
  const auto now = cpu::code_counts();
  EXPECT_EQ(now.emitted, before.emitted + 1) << "the kernel that was asked for, no other";
  EXPECT_EQ(now.loaded, before.loaded + 1);
}

INSTANTIATE_TEST_SUITE_P(Policies, EachConstruction,
                         testing::Values("construct", "construct=roller", "construct=gensor",
                                         "construct=gensor_printed"));

}  // namespace
}  // namespace tc::engine
