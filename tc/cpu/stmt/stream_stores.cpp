#include "tc/cpu/stmt/stream_stores.h"

#include <map>

#include "tc/base/target.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;

const std::string suffix = "'streamed";

/// Stores of whole lines for each of another kind, at least: rows of 1000 floats have 62; rows of 56 have three, and take 1.3 to 3.3
/// times as long past the caches as by ordinary stores (Zen 4, depthwise convolutions of 8x192x56x56).
constexpr double least_whole_stores = 32;
/// Iterations of a loop whose extent is no constant.
constexpr double usual_extent = 16;

/// Does \p store write whole lines of the cache, side by side?
bool is_whole(const ir::Store& store) {
  const auto* ramp = store.index.as<ir::Ramp>();
  const bool dense = ramp && ir::is_const_one(ramp->stride) && ramp->base.type().is_scalar();
  const auto bytes = store.value.type().bytes() * store.value.type().lanes();
  return dense && ir::is_const_one(store.predicate) && bytes % static_cast<int>(Target::cache_line) == 0;
}

/// How often each of some tensors is stored to.
class StoreCounts : public ir::IRVisitor {
 public:
  struct Count {
    double whole = 0, other = 0;
  };
  std::map<std::string, Count> tensors;

 private:
  using ir::IRVisitor::visit;

  void visit(const ir::For* op) override {
    const auto* extent = Halide::Internal::as_const_int(op->extent);
    const auto before = times_;
    times_ *= extent ? static_cast<double>(*extent) : usual_extent;
    op->body.accept(this);
    times_ = before;
  }
  void visit(const ir::Store* op) override {
    auto& count = tensors[op->name];
    (is_whole(*op) ? count.whole : count.other) += times_;
  }

  double times_ = 1;
};

/// Those of \p tensors that \p body stores by whole lines almost everywhere.
std::set<std::string> stored_by_lines(const ir::Stmt& body, const std::set<std::string>& tensors) {
  StoreCounts counts;
  body.accept(&counts);
  std::set<std::string> result;
  for (const auto& [name, count] : counts.tensors)
    if (tensors.count(name) && count.whole >= least_whole_stores * count.other) result.insert(name);
  return result;
}

class StreamStores : public ir::IRMutator {
 public:
  std::set<std::string> found;

  explicit StreamStores(const std::set<std::string>& tensors) : tensors_(tensors) {}

 private:
  using ir::IRMutator::visit;

  ir::Stmt visit(const ir::Store* op) override {
    if (!tensors_.count(op->name) || !is_whole(*op)) return op;
    found.insert(op->name);
    return ir::Store::make(op->name + suffix, op->value, op->index, op->param, op->predicate, op->alignment);
  }

  const std::set<std::string>& tensors_;
};

}  // namespace

ir::Stmt stream_stores(const ir::Stmt& body, const std::set<std::string>& tensors) {
  if (tensors.empty()) return body;
  const auto by_lines = stored_by_lines(body, tensors);
  StreamStores stream(by_lines);
  ir::Stmt result = stream.mutate(body);
  for (const auto& tensor : stream.found)
    result = ir::LetStmt::make(tensor + suffix, ir::Variable::make(Halide::Handle(), tensor), result);
  return result;
}

bool is_streamed(const std::string& buffer) { return buffer.ends_with(suffix); }

}  // namespace tc::cpu
