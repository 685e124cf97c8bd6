#include "tc/polyhedral/map/contract.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/marks.h"
#include "tc/polyhedral/map/footprint_box.h"
#include "tc/polyhedral/map/local_buffer.h"

namespace tc::polyhedral {
namespace {

/// Is \p tensor a temporary that only statements of \p subtree touch, by exact accesses, not contracted yet?
bool is_private(const Scop& scop, const Subtree& subtree, const Tensor& tensor) {
  if (tensor.storage != Tensor::Storage::Workspace || tensor.live_in || tensor.live_out) return false;
  bool used = false;
  for (const auto& statement : scop.statements) {
    for (const auto* access : accesses(statement)) {
      if (!touches(*access, tensor.name)) continue;
      if (!contains(subtree.statements, statement.id) || !access->exact || range_name(access->function) != tensor.name)
        return false;
      used = true;
    }
  }
  return used;
}

std::int64_t bytes_of(const Tensor& buffer) {
  std::int64_t result = byte_size(buffer.type);
  for (auto extent : buffer.extent) result *= std::max<std::int64_t>(extent, 1);
  return result;
}

/// \p scop with the accesses in \p box to the tensor it is of going to \p buffer, a new tensor.
Scop with_buffer(const Scop& scop, const FootprintBox& box, const Tensor& buffer) {
  auto result = scop;
  for (const auto& [at, place] : box.places)
    accesses(result.statement(at.first)).at(at.second)->function = place.set_range_tuple(buffer.name);
  result.tensors.push_back(buffer);
  return result;
}

/// \p scop with marks that allocate \p buffers at the node at \p place.
Scop allocated(const Scop& scop, const std::vector<std::string>& buffers, const std::vector<int>& place) {
  auto result = scop;
  auto node = node_at(scop.schedule, place);
  for (const auto& buffer : buffers) node = node.insert_mark(marks::allocate(buffer));
  result.schedule = node.schedule();
  return result;
}

}  // namespace

Scop contract(const Scop& scop, const std::vector<int>& inside, const std::vector<int>& place,
              const ClusterState& cluster, const std::vector<std::string>& always, std::int64_t bytes) {
  if (node_at(scop.schedule, inside).isa<isl::schedule_node_leaf>()) return scop;
  const Subtree subtree(scop, inside);
  FirstLanes first_lanes(subtree);
  auto result = scop;
  std::vector<std::string> buffers;
  for (const auto& tensor : scop.tensors) {
    if (!is_private(result, subtree, tensor)) continue;
    auto box = footprint_box(result, subtree, cluster, tensor.name);
    if (!box) continue;
    auto buffer = local_buffer(result, subtree, cluster, tensor, *box, first_lanes);
    bool must = tensor.combined || box->is_circular() || contains(always, tensor.name);
    if (!must && bytes_of(buffer) > bytes) continue;
    if (!must) bytes -= bytes_of(buffer);
    result = with_buffer(result, *box, buffer);
    buffers.push_back(buffer.name);
  }
  return allocated(result, buffers, place);
}

std::optional<Contracted> contract_one(const Scop& scop, const std::vector<int>& inside, const std::string& tensor) {
  if (node_at(scop.schedule, inside).isa<isl::schedule_node_leaf>()) return std::nullopt;
  const Subtree subtree(scop, inside);
  if (!is_private(scop, subtree, scop.tensor(tensor))) return std::nullopt;
  const auto box = footprint_box(scop, subtree, {}, tensor);
  if (!box) return std::nullopt;
  FirstLanes first_lanes(subtree);
  const auto buffer = local_buffer(scop, subtree, {}, scop.tensor(tensor), *box, first_lanes);
  return Contracted{allocated(with_buffer(scop, *box, buffer), {buffer.name}, inside), box->takes_turns()};
}

}  // namespace tc::polyhedral
