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

/// Builds the schedule of program order. Functions take a leaf and return the node of the same depth.
class ProgramOrder {
 public:
  explicit ProgramOrder(const Scop& scop) : scop_(scop) {}

  /// Statements \p first to \p last, all in the same \p depth loops, which stand above.
  isl::schedule_node run(isl::schedule_node leaf, std::size_t first, std::size_t last, std::size_t depth) const {
    std::vector<std::pair<std::size_t, std::size_t>> parts;
    for (std::size_t s = first; s < last; s = parts.back().second) {
      std::size_t next = s + 1;
      while (next < last && common_loops(at(s), at(next)) > depth) ++next;
      parts.emplace_back(s, next);
    }
    if (parts.size() == 1) return part(leaf, first, last, depth);
    isl::union_set_list filters(scop_.ctx(), static_cast<int>(parts.size()));
    for (const auto& [begin, end] : parts) filters = filters.add(universe(begin, end));
    leaf = leaf.insert_sequence(filters);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto below = leaf.child(static_cast<int>(i)).child(0);
      leaf = part(below, parts[i].first, parts[i].second, depth).ancestor(2);
    }
    return leaf;
  }

 private:
  const Statement& at(std::size_t s) const { return scop_.statements[s]; }

  /// One statement below its own band, or the statements of a loop below the band of its iterator.
  isl::schedule_node part(const isl::schedule_node& leaf, std::size_t first, std::size_t last,
                          std::size_t depth) const {
    if (at(first).loops.size() <= depth) return rest(leaf, at(first));
    isl::union_pw_aff_list member(scop_.ctx(), 1);
    auto iterator = call(scop_.ctx(), isl_union_pw_aff_empty_ctx, scop_.ctx().get());
    for (std::size_t s = first; s < last; ++s)
      iterator = iterator.union_add(value_of(at(s), at(s).loops[depth].iterator));
    return run(leaf.insert_partial_schedule(band({iterator})).child(0), first, last, depth + 1).parent();
  }

  /// The band of the iterators of \p statement that no loop runs.
  isl::schedule_node rest(const isl::schedule_node& leaf, const Statement& statement) const {
    std::vector<isl::union_pw_aff> members;
    for (int d = 0; d < static_cast<int>(dimensions(statement.domain)); ++d) {
      const bool is_loop = std::any_of(statement.loops.begin(), statement.loops.end(),
                                       [&](const Statement::OrderedLoop& loop) { return loop.iterator == d; });
      if (!is_loop) members.push_back(value_of(statement, d));
    }
    return members.empty() ? leaf : leaf.insert_partial_schedule(band(members));
  }

  static isl::union_pw_aff value_of(const Statement& statement, int iterator) {
    return isl::union_pw_aff(isl::pw_aff(isl::multi_aff::identity_on_domain(statement.domain.space()).at(iterator)));
  }

  isl::multi_union_pw_aff band(const std::vector<isl::union_pw_aff>& members) const {
    isl::union_pw_aff_list list(scop_.ctx(), static_cast<int>(members.size()));
    for (const auto& member : members) list = list.add(member);
    const auto size = static_cast<unsigned>(members.size());
    const auto space = call(scop_.ctx(), isl_space_set_alloc, scop_.ctx().get(), 0u, size);
    return isl::multi_union_pw_aff(space, list);
  }

  /// All instances there could be of statements \p first to \p last.
  isl::union_set universe(std::size_t first, std::size_t last) const {
    auto result = isl::union_set::empty(scop_.ctx());
    for (std::size_t s = first; s < last; ++s)
      result = result.unite(isl::set::universe(at(s).domain.space()).to_union_set());
    return result;
  }

  const Scop& scop_;
};

}  // namespace

bool has_rows_of(const Tensor& tensor, std::int64_t elements) {
  for (std::size_t d = 0; d < tensor.strides.size(); ++d) {
    const bool is_told = d < tensor.stride_variables.size() && !tensor.stride_variables[d].empty();
    if (tensor.strides[d] != 1 && (is_told || tensor.strides[d] % elements != 0)) return false;
  }
  return tensor.aligned;
}

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

std::size_t common_loops(const Statement& a, const Statement& b) {
  std::size_t count = 0;
  while (count < a.loops.size() && count < b.loops.size() && a.loops[count].id == b.loops[count].id) ++count;
  return count;
}

isl::schedule program_order(const Scop& scop) {
  const auto leaf = isl::schedule::from_domain(scop.domain()).root().child(0);
  if (scop.statements.empty()) return leaf.schedule();
  return ProgramOrder(scop).run(leaf, 0, scop.statements.size(), 0).schedule();
}

}  // namespace tc::polyhedral
