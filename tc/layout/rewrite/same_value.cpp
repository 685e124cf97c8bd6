#include "tc/layout/rewrite/same_value.h"

#include "tc/lang/syntax/print.h"

namespace tc::layout {

using namespace lang;

namespace {

class Comparison {
 public:
  Comparison(const std::map<std::string, std::string>& names, const std::map<std::string, std::string>& tensors)
      : names_(names), tensors_(tensors) {}

  bool same(const ExprPtr& a, const ExprPtr& b) {
    if (const auto* name = std::get_if<Name>(&a->node))
      if (const auto value = names_.find(name->id); value != names_.end()) return print(b) == value->second;
    if (a->node.index() != b->node.index()) return false;
    if (const auto* access = std::get_if<Access>(&a->node)) {
      const auto& other = std::get<Access>(b->node);
      reads.push_back({a, b});
      return tensors_.at(access->tensor) == other.tensor;
    }
    const auto parts = children(a), others = children(b);
    if (parts.size() != others.size()) return false;
    if (parts.empty()) return equal(a, b);
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!same(parts[i], others[i])) return false;
    return equal(with_children(b, parts), a);
  }

  std::vector<ReadPair> reads;

 private:
  const std::map<std::string, std::string>& names_;
  const std::map<std::string, std::string>& tensors_;
};

}  // namespace

std::optional<std::vector<ReadPair>> same_value(const ExprPtr& before, const ExprPtr& after,
                                                const std::map<std::string, std::string>& names,
                                                const std::map<std::string, std::string>& tensors) {
  Comparison comparison(names, tensors);
  if (!comparison.same(before, after)) return std::nullopt;
  return std::move(comparison.reads);
}

}  // namespace tc::layout
