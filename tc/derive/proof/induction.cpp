#include "tc/derive/proof/induction.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/proof/flatten.h"

namespace tc::derive {

std::string closed_form(const std::string& tensor) { return tensor + "'"; }

bool needs_induction(const Program& before, const Program& after, const std::string& tensor) {
  const auto a = before.find(tensor), b = after.find(tensor);
  return a && b && b->loop && reads_itself(*b) && !reads_itself(*a);
}

Program with_induction(const Program& before, const Program& after, const std::string& tensor,
                       const std::set<std::string>& common) {
  const auto flat = flatten(before, tensor, common);
  const auto source = before.find(tensor);
  Scope closed = *source;
  closed.tensor = closed_form(tensor);
  closed.op = flat.op;
  closed.fill = flat.fill.value_or(source->fill);
  closed.loop = std::nullopt;
  closed.cases.clear();
  for (const auto& part : flat.cases) closed.cases.push_back({part.domain, part.body, part.reads});
  if (closed.cases.empty()) throw Refusal{str("'", tensor, "' is constant")};
  const int dimensions = polyhedral::dimensions(closed.cases.front().domain);
  for (const auto& part : closed.cases)
    if (polyhedral::dimensions(part.domain) != dimensions)
      throw Refusal{str("the cases of '", tensor, "' have different iterators")};
  closed.iterators = dimension_names(dimensions);
  auto own = *after.find(tensor);
  for (auto& part : own.cases)
    for (auto& read : part.reads)
      if (read.tensor == tensor) read.tensor = closed.tensor;
  auto result = after;
  std::replace(result.scopes.begin(), result.scopes.end(), after.find(tensor),
               ScopePtr(std::make_shared<const Scope>(std::move(own))));
  result.scopes.push_back(std::make_shared<const Scope>(std::move(closed)));
  return result;
}

}  // namespace tc::derive
