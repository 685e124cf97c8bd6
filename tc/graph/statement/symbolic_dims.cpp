#include "tc/graph/statement/symbolic_dims.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/graph/statement/rewrite_statement.h"
#include "tc/lang/syntax/print.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::graph {
namespace {

bool names_one_of(const lang::ExprPtr& expr, const SizeExprs& symbolic) {
  bool found = false;
  lang::for_each_expr(expr, [&](const lang::ExprPtr& part) {
    const auto* name = std::get_if<lang::Name>(&part->node);
    found = found || (name && symbolic.count(name->id) > 0);
  });
  return found;
}

}  // namespace

SizeExprs symbolic_sizes(const lang::Def& def, const std::vector<Dims>& dims) {
  SizeExprs result;
  for (std::size_t p = 0; p < def.params.size(); ++p)
    for (std::size_t d = 0; d < dims[p].size(); ++d)
      if (const auto* name = std::get_if<lang::Name>(&(*def.params[p].dims)[d]->node); name && dims[p][d])
        result.emplace(name->id, dims[p][d]);
  return result;
}

lang::ExprPtr symbolic_value(const lang::ExprPtr& expr, const lang::SizeMap& sizes, const SizeExprs& symbolic) {
  if (!names_one_of(expr, symbolic)) return nullptr;
  lang::Substitution substitution;
  for (const auto& [name, value] : sizes) substitution.values[name] = literal(value);
  for (const auto& [name, value] : symbolic) substitution.values[name] = value;
  return plain_sizes(lang::substitute(expr, substitution));
}

Dims dims_of(const std::vector<lang::Range>& ranges, const lang::SizeMap& sizes, const SizeExprs& symbolic) {
  Dims result;
  for (const auto& range : ranges) result.push_back(symbolic_value(range.extent, sizes, symbolic));
  if (std::none_of(result.begin(), result.end(), [](const auto& dim) { return dim != nullptr; })) result.clear();
  return result;
}

std::string to_text(const Dims& dims) {
  TextStream out;
  for (const auto& dim : dims) out << (dim ? lang::print(dim) : "") << ", ";
  return out.str();
}

}  // namespace tc::graph
