#include <algorithm>
#include <map>

#include "tc/library/match/expression.h"

namespace tc::library {
namespace {

/// Compares two nodes; iterators of reductions that stand in one place are one.
class Comparison {
 public:
  bool same(const NodePtr& a, const NodePtr& b) {
    return std::visit(
        [&]<typename T>(const T& own) {
          const auto* other = std::get_if<T>(&b->value);
          return other && same(own, *other);
        },
        a->value);
  }

 private:
  bool same(const Affine& a, const Affine& b) const { return substitute(b, renamed_) == a; }
  bool same(const std::vector<Affine>& a, const std::vector<Affine>& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) { return same(x, y); });
  }
  bool same(const Read& a, const Read& b) const { return a.argument == b.argument && same(a.subscripts, b.subscripts); }
  bool same(const Constant& a, const Constant& b) const { return a.value == b.value; }
  bool same(const Apply& a, const Apply& b) {
    return a.function == b.function &&
           std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(),
                      [&](const auto& x, const auto& y) { return same(x, y); });
  }
  bool same(const Guarded& a, const Guarded& b) {
    return same(a.conditions, b.conditions) && same(a.value, b.value) && same(a.otherwise, b.otherwise);
  }
  bool same(const Reduce& a, const Reduce& b) {
    if (a.op != b.op || a.iterators.size() != b.iterators.size()) return false;
    for (std::size_t i = 0; i < a.iterators.size(); ++i) {
      Affine own;
      own.terms[a.iterators[i]] = {1, ""};
      renamed_[b.iterators[i]] = own;
    }
    return same(a.conditions, b.conditions) && same(a.body, b.body);
  }

  std::map<int, Affine> renamed_;
};

}  // namespace

bool is_same(const NodePtr& a, const NodePtr& b) { return Comparison().same(a, b); }

}  // namespace tc::library
