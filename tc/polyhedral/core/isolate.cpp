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

/// The names of the members of the bands around the band \p node, and of its own.
struct MemberNames {
  std::vector<std::string> outer, here;

  explicit MemberNames(const isl::schedule_node& node) {
    for (int i = 0; i < isl_schedule_node_get_schedule_depth(node.get()); ++i) outer.push_back(str("o", i));
    for (unsigned i = 0; i < node.as<isl::schedule_node_band>().n_member(); ++i) here.push_back(str("t", i));
  }
  /// "isolate[[o0, o1] -> [t0]]"
  std::string option() const { return str("isolate[[", join(outer), "] -> [", join(here), "]]"); }
};

}  // namespace

isl::schedule_node isolate(const isl::schedule_node& node, const std::vector<std::string>& conditions) {
  if (conditions.empty()) return node;
  auto option = str("[", join(size_parameters(node)), "] -> { ", MemberNames(node).option(), " : ",
                    join(conditions, " and "), " }");
  return node.as<isl::schedule_node_band>().set_ast_build_options(isl::union_set(node.ctx(), option));
}

isl::schedule_node isolate(const isl::schedule_node& node, const isl::set& wanted) {
  const MemberNames names(node);
  auto all = names.outer;
  all.insert(all.end(), names.here.begin(), names.here.end());
  auto asked = wanted.apply(isl::map(node.ctx(), str("{ [", join(all), "] -> ", names.option(), " }")));
  const auto before = node.as<isl::schedule_node_band>().ast_build_options();
  if (const auto known = before.extract_set(asked.space()); !known.is_empty()) asked = asked.intersect(known);
  return node.as<isl::schedule_node_band>().set_ast_build_options(asked.to_union_set());
}

}  // namespace tc::polyhedral
