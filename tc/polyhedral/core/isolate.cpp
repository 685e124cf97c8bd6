#include "tc/polyhedral/core/isolate.h"

#include "tc/base/str.h"
#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {
namespace {

/// The symbolic sizes that the instances at \p node depend on.
std::vector<std::string> size_parameters(const isl::schedule_node& node) {
  std::vector<std::string> result;
  const auto instances = call(node.ctx(), isl_schedule_node_get_domain, node.get());
  const auto space = instances.space();
  for (int i = 0; i < isl_space_dim(space.get(), isl_dim_param); ++i) {
    const std::string name = isl_space_get_dim_name(space.get(), isl_dim_param, static_cast<unsigned>(i));
    if (is_size_parameter(name)) result.push_back(name);
  }
  return result;
}

}  // namespace

isl::schedule_node isolate(const isl::schedule_node& node, const std::vector<std::string>& conditions) {
  if (conditions.empty()) return node;
  std::vector<std::string> outer, here;
  for (int i = 0; i < isl_schedule_node_get_schedule_depth(node.get()); ++i) outer.push_back(str("o", i));
  for (unsigned i = 0; i < node.as<isl::schedule_node_band>().n_member(); ++i) here.push_back(str("t", i));
  auto option = str("[", join(size_parameters(node)), "] -> { isolate[[", join(outer), "] -> [", join(here),
                    "]] : ", join(conditions, " and "), " }");
  return node.as<isl::schedule_node_band>().set_ast_build_options(isl::union_set(node.ctx(), option));
}

}  // namespace tc::polyhedral
