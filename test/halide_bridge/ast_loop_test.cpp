#include "tc/halide_bridge/raise/ast_loop.h"

#include <gtest/gtest.h>

#include "tc/halide_bridge/raise/allocate_buffer.h"
#include "tc/polyhedral/generate/generate.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

/// What raise() finds out of loops and buffers before it makes statements of them.
namespace tc::halide_bridge {
namespace {

class AstLoops : public polyhedral::IslTest {
 protected:
  /// The loop of C[i] = 1 over \p range of i.
  AstLoop loop(const std::string& range) const {
    auto scop = polyhedral::ScopBuilder(context()).output("C", {64}).statement("S[i] : " + range, "C[i]").scop();
    return describe_loop(polyhedral::generate_ast(scop).root, {});
  }
};

TEST_F(AstLoops, TripsCountFromTheFirst) {
  auto all = loop("4 <= i < 12");
  EXPECT_TRUE(all.init.is_constant() && all.last.is_constant() && all.has_constant_trips());
  EXPECT_EQ(all.init.low, 4);
  EXPECT_EQ(all.last.low, 7);
  EXPECT_EQ(all.increment, 1);
  auto even = loop("4 <= i < 12 and i mod 2 = 0");
  EXPECT_EQ(even.increment, 2);
  EXPECT_EQ(even.last.low, 3);
}

TEST(AllocateBuffer, GoesWhereItHasRoom) {
  polyhedral::Tensor tensor;
  tensor.name = "local";
  tensor.storage = polyhedral::Tensor::Storage::Local;
  tensor.extent = {4, 8};
  tensor.strides = {16, 1};
  auto memory = [&] {
    auto stmt = allocate_buffer(tensor, Halide::Internal::Evaluate::make(0));
    return stmt.as<Halide::Internal::Allocate>()->memory_type;
  };
  EXPECT_EQ(memory(), Halide::MemoryType::Stack);
  auto stmt = allocate_buffer(tensor, Halide::Internal::Evaluate::make(0));
  EXPECT_TRUE(Halide::Internal::is_const(stmt.as<Halide::Internal::Allocate>()->extents[0], 3 * 16 + 7 + 1));
  EXPECT_FALSE(lives_in_kernel(tensor));
  tensor.strides[0] = 1 << 20;
  EXPECT_FALSE(fits_stack(tensor));
  EXPECT_EQ(memory(), Halide::MemoryType::Heap);
  tensor.shared = true;
  EXPECT_TRUE(lives_in_kernel(tensor));
  EXPECT_EQ(memory(), Halide::MemoryType::GPUShared);
}

}  // namespace
}  // namespace tc::halide_bridge
