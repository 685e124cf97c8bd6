#include <gtest/gtest.h>

#include <numeric>

#include "tc/base/error.h"
#include "tc/lang/syntax/parse.h"
#include "test/layout/layout_fixture.h"
#include "test/support/from_environment.h"
#include "test/support/random/random_program.h"

namespace tc::test {
namespace {

/// Programs of the kinds that layouts are for.
struct Sized {
  std::string text;
  lang::SizeMap sizes;
};
const std::vector<Sized> programs = {
    {"def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", {{"M", 5}, {"K", 7}, {"N", 6}}},
    {"def f(float(B,M,K) A, float(B,N,K) V) -> (C) { C(b,m,n) +=! A(b,m,k) * V(b,n,k) }",
     {{"B", 2}, {"M", 5}, {"K", 6}, {"N", 3}}},
    {"def f(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s) }",
     {{"N", 1}, {"C", 5}, {"H", 7}, {"W", 6}, {"O", 6}, {"R", 3}, {"S", 2}}},
    {"def f(float(N,C,H) X, float(O,C,R) K) -> (Y) { Y(n,o,h) +=! X(n,c,2*h+3*r) * K(o,c,r) }",
     {{"N", 2}, {"C", 3}, {"H", 17}, {"O", 5}, {"R", 3}}},
    {"def f(float(N,C,H) X, float(C,R) K, float(C) b) -> (Y) { Z(n,c,h) +=! X(n,c,h+r) * K(c,r)  Y(n,c,h) = "
     "fmax(Z(n,c,h) + b(c), 0) }",
     {{"N", 2}, {"C", 5}, {"H", 9}, {"R", 3}}},
    {"def f(float(H,W) X) -> (Y) { Y(i,j) = X(i,j) + X(i+1,j) * 2 + X(i+2,j+1) - X(i,j+2) }", {{"H", 9}, {"W", 8}}},
    {"def f(float(H) X) -> (Y) { Y(h) = (h >= 1 ? X(h-1) : 0) + (h <= H - 2 ? X(h+1) : 0) where h in 0:H }",
     {{"H", 11}}},
    {"def f(float(S,D) Q, float(T,D) K, float(T,E) V) -> (O) { A(s,t) +=! Q(s,d) * K(t,d)  M(s) max=! A(s,t)"
     "  P(s,t) = A(s,t) - M(s)  L(s) +=! P(s,t)  O(s,e) +=! P(s,t) * V(t,e)  O(s,e) = O(s,e) + L(s) }",
     {{"S", 4}, {"D", 3}, {"T", 5}, {"E", 6}}},
    {"def f(float(N,C) X) -> (Y, Z) { M(n) +=! X(n,c)  Y(n,c) = X(n,c) * C - M(n)  Z(c,n) = Y(n,c) }",
     {{"N", 4}, {"C", 7}}},
    {"def f(float(M,K) no, float(K,N) fi) -> (m_o) { m_o(ni,y) +=! no(ni,f) * fi(f,y) }",
     {{"M", 5}, {"K", 7}, {"N", 6}}},
    {"def f(float(M,K) no, float(K,N) fi) -> (ni) { yo(k,y) = fi(k,y) * 2  ni(n,y) max=! no(n,k) + yo(k,y) }",
     {{"M", 5}, {"K", 8}, {"N", 6}}},
    {"def f(float(N,C,H,W) I) -> (O) { O(n,c,h,w) max=! I(n,c,2*h+kh,2*w+kw) where kh in 0:2, kw in 0:2 }",
     {{"N", 1}, {"C", 5}, {"H", 6}, {"W", 4}}},
};

class RandomLayout {
 public:
  explicit RandomLayout(std::uint64_t seed) : random_(seed) {}

  /// Some steps for a tensor of \p extents of at most 5000 places.
  layout::Layout operator()(layout::Extents extents) {
    layout::Layout result;
    for (auto steps = pick(4); steps > 0 && !extents.empty(); --steps) {
      const auto step = random_step(extents);
      const auto behind = layout::extents_behind(step, extents);
      if (std::accumulate(behind.begin(), behind.end(), std::int64_t{1}, std::multiplies<>()) > 5000) continue;
      result = result.then(step);
      extents = behind;
    }
    return pick(3) == 0 ? result.filled(layout::Fill::Zero) : result;
  }
  std::int64_t pick(std::int64_t count) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(count));
  }

 private:
  layout::Primitive random_step(const layout::Extents& extents) {
    const auto rank = static_cast<std::int64_t>(extents.size());
    const auto dim = static_cast<std::size_t>(pick(rank));
    switch (pick(7)) {
      case 0:
      case 1:
        return layout::Split{dim, {2 + pick(3)}};
      case 2:
        return layout::Split{dim, {2, 1 + pick(3)}};
      case 3:
        if (dim + 1 < extents.size()) return layout::Fuse{dim, 2};
        return layout::Pad{dim, pick(3), pick(3)};
      case 4: {
        const std::int64_t stride = 1 + pick(4);
        return layout::Unfold{dim, stride + pick(4), stride};
      }
      default: {
        std::vector<std::size_t> order(extents.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), random_);
        return layout::Reorder{order};
      }
    }
  }

  std::mt19937_64 random_;
};

/// Random layouts of all tensors of \p def: empty if it computes the same in them, or cannot be run.
std::string run(const SizedDef& def, std::uint64_t seed, int& refused) {
  RandomLayout random(seed);
  layout::Layouts layouts;
  std::string all;
  for (const auto& [name, box] : def.function.ranges.tensors) {
    layout::Extents extents;
    for (const auto& range : lang::evaluate_box(box, def.sizes)) extents.push_back(range.extent);
    if (extents.empty() || random.pick(4) == 0) continue;
    layouts.of[name] = random(extents);
    all += name + ": " + to_string(layouts.of[name]) + "\n";
  }
  try {
    const std::string difference = compare_layouts(def, layouts, seed);
    return difference.empty() ? "" : all + difference;
  } catch (const OptionsError&) {
    ++refused;
    return "";
  } catch (const ArgumentError&) {
    return "";
  } catch (const Error& error) {
    return all + error.what();
  }
}

/// TC_LAYOUT_SEEDS layouts from TC_LAYOUT_FIRST on.
TEST(RandomLayouts, OfProductsConvolutionsStencilsAndAttention) {
  const std::uint64_t begin = from_environment("TC_LAYOUT_FIRST", 1), count = from_environment("TC_LAYOUT_SEEDS", 30);
  int refused = 0;
  for (std::uint64_t seed = begin; seed < begin + count; ++seed) {
    const Sized& program = programs[seed % programs.size()];
    EXPECT_EQ(run(sized_def(program.text, program.sizes), seed, refused), "") << "seed " << seed << "\n"
                                                                              << program.text;
  }
  EXPECT_LT(static_cast<std::uint64_t>(refused), count / 4 + 1);
}

/// The same for random programs.
TEST(RandomLayouts, OfRandomPrograms) {
  const std::uint64_t begin = from_environment("TC_LAYOUT_FIRST", 1), count = from_environment("TC_LAYOUT_SEEDS", 30);
  RandomOptions options;
  options.max_points = 400;
  options.calls = false;
  options.inexact = false;
  int refused = 0;
  std::uint64_t compared = 0;
  for (std::uint64_t seed = begin; seed < begin + count; ++seed) {
    const auto program = random_program(seed, options);
    if (program.contraction) continue;
    try {
      const SizedDef def = sized_def(program.text(), program.sizes);
      check_preconditions(def.function.ranges, def.sizes);
      ++compared;
      EXPECT_EQ(run(def, seed, refused), "") << program.describe();
    } catch (const SemanticError&) {
      continue;
    } catch (const ArgumentError&) {
      continue;
    }
  }
  EXPECT_GT(compared, static_cast<std::uint64_t>(refused));
}

}  // namespace
}  // namespace tc::test
