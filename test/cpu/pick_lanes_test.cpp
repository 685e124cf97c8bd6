#include "tc/cpu/stmt/pick_lanes.h"

#include <gtest/gtest.h>

#include "test/cpu/halide_statements.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// The lanes up to number \p last.
Expr up_to(const Expr& last, int lanes = 8) {
  return ir::LE::make(ir::Ramp::make(0, 1, lanes), ir::Broadcast::make(last, lanes));
}

Expr load_if(const Expr& runs, int apart, Halide::Type type = Halide::Float(32)) {
  int lanes = runs.type().lanes();
  return ir::Load::make(type.with_lanes(lanes), "A", ir::Ramp::make(variable("a"), apart, lanes), Halide::Buffer<>(),
                        ir::Parameter(), runs, ir::ModulusRemainder());
}

/// The value that is stored once lanes of \p value have been picked for \p target.
std::string picked(const Expr& value, const char* target = "cpu:avx2") {
  auto body = store("B", vector(0, value.type().lanes()), value);
  std::ostringstream text;
  text << pick_lanes(body, Target::parse(target)).as<ir::Store>()->value;
  return text.str();
}

std::string as_it_is(const Expr& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

TEST(PickLanes, LoadsAPartialVectorContiguously) {
  EXPECT_EQ(picked(load_if(up_to(variable("n")), 2)),
            "slice_vectors((float32x8)A[ramp(a, 1, 8)] if (ramp(0, 1, 8) <= x8(n*2)), "
            "(float32x8)A[ramp(a + 8, 1, 8)] if (ramp(0, 1, 8) <= x8((n*2) + -8)), 0, 2, 8)");
}

/// As many vectors as the lanes that run reach.
TEST(PickLanes, LoadsNoVectorThatNoLaneReaches) {
  auto text = picked(load_if(up_to(3), 2));
  EXPECT_NE(text.find("A[ramp(a, 1, 8)] if (ramp(0, 1, 8) <= x8(6))"), std::string::npos) << text;
  EXPECT_NE(text.find("x8(0.000000f)"), std::string::npos) << text;
  text = picked(load_if(up_to(6), 2));
  EXPECT_NE(text.find("A[ramp(a, 1, 8)], "), std::string::npos) << text;
  EXPECT_NE(text.find("A[ramp(a + 8, 1, 8)] if (ramp(0, 1, 8) <= x8(4))"), std::string::npos) << text;
}

/// Nothing but the running lanes is read where others than the first run.
TEST(PickLanes, SpreadsAnyPredicate) {
  Expr runs = ir::Variable::make(Halide::Bool(4), "runs");
  auto text = picked(load_if(runs, 3));
  std::size_t vectors = 0;
  for (auto at = text.find("A["); at != std::string::npos; at = text.find("A[", at + 1)) ++vectors;
  EXPECT_EQ(vectors, 3u) << text;
  EXPECT_NE(text.find("A[ramp(a + 8, 1, 4)] if"), std::string::npos) << text;
}

TEST(PickLanes, LeavesWhatItWouldNotMakeCheaper) {
  const Expr cases[] = {
      load_if(up_to(variable("n")), 1),                   // contiguous
      load_if(up_to(variable("n")), 5),                   // far apart
      load_if(up_to(variable("n")), -2),                  // backwards
      load_if(ir::const_true(8), 2),                      // whole: Halide picks from two vectors
      load_if(up_to(1), 2),                               // two lanes
      load_if(up_to(variable("n")), 2, Halide::UInt(8)),  // no masked loads of bytes
  };
  for (const auto& value : cases) EXPECT_EQ(picked(value), as_it_is(value));
  EXPECT_EQ(picked(load_if(up_to(variable("n")), 2), "cpu:plain"), as_it_is(load_if(up_to(variable("n")), 2)));
  auto bytes = load_if(up_to(variable("n"), 32), 2, Halide::UInt(8));
  EXPECT_NE(picked(bytes, "cpu:avx512"), as_it_is(bytes));
}

}  // namespace
}  // namespace tc::cpu
