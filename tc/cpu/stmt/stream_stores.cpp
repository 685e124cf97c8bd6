#include "tc/cpu/stmt/stream_stores.h"

#include "tc/base/target.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;

const std::string suffix = "'streamed";

class StreamStores : public ir::IRMutator {
 public:
  std::set<std::string> found;

  explicit StreamStores(const std::set<std::string>& tensors) : tensors_(tensors) {}

 private:
  using ir::IRMutator::visit;

  ir::Stmt visit(const ir::Store* op) override {
    const auto* ramp = op->index.as<ir::Ramp>();
    const bool dense = ramp && ir::is_const_one(ramp->stride) && ramp->base.type().is_scalar();
    const bool whole = ir::is_const_one(op->predicate) &&
                       op->value.type().bytes() * op->value.type().lanes() % static_cast<int>(Target::cache_line) == 0;
    if (!tensors_.count(op->name) || !dense || !whole) return op;
    found.insert(op->name);
    return ir::Store::make(op->name + suffix, op->value, op->index, op->param, op->predicate, op->alignment);
  }

  const std::set<std::string>& tensors_;
};

}  // namespace

ir::Stmt stream_stores(const ir::Stmt& body, const std::set<std::string>& tensors) {
  if (tensors.empty()) return body;
  StreamStores stream(tensors);
  ir::Stmt result = stream.mutate(body);
  for (const auto& tensor : stream.found)
    result = ir::LetStmt::make(tensor + suffix, ir::Variable::make(Halide::Handle(), tensor), result);
  return result;
}

bool is_streamed(const std::string& buffer) { return buffer.ends_with(suffix); }

}  // namespace tc::cpu
