#include "tc/polyhedral/map_grid/fill_rows.h"

#include <algorithm>
#include <set>
#include <string>

#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/copy_tree.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/nest/kernel_nest.h"

namespace tc::polyhedral {
namespace {

/// The statements and temporaries of a kernel of which rows are filled.
class Filling {
 public:
  Filling(const Scop& scop, const NestSpace& space, const Nest& nest, const FilledRows& rows)
      : scop_(scop), space_(space), nest_(nest), rows_(rows) {
    for (const auto& step : nest.trunk)
      if (const auto* keep = std::get_if<NestKeep>(&step.what); keep && keep->is_temporary) kept_.insert(keep->tensor);
  }

  /// The iterator of statement number \p number that counts rows, where it is to run for more of them; -1: it is not.
  int iterator_of(std::size_t number) const {
    const auto& entry = space_.statements[number].entry;
    const int iterator = entry.outer[static_cast<std::size_t>(rows_.member)];
    const auto& write = scop_.statement(entry.id).write;
    if (iterator < 0 || !is_temporary(range_name(write.relation))) return -1;
    return depends_on(write, iterator) ? iterator : -1;
  }

  bool is_possible() const {
    bool any = false;
    for (std::size_t s = 0; s < space_.statements.size(); ++s) {
      const int iterator = iterator_of(s);
      const auto& statement = scop_.statement(space_.statements[s].entry.id);
      if (iterator < 0 && is_temporary(range_name(statement.write.relation))) return false;
      if (iterator >= 0 && !has_last_row(statement, iterator)) return false;
      any = any || iterator >= 0;
      for (std::size_t read = 0; iterator >= 0 && read < statement.reads.size(); ++read)
        if (!may_read(s, iterator, static_cast<int>(read))) return false;
    }
    return any && reads_written();
  }

  bool is_copied(std::size_t number, int read) const {
    return std::any_of(nest_.trunk.begin(), nest_.trunk.end(), [&](const NestStep& step) {
      const auto* copy = std::get_if<NestSharedCopy>(&step.what);
      return copy && copy->statement == static_cast<int>(number) && copy->read == read;
    });
  }
  bool is_temporary(const std::string& name) const {
    const auto& tensor = scop_.tensor(name);
    return kept_.count(name) > 0 && tensor.storage == Tensor::Storage::Workspace && !tensor.live_in && !tensor.live_out;
  }

 private:
  static bool depends_on(const Access& access, int iterator) {
    return access.function.is_null() ||
           isl_pw_multi_aff_involves_dims(access.function.get(), isl_dim_in, static_cast<unsigned>(iterator), 1) ==
               isl_bool_true;
  }

  /// Other statements may write the rows behind those of a statement that ends before the last one.
  bool has_last_row(const Statement& statement, int iterator) const {
    return box(statement.domain)[static_cast<std::size_t>(iterator)].max == rows_.last;
  }
  bool may_read(std::size_t number, int iterator, int read) const {
    const auto& statement = scop_.statement(space_.statements[number].entry.id);
    const auto& access = statement.reads[static_cast<std::size_t>(read)];
    if (!access.exact) return false;
    if (!depends_on(access, iterator) || is_temporary(range_name(access.relation))) return true;
    return statement.domain.is_subset(access.relation.domain());
  }

  /// Do the filled rows read of temporaries what filled rows write?
  bool reads_written() const {
    auto written = isl::union_set::empty(scop_.ctx());
    for (std::size_t s = 0; s < space_.statements.size(); ++s) {
      const auto& statement = scop_.statement(space_.statements[s].entry.id);
      written = written.unite(elements_of(statement, iterator_of(s), statement.write));
    }
    for (std::size_t s = 0; s < space_.statements.size(); ++s) {
      const int iterator = iterator_of(s);
      const auto& statement = scop_.statement(space_.statements[s].entry.id);
      for (const auto& read : statement.reads)
        if (iterator >= 0 && is_temporary(range_name(read.relation)) &&
            !elements_of(statement, iterator, read).is_subset(written))
          return false;
    }
    return true;
  }
  /// What \p access touches in all rows of \p statement.
  isl::union_set elements_of(const Statement& statement, int iterator, const Access& access) const {
    auto runs = statement.domain.intersect(access.relation.domain());
    if (iterator >= 0) runs = filled(runs, iterator, rows_);
    return runs.apply(access.function.is_null() ? access.relation : access.function.as_map()).to_union_set();
  }

  const Scop& scop_;
  const NestSpace& space_;
  const Nest& nest_;
  const FilledRows rows_;
  std::set<std::string> kept_;
};

/// { S[.., last, ..] -> S[.., row, ..] } for all rows behind the last of the tile, of the space of \p instances.
isl::map behind(const isl::set& instances, int iterator, const FilledRows& rows) {
  const auto names = dimension_names(dimensions(instances));
  auto to = names;
  to[static_cast<std::size_t>(iterator)] = "row";
  const auto name = tuple_name(instances);
  return isl::map(instances.ctx(), str("{ ", name, "[", join(names), "] -> ", name, "[", join(to),
                                       "] : ", names[static_cast<std::size_t>(iterator)], " = ", rows.last, " < row < ",
                                       rows.extent(), " }"));
}

/// \p access of the instances \p domain, which may be more than it had.
Access widened(const Access& access, const isl::set& domain) {
  auto result = access;
  result.relation = access.function.as_map().intersect_domain(domain);
  return result;
}

}  // namespace

isl::set filled(const isl::set& domain, int iterator, const FilledRows& rows) {
  return domain.unite(domain.apply(behind(domain, iterator, rows))).coalesce();
}

std::optional<FilledRows> partial_rows(const NestSpace& space, const Nest& nest) {
  if (!space.has_ordered_loop()) return std::nullopt;
  for (int m = 0; m < static_cast<int>(space.members.size()); ++m) {
    const auto& range = space.members[static_cast<std::size_t>(m)];
    const FilledRows rows{m, range.max, tile_of(space, nest, m)};
    const bool on_threads = !thread_loops(branch_with_threads(nest, {-1, m}), {-1, m}).empty();
    if (!range.symbolic && range.min == 0 && on_threads && range.extent() % rows.tile != 0) return rows;
  }
  return std::nullopt;
}

std::optional<FilledRows> rows_to_fill(const Scop& scop, const NestSpace& space, const Nest& nest) {
  const auto rows = partial_rows(space, nest);
  return rows && Filling(scop, space, nest, *rows).is_possible() ? rows : std::nullopt;
}

Scop fill_rows(const Scop& scop, const NestSpace& space, const Nest& nest, const FilledRows& rows) {
  const Filling filling(scop, space, nest, rows);
  auto result = scop;
  auto all = isl::union_set::empty(scop.ctx());
  for (std::size_t s = 0; s < space.statements.size(); ++s) {
    auto& statement = result.statement(space.statements[s].entry.id);
    const int iterator = filling.iterator_of(s);
    if (iterator < 0) continue;
    const auto before = statement.domain;
    statement.domain = filled(before, iterator, rows);
    statement.write = widened(statement.write, statement.domain);
    for (std::size_t r = 0; r < statement.reads.size(); ++r) {
      auto& read = statement.reads[r];
      const auto& tensor = scop.tensor(range_name(read.relation));
      if (filling.is_copied(s, static_cast<int>(r))) continue;
      if (!filling.is_temporary(tensor.name)) read.function = clamped(read.function, tensor);
      read = widened(read, filled(read.relation.domain().intersect(before), iterator, rows));
    }
    auto& written = result.tensor(range_name(statement.write.relation));
    const auto touched = box(statement.write.relation.range());
    for (std::size_t d = 0; d < touched.size(); ++d)
      written.extent[d] = std::max(written.extent[d], touched[d].max - written.min[d] + 1);
    written.strides = row_major(written.extent);
  }
  const auto with_rows = [&](const isl::union_set& filter) {
    auto wide = filter;
    for (const auto& set : elements(filter.set_list()))
      if (const auto s = space.position(tuple_name(set)); s >= 0)
        if (const int iterator = filling.iterator_of(static_cast<std::size_t>(s)); iterator >= 0)
          wide = wide.unite(set.apply(behind(set, iterator, rows)).to_union_set());
    return wide;
  };
  const auto root = isl::schedule::from_domain(result.domain()).root();
  result.schedule = copy_tree(scop.schedule.root().child(0), root.child(0), with_rows).schedule();
  return result;
}

NestSpace filled_space(const Scop& scop, const NestSpace& space, const Nest& nest, const FilledRows& rows) {
  const Filling filling(scop, space, nest, rows);
  auto result = space;
  auto& member = result.members[static_cast<std::size_t>(rows.member)];
  member.max = rows.extent() - 1;
  for (std::size_t s = 0; s < space.statements.size(); ++s)
    if (const int iterator = filling.iterator_of(s); iterator >= 0)
      result.statements[s].extents[static_cast<std::size_t>(iterator)] = member.extent();
  return result;
}

}  // namespace tc::polyhedral
