#include "tc/engine/describe/describe.h"

#include "tc/base/str.h"
#include "tc/engine/define/generic.h"
#include "tc/lang/syntax/print.h"

namespace tc::engine {
namespace {

/// The iterators of \p assignment, left-hand ones first, those of \p ranges alone last.
std::vector<std::string> iterators(const lang::Assignment& assignment,
                                   const std::map<std::string, lang::Range>& ranges) {
  auto result = lang::left_iterators(assignment);
  for (const auto& name : assignment.reduction_iterators) result.push_back(name);
  std::erase_if(result, [&](const auto& name) { return !ranges.count(name); });
  return result;
}

}  // namespace

namespace {

std::vector<std::string> range_lines(const lang::Def& def, const lang::Ranges& ranges, const lang::SizeMap& sizes) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < def.statements.size(); ++i) {
    const auto* assignment = std::get_if<lang::Assignment>(&def.statements[i].node);
    if (!assignment) continue;
    std::vector<std::string> parts;
    for (const auto& name : iterators(*assignment, ranges.statements[i])) {
      const auto& range = ranges.statements[i].at(name);
      auto box = lang::evaluate_box({range}, sizes);
      parts.push_back(str(name, " in [", box[0].min, ", ", box[0].min + box[0].extent, ")"));
    }
    auto left = lang::left_iterators(*assignment);
    auto head = left.empty() ? assignment->target : str(assignment->target, "(", join(left, ","), ")");
    lines.push_back(parts.empty() ? head : str(head, ": ", join(parts)));
  }
  return lines;
}

}  // namespace

std::vector<std::string> describe_ranges(const Function& function, const lang::SizeMap& sizes) {
  return range_lines(function.def, function.ranges, sizes);
}

std::vector<std::string> describe_ranges(const graph::Graph& graph) {
  std::vector<std::string> lines;
  for (const auto& node : graph.nodes) {
    std::vector<std::vector<std::int64_t>> shapes;
    for (auto tensor : node.inputs) shapes.push_back(graph.tensors[tensor].spec.shape);
    const auto head = node.callee.empty() ? std::string() : str(lang::print(node.statements[0]), ": ");
    for (const auto& line : range_lines(node.def->def, node.def->ranges, lang::bind_sizes(node.def->def, shapes)))
      lines.push_back(head + line);
  }
  return lines;
}

std::vector<std::string> describe_preconditions(const graph::Graph& graph) {
  std::vector<std::string> lines;
  for (const auto& name : graph.callees())
    for (const auto& condition : graph.defs->call_free.at(name)->ranges.preconditions)
      lines.push_back(str(name, ": ", lang::print(condition.condition), ": ", condition.reason));
  return lines;
}

std::vector<std::string> describe_preconditions(const Function& function) {
  std::vector<std::string> lines;
  for (const auto& condition : function.ranges.preconditions)
    lines.push_back(str(lang::print(condition.condition), ": ", condition.reason));
  return lines;
}

std::string source_text(const Function& function) {
  if (function.generic) return lang::print(function.generic->def());
  for (const auto& def : function.file->defs)
    if (def.name == function.def.name) return lang::print(def);
  return lang::print(function.def);
}

}  // namespace tc::engine
