#include "tc/polyhedral/map_grid/promote_in_block.h"

#include "test/polyhedral/block_passes_fixture.h"

namespace tc::polyhedral {
namespace {

using namespace build;

class BuffersOfBlocks : public BlockPassTest {
 protected:
  /// Row by row t(i, j) = A(i, j), then B(i, j) = t(i, \p read), j in thread j mod 32.
  Scop rows(const std::string& read, int columns = 32) const {
    auto box = str(" : 0 <= i < 4 and 0 <= j < ", columns);
    auto scop = ScopBuilder(context())
                    .input("A", {4, columns})
                    .temporary("t", {4, columns})
                    .output("B", {4, columns})
                    .statement(str("S[i, j]", box), "t[i, j]", {"A[i, j]"})
                    .statement(str("T[i, j]", box), "B[i, j]", {str("t[i, ", read, "]")})
                    .scop();
    scop.schedule =
        domain(ctx(), str("{ S[i, j]", box, "; T[i, j]", box, " }"),
               band("[{ S[i, j] -> [(i)]; T[i, j] -> [(i)] }]", sequence({{"{ S[i, j] }"}, {"{ T[i, j] }"}})));
    return scop;
  }
  Scop promoted(const Scop& scop, BlockMemory& memory) const {
    auto where = one_block(scop, "{ S[i, j] -> [(j mod 32)]; T[i, j] -> [(j mod 32)] }");
    return promote_in_block(scop, {0, 0}, {"t"}, {where, {32, 1, 1}}, memory);
  }
};

TEST_F(BuffersOfBlocks, AnElementOfOneThreadIsARegister) {
  BlockMemory memory{1 << 10, 4};
  auto scop = promoted(rows("j", 64), memory);
  const auto& buffer = scop.tensors.back();
  EXPECT_EQ(buffer.storage, Tensor::Storage::Local);
  EXPECT_TRUE(buffer.in_registers);
  EXPECT_FALSE(buffer.shared);
  EXPECT_EQ(buffer.extent.back(), 2) << "j and j + 32";
  EXPECT_EQ(memory.shared_bytes, 1 << 10);
  EXPECT_EQ(count(scop, str("allocate_", buffer.name)), 1);
}

TEST_F(BuffersOfBlocks, WhatThreadsExchangeIsShared) {
  BlockMemory memory{1 << 10, 4};
  auto scop = promoted(rows("31 - j"), memory);
  const auto& buffer = scop.tensors.back();
  EXPECT_TRUE(buffer.shared);
  EXPECT_FALSE(buffer.in_registers);
  EXPECT_EQ(memory.shared_bytes, (1 << 10) - 32 * byte_size(buffer.type)) << "one row at a time";
}

TEST_F(BuffersOfBlocks, WhatDoesNotFitStays) {
  BlockMemory small{32 * 4 - 1, 4};
  EXPECT_EQ(promoted(rows("31 - j"), small).tensors.size(), rows("31 - j").tensors.size());
  EXPECT_EQ(small.shared_bytes, 32 * 4 - 1);
  BlockMemory few{1 << 10, 1};
  EXPECT_EQ(promoted(rows("j", 64), few).tensors.size(), rows("j", 64).tensors.size())
      << "two elements of a thread, one allowed";
}

}  // namespace
}  // namespace tc::polyhedral
