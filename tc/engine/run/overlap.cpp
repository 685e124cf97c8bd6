#include "tc/engine/run/overlap.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::engine {
namespace {

using Wide = __int128;

/// step * x for an integer x in [0, count].
struct Term {
  std::int64_t step = 0;
  std::int64_t count = 0;
};

/// Decides whether a sum of terms can take a value: depth first over the terms from the largest step, pruned by the
/// range and the greatest common divisor of those that remain.
class Search {
 public:
  explicit Search(std::vector<Term> terms) : terms_(std::move(terms)) {
    std::erase_if(terms_, [](const Term& term) { return term.count == 0 || term.step == 0; });
    std::sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.step > b.step; });
    reach_.resize(terms_.size() + 1);
    divisor_.resize(terms_.size() + 1);
    for (std::size_t i = terms_.size(); i-- > 0;) {
      reach_[i] = reach_[i + 1] + Wide(terms_[i].step) * terms_[i].count;
      divisor_[i] = std::gcd(divisor_[i + 1], terms_[i].step);
    }
  }

  /// True also when the search is given up.
  bool can_be(Wide value) { return find(0, value); }

 private:
  bool find(std::size_t i, Wide value) {
    if (value < 0 || value > reach_[i]) return false;
    if (i == terms_.size() || value == 0) return true;
    if (value % divisor_[i] != 0) return false;
    if (--budget_ < 0) return true;
    Wide most = std::min<Wide>(value / terms_[i].step, terms_[i].count);
    Wide beyond = value - reach_[i + 1];
    Wide least = beyond <= 0 ? 0 : (beyond + terms_[i].step - 1) / terms_[i].step;
    for (Wide x = most; x >= least; --x)
      if (find(i + 1, value - x * terms_[i].step)) return true;
    return false;
  }

  std::vector<Term> terms_;
  std::vector<Wide> reach_;
  std::vector<std::int64_t> divisor_;
  int budget_ = 100000;
};

std::int64_t magnitude(std::int64_t value) { return value < 0 ? -value : value; }

/// The bytes of \p view from its lowest address, as terms.
void append_terms(const TensorView& view, std::int64_t size, std::vector<Term>& terms) {
  for (std::size_t i = 0; i < view.shape.size(); ++i)
    terms.push_back({magnitude(view.strides[i]) * size, view.shape[i] - 1});
}

}  // namespace

bool overlaps_itself(const TensorSpec& spec) {
  if (spec.element_count() == 0 || !may_overlap_itself(spec)) return false;
  // Two tuples that differ first in dimension i share an address iff step_i * d_i (d_i >= 1) is a sum of
  // differences of the later dimensions, each in [-(n-1), n-1]; shifted by n-1 these become non-negative.
  for (std::size_t i = 0; i < spec.shape.size(); ++i) {
    if (spec.shape[i] == 1) continue;
    if (spec.strides[i] == 0) return true;
    std::vector<Term> terms{{magnitude(spec.strides[i]), spec.shape[i] - 2}};
    Wide value = -Wide(magnitude(spec.strides[i]));
    for (std::size_t j = i + 1; j < spec.shape.size(); ++j) {
      terms.push_back({magnitude(spec.strides[j]), 2 * (spec.shape[j] - 1)});
      value += Wide(magnitude(spec.strides[j])) * (spec.shape[j] - 1);
    }
    if (Search(std::move(terms)).can_be(value)) return true;
  }
  return false;
}

void check_apart(const TensorSpec& spec, const std::string& name) {
  if (overlaps_itself(spec))
    throw ArgumentError(
        str("output '", name, "' has elements that share memory (", spec, "): pass a tensor whose elements are apart"));
}

bool overlap(const TensorView& a, const TensorView& b) {
  if (a.element_count() == 0 || b.element_count() == 0) return false;
  std::int64_t size_a = byte_size(a.dtype), size_b = byte_size(b.dtype);
  auto span_a = element_span(a), span_b = element_span(b);
  auto low_a = reinterpret_cast<std::intptr_t>(a.data) + span_a.low * size_a;
  auto low_b = reinterpret_cast<std::intptr_t>(b.data) + span_b.low * size_b;
  auto end_a = reinterpret_cast<std::intptr_t>(a.data) + (span_a.high + 1) * size_a;
  auto end_b = reinterpret_cast<std::intptr_t>(b.data) + (span_b.high + 1) * size_b;
  if (end_a <= low_b || end_b <= low_a) return false;
  // low_a + sum_a + p == low_b + sum_b + q, with every b step counted downwards from the end of b.
  std::vector<Term> terms;
  append_terms(a, size_a, terms);
  append_terms(b, size_b, terms);
  terms.push_back({1, size_a - 1});
  terms.push_back({1, size_b - 1});
  return Search(std::move(terms)).can_be(Wide(end_b) - 1 - low_a);
}

TensorSpec normalised(TensorSpec spec) {
  auto dense = row_major_strides(spec.shape);
  if (spec.element_count() == 0) {
    spec.strides = dense;
    return spec;
  }
  std::int64_t next = 1;
  for (std::size_t i = spec.shape.size(); i-- > 0;) {
    if (spec.shape[i] == 1) spec.strides[i] = next;
    next = spec.strides[i] * spec.shape[i];
  }
  return spec;
}

}  // namespace tc::engine
