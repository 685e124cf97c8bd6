#include "tc/strategy/cost/streamed_tensors.h"

#include <map>
#include <vector>

#include "tc/base/count_product.h"
#include "tc/polyhedral/core/isl.h"

namespace tc::strategy {
namespace {

using polyhedral::Scop;
using polyhedral::Statement;

std::int64_t bytes_of(const polyhedral::Tensor& tensor) {
  std::int64_t result = byte_size(tensor.type);
  for (auto extent : tensor.extent) result = count_product(result, extent);
  return result;
}

/// How statements touch a tensor.
struct Use {
  bool exact = false;  ///< by an access that no data decides
  bool read = false;
  std::vector<const Statement*> writers;
};

std::map<std::string, Use> uses_of(const Scop& scop) {
  std::map<std::string, Use> result;
  for (const auto& statement : scop.statements) {
    for (const auto& read : statement.reads) {
      auto& use = result[polyhedral::range_name(read.relation)];
      use.read = true;
      use.exact = use.exact || read.exact;
    }
    auto& use = result[polyhedral::range_name(statement.write.relation)];
    use.writers.push_back(&statement);
    use.exact = use.exact || statement.write.exact;
  }
  return result;
}

bool is_written_once(const Use& use) {
  if (use.read || use.writers.size() != 1) return false;
  const Statement& writer = *use.writers.front();
  return !writer.accumulates && writer.write.exact && writer.write.relation.is_injective();
}

}  // namespace

std::set<std::string> streamed_tensors(const Scop& scop, const Target& target) {
  const auto uses = uses_of(scop);
  std::int64_t touched = 0;
  std::set<std::string> result;
  for (const auto& [name, use] : uses) {
    const auto& tensor = scop.tensor(name);
    if (tensor.storage == polyhedral::Tensor::Storage::Local) continue;
    const auto bytes = bytes_of(tensor);
    if (use.exact) touched += bytes;
    const bool of_caller = tensor.storage == polyhedral::Tensor::Storage::Argument;
    if (of_caller && bytes > target.l2_bytes && is_written_once(use)) result.insert(name);
  }
  return touched > target.l3_bytes ? result : std::set<std::string>();
}

}  // namespace tc::strategy
