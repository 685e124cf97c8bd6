#include "tc/lang/syntax/names_in.h"

namespace tc::lang {

std::set<std::string> names_in(const ExprPtr& expr) {
  std::set<std::string> names;
  for_each_expr(expr, [&](const ExprPtr& part) {
    if (const auto* name = std::get_if<Name>(&part->node)) names.insert(name->id);
  });
  return names;
}

}  // namespace tc::lang
