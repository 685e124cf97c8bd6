#include "tc/lang/syntax/limits.h"

#include <algorithm>

#include "tc/base/str.h"

namespace tc::lang {
namespace {

/// Goes down a tree until it has seen enough.
class Meter {
 public:
  Meter(const std::map<std::string, Measure>& names, std::size_t most) : names_(names), most_(most) {}

  int depth_of(const ExprPtr& expr) {
    if (++nodes > most_) return 0;
    if (const auto* name = std::get_if<Name>(&expr->node))
      if (const auto known = names_.find(name->id); known != names_.end()) {
        nodes += known->second.nodes - 1;
        return known->second.depth;
      }
    int deepest = 0;
    for (const auto& child : children(expr)) deepest = std::max(deepest, depth_of(child));
    return deepest + 1;
  }

  std::size_t nodes = 0;

 private:
  const std::map<std::string, Measure>& names_;
  std::size_t most_;
};

}  // namespace

void Measure::add(const Measure& part) {
  nodes = std::min(nodes + part.nodes, max_text_nodes + 1);
  depth = std::max(depth, part.depth);
}

Measure measure(const ExprPtr& expr, const std::map<std::string, Measure>& names, std::size_t most) {
  Meter meter(names, most);
  Measure result;
  result.depth = meter.depth_of(expr);
  result.nodes = std::min(meter.nodes, max_text_nodes + 1);
  return result;
}

Measure measure(const Assignment& assignment, std::size_t most) {
  Measure result;
  const auto add = [&](const ExprPtr& expr) { result.add(measure(expr, {}, most)); };
  for (const auto& subscript : assignment.subscripts) add(subscript);
  add(assignment.rhs);
  for (const auto& clause : assignment.clauses)
    std::visit(overloaded{[&](const RangeClause& x) {
                            add(x.low);
                            add(x.high);
                          },
                          [&](const LetClause& x) { add(x.value); }, [&](const ExistsClause& x) { add(x.value); }},
               clause.node);
  return result;
}

}  // namespace tc::lang
