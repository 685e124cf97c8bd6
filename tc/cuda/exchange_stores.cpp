#include "tc/cuda/exchange_stores.h"

#include <map>
#include <optional>
#include <utility>

#include "tc/base/str.h"

namespace tc::cuda {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

constexpr const char* thread = "thread_x";
/// Threads that exchange, elements of 16 bits that each has in one word, and elements of one store.
constexpr int threads = 4, pair = 2, row = threads * pair;

Expr with(const Expr& e, const std::string& variable, const Expr& value) {
  return ir::simplify(ir::substitute(variable, value, e));
}

/// By how much \p e grows with \p variable; none where that is no number.
std::optional<std::int64_t> step(const Expr& e, const std::string& variable) {
  Expr distance = ir::simplify(with(e, variable, ir::Variable::make(Halide::Int(32), variable) + 1) - e);
  const auto* number = ir::as_const_int(distance);
  return number ? std::optional(*number) : std::nullopt;
}

/// The buffers that one store of a kernel writes and nothing else accesses: who has stored an element is then of no matter to its threads.
class StoredOnce : public ir::IRVisitor {
 public:
  static std::set<std::string> of(const Stmt& body) {
    StoredOnce visitor;
    body.accept(&visitor);
    std::set<std::string> result;
    for (const auto& [name, stores] : visitor.stores_)
      if (stores == 1 && !visitor.loaded_.count(name)) result.insert(name);
    return result;
  }

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Load* op) override {
    loaded_.insert(op->name);
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Store* op) override {
    ++stores_[op->name];
    ir::IRVisitor::visit(op);
  }

  std::map<std::string, int> stores_;
  std::set<std::string> loaded_;
};

class Exchange : public ir::IRMutator {
 public:
  Exchange(const std::set<std::string>& aligned, std::set<std::string> stored_once)
      : aligned_(aligned), stored_once_(std::move(stored_once)) {}

 private:
  using ir::IRMutator::visit;

  /// Has \p e one value in all threads of a warp, if loops around it do?
  bool is_uniform(const Expr& e) const {
    struct Finds : ir::IRVisitor {
      using ir::IRVisitor::visit;
      explicit Finds(const std::set<std::string>& varying) : varying(varying) {}
      const std::set<std::string>& varying;
      bool uniform = true;
      void visit(const ir::Load*) override { uniform = false; }
      void visit(const ir::Variable* op) override {
        uniform = uniform && op->name.rfind("thread_", 0) != 0 && varying.count(op->name) == 0;
      }
    } finds(varying_);
    e.accept(&finds);
    return finds.uniform;
  }

  Stmt visit(const ir::For* op) override {
    if (!is_uniform(op->min) || !is_uniform(op->extent)) return op;
    const auto* store = op->body.as<ir::Store>();
    return store && may_exchange(*op, *store) ? exchanged(*op, *store) : ir::IRMutator::visit(op);
  }
  Stmt visit(const ir::IfThenElse* op) override { return is_uniform(op->condition) ? ir::IRMutator::visit(op) : op; }
  Stmt visit(const ir::LetStmt* op) override {
    if (!is_uniform(op->value)) varying_.insert(op->name);
    return ir::IRMutator::visit(op);
  }

  bool may_exchange(const ir::For& loop, const ir::Store& store) const {
    const auto* extent = ir::as_const_int(loop.extent);
    const auto* at = store.index.as<ir::Ramp>();
    if (loop.for_type != ir::ForType::Unrolled || !ir::is_const_zero(loop.min) || !extent || *extent % threads != 0)
      return false;
    if (!at || !ir::is_const_one(at->stride) || at->lanes != pair || !ir::is_const_one(store.predicate)) return false;
    if (store.value.type().bits() != 16 || !aligned_.count(store.name) || !stored_once_.count(store.name)) return false;
    if (step(at->base, thread) != pair || step(at->base, loop.name) != row) return false;
    const auto begin = ir::modulus_remainder(with(at->base, thread, 0));
    return begin.modulus % row == 0 && begin.remainder % row == 0;
  }

  Stmt exchanged(const ir::For& loop, const ir::Store& store) {
    const auto words = str("words_", store.name, count_++);
    const auto part_name = str(loop.name, "_part");
    Expr part = ir::Variable::make(Halide::Int(32), part_name), group = ir::Variable::make(Halide::Int(32), loop.name);
    const auto type = store.value.type().element_of();
    Expr value = ir::substitute(loop.name, group * threads + part, store.value);
    Stmt body = ir::Store::make(words, value, ir::Ramp::make(part * pair, 1, pair), ir::Parameter(),
                                ir::const_true(pair), ir::ModulusRemainder());
    body = ir::For::make(part_name, 0, threads, ir::ForType::Unrolled, loop.device_api, body);
    Expr begin =
        with(with(store.index.as<ir::Ramp>()->base, thread, ir::Variable::make(Halide::Int(32), thread) * threads),
             loop.name, group * threads);
    Stmt move = ir::Evaluate::make(ir::Call::make(Halide::Int(32), "tc_store_exchanged",
                                                  {element(type, store.name, begin), element(type, words, 0)},
                                                  ir::Call::Extern));
    body = ir::Allocate::make(words, type, Halide::MemoryType::Stack, {row}, ir::const_true(),
                              ir::Block::make(body, move));
    const int groups = static_cast<int>(*ir::as_const_int(loop.extent)) / threads;
    return ir::For::make(loop.name, 0, groups, ir::ForType::Unrolled, loop.device_api, body);
  }

  static Expr element(Halide::Type type, const std::string& buffer, const Expr& index) {
    return ir::Load::make(type, buffer, index, Halide::Buffer<>(), ir::Parameter(), ir::const_true(),
                          ir::ModulusRemainder());
  }

  const std::set<std::string>& aligned_;
  std::set<std::string> stored_once_;
  std::set<std::string> varying_;  ///< lets that threads of a warp may have different values of
  int count_ = 0;
};

}  // namespace

Stmt exchange_stores(const Stmt& body, const KernelShape& shape, const std::set<std::string>& aligned) {
  constexpr std::int64_t warp = 32;
  if (shape.block[0] != threads || shape.threads() % warp != 0) return body;
  return Exchange(aligned, StoredOnce::of(body)).mutate(body);
}

}  // namespace tc::cuda
