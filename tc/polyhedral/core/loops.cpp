#include "tc/polyhedral/core/loops.h"

namespace tc::polyhedral {

isl::union_pw_aff from_origin(const isl::union_pw_aff& value, std::int64_t origin, const isl::union_set& domain) {
  if (origin == 0) return value;
  auto everywhere = call(value.ctx(), isl_union_set_universe, domain.copy());
  auto constant =
      call(value.ctx(), isl_union_pw_aff_val_on_domain, everywhere.release(), isl::val(value.ctx(), -origin).release());
  return call(value.ctx(), isl_union_pw_aff_union_add, value.copy(), constant.release());
}

isl::union_set instances_of(const Scop& scop, const std::vector<std::string>& ids) {
  auto result = isl::union_set::empty(scop.ctx());
  for (const auto& id : ids) result = result.unite(scop.statement(id).domain.to_union_set());
  return result;
}

}  // namespace tc::polyhedral
