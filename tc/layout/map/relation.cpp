#include "tc/base/str.h"
#include "tc/layout/map/primitive.h"

namespace tc::layout {
namespace {

/// The conditions of an isl map from i0, i1, ... to o0, o1, ...
class RelationText {
 public:
  explicit RelationText(const Extents& extents) : extents_(extents) {}

  void operator()(const Split& x) {
    std::string whole = str("o", x.dim);
    for (std::size_t f = 0; f < x.factors.size(); ++f) {
      whole = str("(", x.factors[f], " * ", whole, " + o", x.dim + f + 1, ")");
      within(str("o", x.dim + f + 1), x.factors[f]);
    }
    equal(str("i", x.dim), whole);
    keep_others(x.dim, 1, x.factors.size() + 1);
  }
  void operator()(const Reorder& x) {
    for (std::size_t d = 0; d < x.order.size(); ++d) equal(str("o", d), str("i", x.order[d]));
    outputs_ = extents_.size();
  }
  void operator()(const Fuse& x) {
    std::string whole = str("i", x.first);
    for (std::size_t d = x.first + 1; d < x.first + x.count; ++d)
      whole = str("(", extents_[d], " * ", whole, " + i", d, ")");
    equal(str("o", x.first), whole);
    keep_others(x.first, x.count, 1);
  }
  void operator()(const Unfold& x) {
    equal(str("i", x.dim), str(x.stride, " * o", x.dim, " + o", x.dim + 1));
    within(str("o", x.dim), extents_behind(x, extents_)[x.dim]);
    within(str("o", x.dim + 1), x.size);
    keep_others(x.dim, 1, 2);
  }
  void operator()(const Fold& x) {
    equal(str("o", x.dim), str(x.stride, " * i", x.dim, " + i", x.dim + 1));
    within(str("o", x.dim), x.extent);
    keep_others(x.dim, 2, 1);
  }
  void operator()(const Pad& x) {
    equal(str("o", x.dim), str("i", x.dim, " + ", x.low));
    keep_others(x.dim, 1, 1);
  }
  void operator()(const Unpad& x) {
    equal(str("o", x.dim), str("i", x.dim, " - ", x.low));
    within(str("o", x.dim), extents_[x.dim] - x.low - x.high);
    keep_others(x.dim, 1, 1);
  }
  void operator()(const StoreAt& x) {
    equal(str("o", x.dim), str(x.index));
    keep_others(x.dim, 0, 1);
  }
  void operator()(const DecoupleAt& x) {
    equal(str("i", x.dim), str(x.index));
    keep_others(x.dim, 1, 0);
  }

  std::string text() const {
    std::vector<std::string> in, out, all = conditions_;
    for (std::size_t d = 0; d < extents_.size(); ++d) {
      in.push_back(str("i", d));
      all.push_back(str("0 <= i", d, " < ", extents_[d]));
    }
    for (std::size_t d = 0; d < outputs_; ++d) out.push_back(str("o", d));
    return str("{ [", join(in), "] -> [", join(out), "] : ", all.empty() ? "1 = 1" : join(all, " and "), " }");
  }

 private:
  void equal(const std::string& a, const std::string& b) { conditions_.push_back(str(a, " = ", b)); }
  void within(const std::string& name, std::int64_t extent) {
    conditions_.push_back(str("0 <= ", name, " < ", extent));
  }
  /// The dimensions but inputs [\p at, \p at + \p inputs), which become as many outputs as \p outputs.
  void keep_others(std::size_t at, std::size_t inputs, std::size_t outputs) {
    outputs_ = extents_.size() - inputs + outputs;
    for (std::size_t d = 0; d < extents_.size(); ++d)
      if (d < at || d >= at + inputs) equal(str("o", d < at ? d : d - inputs + outputs), str("i", d));
  }

  const Extents& extents_;
  std::vector<std::string> conditions_;
  std::size_t outputs_ = 0;
};

}  // namespace

std::string relation(const Primitive& primitive, const Extents& extents) {
  RelationText text(extents);
  std::visit(text, primitive);
  return text.text();
}

}  // namespace tc::layout
