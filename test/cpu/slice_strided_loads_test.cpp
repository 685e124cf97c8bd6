#include "tc/cpu/stmt/slice_strided_loads.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tc/base/str.h"
#include "test/cpu/halide_statements.h"
#include "test/cpu/kernel_fixture.h"
#include "test/support/from_environment.h"
#include "test/support/guarded_buffer.h"

namespace tc::cpu::slice_strided_loads_test {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

Expr strided(const Expr& base, int apart, int lanes = 8) { return load("A", ir::Ramp::make(base, apart, lanes)); }

/// The value that is stored once the loads of \p value are sliced.
std::string sliced(const Expr& value) {
  std::ostringstream text;
  text << slice_strided_loads(store("B", vector(0, value.type().lanes()), value)).as<ir::Store>()->value;
  return text.str();
}

TEST(SliceStridedLoads, ReadNothingBehindTheLastLane) {
  EXPECT_EQ(sliced(strided(variable("a"), 2)),
            "shuffle((float32x8)A[ramp(a, 1, 8)], (float32x8)A[ramp(a + 7, 1, 8)], 0, 2, 4, 6, 9, 11, 13, 15)");
}

TEST(SliceStridedLoads, ShareVectorsWhereTheyRunTogether) {
  const std::string slices = "slice_vectors((float32x8)A[ramp(a, 1, 8)], (float32x8)A[ramp(a + 8, 1, 8)], ";
  auto a = variable("a");
  EXPECT_EQ(sliced(strided(a, 2) * strided(a + 1, 2)), str("(", slices, "0, 2, 8)*", slices, "1, 2, 8))"));
  EXPECT_EQ(sliced(strided(a, 2) * strided(a + 2, 2)),
            str("(", sliced(strided(a, 2)), "*", sliced(strided(a + 2, 2)), ")"));
}

/// One that may not run says nothing of the memory behind another.
TEST(SliceStridedLoads, ThoseOfABranchAreApart) {
  auto a = variable("a");
  auto one = store("B", vector(0, 8), strided(a, 2)), other = store("B", vector(8, 8), strided(a + 1, 2));
  std::ostringstream text;
  text << slice_strided_loads(ir::Block::make(one, ir::IfThenElse::make(variable("c") > 0, other)));
  EXPECT_NE(text.str().find("A[ramp(a + 7, 1, 8)]"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("A[ramp(a + 8, 1, 8)]"), std::string::npos) << text.str();
}

TEST(SliceStridedLoads, ThoseFarApartStay) {
  for (int apart : {-1, 1, 5}) EXPECT_EQ(sliced(strided(variable("a"), apart)).find("slice"), std::string::npos);
}

using StridedKernels = KernelTest;

/// The sum of the elements at each offset of \p offsets, all \p apart elements from those of the next lane, with nothing readable around.
/// One of two sizes each; both where TC_ALL_INSTRUCTIONS=1, as in `make test-long`.
TEST_F(StridedKernels, ReadWhatTheyName) {
  const bool all = test::from_environment("TC_ALL_INSTRUCTIONS", 0) != 0;
  const std::vector<std::vector<int>> offsets = {{0}, {0, 1}, {1, 3}, {0, 1, 2, 3, 4, 5}};
  for (const auto& target : runnable_targets())
    for (int lanes : {2, 4, 16})
      for (int apart : {2, 3, 4})
        for (const auto& at : offsets)
          for (int n : {lanes, 2 * lanes + 1}) {
            if (!all && (n == lanes) != ((static_cast<std::size_t>(apart) + at.size()) % 2 == 0)) continue;
            const int read = apart * (n - 1) + at.back() - at.front() + 1;
            ScopBuilder builder(context());
            std::vector<std::string> reads;
            Expr sum = Expr(0.0f);
            for (int offset : at) {
              reads.push_back(str("A[", apart, "i + ", offset - at.front(), "]"));
              sum = sum + element(Halide::Float(32), "A",
                                  {iterator("i") * ir::make_const(Halide::Int(64), apart) +
                                   ir::make_const(Halide::Int(64), offset - at.front())});
            }
            KernelCase kernel(builder.input("A", {read})
                                  .output("C", {n})
                                  .statement(str("S[i] : 0 <= i < ", n), "C[i]", reads)
                                  .scop());
            kernel.vectorise("S", "i", lanes).value("S", sum);
            GuardedBuffer<float> a(read), c(n);
            std::iota(a.begin(), a.end(), 1.0f);
            EXPECT_EQ(kernel.run(target, {a.data(), c.data()}), 0);
            for (int i = 0; i < n; ++i) {
              float want = 0;
              for (int offset : at) want += a[apart * i + offset - at.front()];
              EXPECT_EQ(c[i], want) << target << " " << lanes << " lanes " << apart << " apart, " << i << " of " << n;
            }
          }
}

}  // namespace
}  // namespace tc::cpu::slice_strided_loads_test
