#include "tc/polyhedral/map_grid/hold_in_registers.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/core/marks.h"

namespace tc::polyhedral {
namespace {

/// { S[i] -> buffer[the numbers of \p loops] }
isl::pw_multi_aff place(const Statement& statement, const std::vector<OwnLoop>& loops, const std::string& buffer) {
  auto space = statement.domain.space().add_unnamed_tuple(1);
  Nullable<isl::pw_multi_aff> result;
  for (const auto& loop : loops) {
    auto index = call(space.ctx(), isl_union_pw_aff_extract_pw_aff, loop.index.get(), space.copy());
    auto one = call(space.ctx(), isl_pw_multi_aff_from_pw_aff, index.copy());
    result = result.is_null() ? one : result.flat_range_product(one);
  }
  return result.set_range_tuple(buffer).gist(statement.domain);
}

/// 0 for each instance of \p statement.
isl::union_pw_aff only_instance(const Statement& statement) {
  auto ctx = statement.domain.ctx();
  return call(ctx, isl_union_pw_aff_val_on_domain, statement.domain.to_union_set().release(),
              isl::val(ctx, 0).release());
}

}  // namespace

Scop hold_in_registers(const Scop& scop, const std::string& name, const GridTree& tree,
                       const std::vector<int>& inside) {
  auto result = scop;
  const auto& whole = scop.tensor(name);
  Tensor buffer;
  buffer.name = unused_name(scop, "local_" + name);
  buffer.type = whole.type;
  buffer.storage = Tensor::Storage::Local;
  buffer.in_registers = true;
  for (auto& statement : result.statements)
    for (auto* access : accesses(statement)) {
      if (!touches(*access, name)) continue;
      const auto spread = std::find_if(tree.statements.begin(), tree.statements.end(),
                                       [&](const StatementThreads& one) { return one.id == statement.id; });
      if (spread == tree.statements.end() || !spread->numbers)
        throw InternalError(str("statement ", statement.id, " holds '", name, "' and is not run by number"));
      auto own = *spread->numbers;
      if (own.empty()) own.push_back({only_instance(statement), 1});
      buffer.extent.clear();
      for (const auto& loop : own) buffer.extent.push_back(loop.extent);
      access->function = place(statement, own, buffer.name);
    }
  buffer.min.assign(buffer.extent.size(), 0);
  buffer.strides = row_major(buffer.extent);
  result.tensors.push_back(buffer);
  result.schedule = node_at(scop.schedule, inside).insert_mark(marks::allocate(buffer.name)).schedule();
  return result;
}

}  // namespace tc::polyhedral
