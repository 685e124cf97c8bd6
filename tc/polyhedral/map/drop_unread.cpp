#include "tc/polyhedral/map/drop_unread.h"

#include <algorithm>
#include <map>

#include "tc/polyhedral/core/instances.h"

namespace tc::polyhedral {
namespace {

/// Walks over a program, backwards, until one adds nothing: two, or more where a temporary needs earlier elements of a later one.
constexpr int most_walks = 4;

/// The elements of temporaries that are needed.
class Needs {
 public:
  explicit Needs(const Scop& scop) : scop_(scop) {}

  /// Did all walks come to an end?
  bool find() {
    for (int walk = 0; walk < most_walks; ++walk) {
      changed_ = false;
      for (auto statement = scop_.statements.rbegin(); statement != scop_.statements.rend(); ++statement)
        walk_over(*statement);
      if (!changed_) return true;
    }
    return false;
  }

  /// The instances of \p statement that write needed elements.
  isl::set instances(const Statement& statement) const {
    const auto& tensor = scop_.tensor(range_name(statement.write.relation));
    if (statement.loops.empty() || tensor.storage != Tensor::Storage::Workspace || tensor.live_out ||
        !statement.write.exact)
      return statement.domain;
    const auto found = elements_.find(tensor.name);
    if (found == elements_.end()) return statement.domain.subtract(statement.domain);
    return statement.domain.intersect(found->second.apply(statement.write.relation.reverse())).coalesce();
  }

 private:
  void walk_over(const Statement& statement) {
    need_earlier(statement);
    const auto run = instances(statement);
    for (const auto& read : statement.reads) {
      need(read.relation.intersect_domain(run).range());
      if (read.exact && !read.function.is_null()) need_in_iteration(statement, run, read);
    }
  }

  /// What \p read would find of its own iteration in all instances \p run of \p statement, whatever its condition.
  void need_in_iteration(const Statement& statement, const isl::set& run, const Access& read) {
    for (const auto& writer : scop_.statements) {
      const auto loops = common_loops(statement, writer);
      if (loops == 0 || !touches(writer.write, range_name(read.relation))) continue;
      auto pairs = read.function.as_map().intersect_domain(run).apply_range(writer.write.relation.reverse());
      for (std::size_t l = 0; l < loops; ++l)
        pairs = call(pairs.ctx(), isl_map_equate, pairs.copy(), isl_dim_in, statement.loops[l].iterator, isl_dim_out,
                     writer.loops[l].iterator);
      need(pairs.range().apply(writer.write.relation));
    }
  }

  /// What elements of its own tensor \p statement needs, directly or by way of others.
  void need_earlier(const Statement& statement) {
    const auto found = elements_.find(range_name(statement.write.relation));
    if (found == elements_.end()) return;
    for (const auto& read : statement.reads) {
      if (!touches(read, found->first)) continue;
      const auto earlier = statement.write.relation.reverse().apply_range(read.relation);
      isl_bool exact = isl_bool_false;
      const auto all = isl::manage(isl_map_transitive_closure(earlier.copy(), &exact));
      need(found->second.apply(all));
    }
  }

  void need(const isl::set& elements) {
    if (elements.is_empty()) return;
    const std::string name = isl_set_get_tuple_name(elements.get());
    const auto [place, is_new] = elements_.try_emplace(name, elements);
    if (!is_new && elements.is_subset(place->second)) return;
    place->second = place->second.unite(elements).coalesce();
    changed_ = true;
  }

  const Scop& scop_;
  std::map<std::string, isl::set> elements_;
  bool changed_ = false;
};

}  // namespace

Scop drop_unread(const Scop& scop) {
  const auto in_loop = [](const Statement& statement) { return !statement.loops.empty(); };
  if (std::none_of(scop.statements.begin(), scop.statements.end(), in_loop)) return scop;
  Needs needs(scop);
  if (!needs.find()) return scop;
  auto result = scop;
  bool dropped = false;
  for (auto& statement : result.statements) {
    const auto run = needs.instances(statement);
    if (statement.domain.is_subset(run)) continue;
    dropped = true;
    statement.domain = run;
    for (auto* access : accesses(statement)) access->relation = access->relation.intersect_domain(run);
  }
  if (dropped) result.schedule = program_order(result);
  return result;
}

}  // namespace tc::polyhedral
