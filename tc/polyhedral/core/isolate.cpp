#include "tc/polyhedral/core/isolate.h"

#include "tc/base/str.h"
#include "tc/polyhedral/core/isl.h"

namespace tc::polyhedral {

isl::schedule_node isolate(const isl::schedule_node& node, const std::vector<std::string>& conditions) {
  if (conditions.empty()) return node;
  std::vector<std::string> outer, here;
  for (int i = 0; i < isl_schedule_node_get_schedule_depth(node.get()); ++i) outer.push_back(str("o", i));
  for (unsigned i = 0; i < node.as<isl::schedule_node_band>().n_member(); ++i) here.push_back(str("t", i));
  auto option = str("{ isolate[[", join(outer), "] -> [", join(here), "]] : ", join(conditions, " and "), " }");
  return node.as<isl::schedule_node_band>().set_ast_build_options(isl::union_set(node.ctx(), option));
}

}  // namespace tc::polyhedral
