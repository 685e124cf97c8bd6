#include "tc/cpu/marked/buffer_uses.h"

#include <gtest/gtest.h>

namespace tc::cpu::buffer_uses_test {
namespace {

using Statements = std::set<std::string>;

/// C = 0; C += A B, with a packed copy of B; Y = C + b.
const std::vector<BufferUse> layer = {
    {{"S0"}, "C", {}}, {{"S1"}, "packed_B", {"B"}}, {{"S1"}, "C", {"C", "A", "packed_B"}}, {{"S2"}, "Y", {"C", "b"}}};

TEST(BufferUses, StoresBelongToTheStatementThatReadsTheSame) {
  EXPECT_EQ(owners(layer, "C", {}), Statements{"S0"});
  EXPECT_EQ(owners(layer, "C", {"C", "A", "packed_B"}), Statements{"S1"});
  EXPECT_EQ(owners(layer, "packed_B", {"B"}), Statements{"S1"});
  EXPECT_EQ(owners(layer, "Y", {"b"}), Statements{"S2"});
}

TEST(BufferUses, SumsInRegistersBelongToTheStatementOfTheirTerms) {
  EXPECT_EQ(owners(layer, "", {"A", "packed_B"}), Statements{"S1"});
  EXPECT_EQ(owners(layer, "", {"b"}), Statements{"S2"});
  EXPECT_EQ(owners(layer, "", {}), Statements{});
}

TEST(BufferUses, NamesThatPassesHaveChangedMeanTheirBuffers) {
  EXPECT_EQ(buffer_named(layer, "C"), "C");
  EXPECT_EQ(buffer_named(layer, "packed_B.laundered"), "packed_B");
  EXPECT_EQ(buffer_named(layer, "packed_Bx"), "");
  EXPECT_EQ(buffer_named(layer, "other"), "");
}

}  // namespace
}  // namespace tc::cpu::buffer_uses_test
