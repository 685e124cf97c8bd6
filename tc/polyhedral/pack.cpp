#include "tc/polyhedral/pack.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/polyhedral/cluster_view.h"
#include "tc/polyhedral/instances.h"
#include "tc/polyhedral/surround.h"

namespace tc::polyhedral {
namespace {

/// The copy of the elements that \p statement reads, one instance an element, indexed by the iterators \p used.
Addition copy_statement(const Scop& scop, const Statement& statement, const Access& read, const std::vector<int>& used,
                        const std::string& packed) {
  auto ctx = scop.ctx();
  auto names = dimension_names(dimensions(statement.domain));
  auto box = polyhedral::box(statement.domain);
  std::vector<std::string> own, first;
  for (int i : used) own.push_back(names[i]);
  for (std::size_t i = 0; i < names.size(); ++i)
    first.push_back(std::count(used.begin(), used.end(), static_cast<int>(i)) ? names[i] : str(box[i].min));
  Addition addition;
  addition.host = statement.id;
  auto& copy = addition.statement;
  copy.id = unused_name(scop, "pack_" + range_name(read.relation));
  auto tuple = str(copy.id, "[", join(own), "]");
  copy.body = Statement::Body::Copy;
  copy.iterators = own;
  copy.domain = statement.domain.apply(isl::map(ctx, str("{ ", statement.id, "[", join(names), "] -> ", tuple, " }")));
  addition.like = isl::multi_aff(ctx, str("{ ", tuple, " -> ", statement.id, "[", join(first), "] }"));
  auto function = read.function.pullback(addition.like.to_pw_multi_aff());
  Access memory{function.as_map().intersect_domain(copy.domain), true, function};
  copy.write = redirect(memory, packed);
  copy.reads = {memory};
  return addition;
}

}  // namespace

std::vector<int> index_iterators(const Statement& statement, int read) {
  const auto& access = statement.reads.at(read);
  std::vector<int> result;
  if (!access.exact || access.function.is_null() || !access.function.isa_multi_aff()) return {};
  for (const auto& index : elements(access.function.as_multi_aff().list())) {
    auto iterator = only_iterator(isl::union_pw_aff(index), statement.domain);
    bool single = iterator >= 0 && isl_aff_dim(index.get(), isl_dim_div) == 0 &&
                  call(index.ctx(), isl_aff_get_coefficient_val, index.get(), isl_dim_in, iterator).is_one();
    if (!single || std::count(result.begin(), result.end(), iterator)) return {};
    result.push_back(iterator);
  }
  return result;
}

Scop pack(const Scop& scop, const std::vector<int>& place, const PackMapping& choice, int member, std::int64_t step,
          ClusterMapping& cluster) {
  auto result = scop;
  auto& statement = result.statement(choice.statement);
  auto& read = statement.reads.at(choice.read);
  auto used = index_iterators(statement, choice.read);
  auto tensor = scop.tensor(range_name(read.relation));
  tensor.name = unused_name(scop, "packed_" + tensor.name);
  tensor.storage = Tensor::Storage::Workspace;
  tensor.live_in = tensor.live_out = false;
  tensor.strides = row_major(tensor.extent);
  auto copy = copy_statement(scop, statement, read, used, tensor.name);
  auto origin = box(statement.domain)[member].min;
  auto tuple = str(copy.statement.id, "[", join(copy.statement.iterators), "]");
  for (std::size_t i = 0; i < used.size(); ++i) {
    auto name = copy.statement.iterators[i];
    auto index = used[i] == member ? str("(", name, " - ", origin, ") mod ", step) : name;
    copy.loops.push_back(isl::multi_union_pw_aff(scop.ctx(), str("[{ ", tuple, " -> [(", index, ")] }]")));
  }
  cluster.statements.push_back({copy.statement.id, static_cast<int>(used.size()) - 1, choice.lanes});
  read = redirect(read, tensor.name);
  result.tensors.push_back(tensor);
  return surround(result, place, {copy}, {});
}

}  // namespace tc::polyhedral
