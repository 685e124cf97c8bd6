#include "tc/engine/run/overlap.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tc/base/str.h"

namespace tc::engine {
namespace {

TensorView view(std::int64_t first, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
                DType type = DType::Int8) {
  static char memory[1 << 16];
  TensorView result;
  result.dtype = type;
  result.shape = std::move(shape);
  result.strides = std::move(strides);
  result.data = memory + (1 << 15) + first * byte_size(type);
  return result;
}

/// Calls \p visit with the offset of every element of \p spec.
template <typename F>
void for_each_offset(const TensorSpec& spec, F&& visit, std::size_t dim = 0, std::int64_t offset = 0) {
  if (dim == spec.shape.size()) return visit(offset);
  for (std::int64_t i = 0; i < spec.shape[dim]; ++i)
    for_each_offset(spec, visit, dim + 1, offset + i * spec.strides[dim]);
}

std::set<const char*> bytes_of(const TensorView& view) {
  std::set<const char*> bytes;
  for_each_offset(view, [&](std::int64_t offset) {
    for (int b = 0; b < byte_size(view.dtype); ++b)
      bytes.insert(static_cast<const char*>(view.data) + offset * byte_size(view.dtype) + b);
  });
  return bytes;
}

TEST(Overlap, Table) {
  struct Case {
    const char* what;
    TensorView a, b;
    bool expected;
  };
  const Case cases[] = {
      {"apart", view(0, {4}, {1}), view(4, {4}, {1}), false},
      {"shifted by one", view(0, {4}, {1}), view(3, {4}, {1}), true},
      {"left and right columns", view(0, {5, 4}, {8, 1}), view(4, {5, 4}, {8, 1}), false},
      {"columns that meet", view(0, {5, 5}, {8, 1}), view(4, {5, 4}, {8, 1}), true},
      {"even and odd", view(0, {5}, {2}), view(1, {5}, {2}), false},
      {"reversed halves", view(3, {4}, {-1}), view(4, {4}, {1}), false},
      {"reversed, one shared", view(3, {4}, {-1}), view(0, {1}, {1}), true},
      {"empty", view(0, {0}, {1}), view(0, {4}, {1}), false},
      {"rank 0", view(2, {}, {}), view(0, {4}, {1}), true},
      {"types of two sizes", view(1, {2}, {1}, DType::Float32), view(4, {4}, {1}), true},
  };
  for (const auto& c : cases) EXPECT_EQ(overlap(c.a, c.b), c.expected) << c.what;
}

TEST(Overlap, AgreesWithEnumeration) {
  std::mt19937 random(7);
  auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  int overlapping = 0, apart = 0;
  for (int i = 0; i < 3000; ++i) {
    auto make = [&] {
      std::vector<std::int64_t> shape, strides;
      for (int d = pick(0, 3); d > 0; --d) shape.push_back(pick(0, 4)), strides.push_back(pick(-12, 12));
      return view(pick(-20, 20), shape, strides, pick(0, 1) ? DType::Int8 : DType::Int16);
    };
    auto a = make(), b = make();
    auto in_a = bytes_of(a), in_b = bytes_of(b);
    bool expected = false;
    for (const char* byte : in_a) expected = expected || in_b.count(byte);
    ++(expected ? overlapping : apart);
    EXPECT_EQ(overlap(a, b), expected) << str(a, " and ", b);
    std::size_t elements = 0;
    for_each_offset(a, [&](std::int64_t) { ++elements; });
    EXPECT_EQ(overlaps_itself(a), in_a.size() < elements * byte_size(a.dtype)) << str(a);
  }
  EXPECT_GT(overlapping, 200);
  EXPECT_GT(apart, 300);
}

TEST(Normalised, IgnoresStridesThatCannotMatter) {
  EXPECT_EQ(normalised({DType::Float32, {4, 1}, {1, 77}}), contiguous(DType::Float32, {4, 1}));
  EXPECT_EQ(normalised({DType::Float32, {1, 4}, {0, 1}}), contiguous(DType::Float32, {1, 4}));
  EXPECT_EQ(normalised({DType::Float32, {3, 0}, {9, 9}}), contiguous(DType::Float32, {3, 0}));
  TensorSpec transposed{DType::Float32, {3, 4}, {1, 3}};
  EXPECT_EQ(normalised(transposed), transposed);
}

}  // namespace
}  // namespace tc::engine
