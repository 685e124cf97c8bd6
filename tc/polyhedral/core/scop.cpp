#include "tc/polyhedral/core/scop.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::polyhedral {
namespace {

const std::string size_prefix = "size_";

/// The element of \p items whose \p key is \p name; \p what says what is searched.
template <typename Items, typename Key>
auto& find(Items& items, Key key, const std::string& name, const char* what) {
  for (auto& item : items)
    if (item.*key == name) return item;
  throw InternalError(str("no ", what, " '", name, "' in the scop"));
}

/// [{ S[i] -> [(i_0)] }, ...]: all iterators of \p domain.
isl::multi_union_pw_aff iterators(const isl::set& domain) {
  auto identity = isl::multi_aff::identity_on_domain(domain.space());
  auto unnamed = call(domain.ctx(), isl_multi_aff_reset_tuple_id, identity.copy(), isl_dim_out);
  return isl::multi_union_pw_aff(unnamed.to_multi_pw_aff());
}

/// All instances there could be of the statement of \p domain.
isl::union_set universe(const isl::set& domain) { return isl::set::universe(domain.space()).to_union_set(); }

/// Adds the band of all iterators of \p domain at the leaf \p node; returns the node of the same depth.
isl::schedule_node insert_iterators(const isl::schedule_node& node, const isl::set& domain) {
  return dimensions(domain) == 0 ? node : node.insert_partial_schedule(iterators(domain));
}

}  // namespace

std::string size_parameter(const std::string& name) { return size_prefix + name; }
bool is_size_parameter(const std::string& parameter) { return parameter.starts_with(size_prefix); }
std::string size_of_parameter(const std::string& parameter) { return parameter.substr(size_prefix.size()); }

const Statement& Scop::statement(const std::string& id) const {
  return find(statements, &Statement::id, id, "statement");
}
Statement& Scop::statement(const std::string& id) { return find(statements, &Statement::id, id, "statement"); }
const Tensor& Scop::tensor(const std::string& name) const { return find(tensors, &Tensor::name, name, "tensor"); }
Tensor& Scop::tensor(const std::string& name) { return find(tensors, &Tensor::name, name, "tensor"); }

bool Scop::has_tensor(const std::string& name) const {
  return std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& tensor) { return tensor.name == name; });
}

isl::union_set Scop::domain() const {
  auto result = isl::union_set::empty(ctx());
  for (const auto& statement : statements) result = result.unite(statement.domain.to_union_set());
  return result;
}

isl::union_map Scop::reads() const {
  auto result = isl::union_map::empty(ctx());
  for (const auto& statement : statements) {
    for (const auto& read : statement.reads) result = result.unite(read.relation.to_union_map());
    if (statement.accumulates) result = result.unite(statement.write.relation.to_union_map());
  }
  return result;
}

isl::union_map Scop::writes() const {
  auto result = isl::union_map::empty(ctx());
  for (const auto& statement : statements) result = result.unite(statement.write.relation.to_union_map());
  return result;
}

isl::set parameter_bounds(const Scop& scop) {
  std::vector<std::string> names, bounds{"0 = 0"};
  for (const auto& parameter : scop.parameters) {
    names.push_back(parameter.name);
    bounds.push_back(str(parameter.min, " <= ", parameter.name, " <= ", parameter.max));
  }
  isl::set result(scop.ctx(), str("[", join(names), "] -> { : ", join(bounds, " and "), " }"));
  return scop.sizes.is_null() ? result : result.intersect(scop.sizes);
}

isl::schedule program_order(const Scop& scop) {
  auto node = isl::schedule::from_domain(scop.domain()).root().child(0);
  const auto& statements = scop.statements;
  if (statements.empty()) return node.schedule();
  if (statements.size() == 1) return insert_iterators(node, statements[0].domain).schedule();
  isl::union_set_list filters(scop.ctx(), static_cast<int>(statements.size()));
  for (const auto& statement : statements) filters = filters.add(universe(statement.domain));
  node = node.insert_sequence(filters);
  for (unsigned i = 0; i < statements.size(); ++i)
    node = insert_iterators(node.child(i).child(0), statements[i].domain).ancestor(2);
  return node.schedule();
}

}  // namespace tc::polyhedral
