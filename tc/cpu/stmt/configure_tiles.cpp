#include "tc/cpu/stmt/configure_tiles.h"

#include <algorithm>

#include "tc/halide_bridge/stmt/flatten.h"
#include "tc/halide_bridge/stmt/function_call.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

using halide_bridge::function_call;

const char* const configure = "tc_tile_configure";

const ir::Call* configuration(const Stmt& stmt) {
  const auto* evaluate = stmt.as<ir::Evaluate>();
  const auto* call = evaluate ? evaluate->value.as<ir::Call>() : nullptr;
  return call && call->name == configure ? call : nullptr;
}

bool is_constant(const ir::Call* call) {
  return std::all_of(call->args.begin(), call->args.end(), [](const Expr& e) { return ir::is_const(e); });
}

/// The configurations below a statement, each once, and whether a parallel loop is there.
class Found : public ir::IRVisitor {
 public:
  std::vector<const ir::Call*> calls;
  bool parallel = false;

  explicit Found(const Stmt& stmt) { stmt.accept(this); }
  /// One configuration that can stand in front of the statement.
  bool is_one() const { return calls.size() == 1 && is_constant(calls[0]) && !parallel; }

 private:
  using ir::IRVisitor::visit;

  void visit(const ir::For* op) override {
    parallel = parallel || op->for_type == ir::ForType::Parallel;
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Call* op) override {
    bool known = std::any_of(calls.begin(), calls.end(),
                             [&](const ir::Call* other) { return ir::equal(Expr(other), Expr(op)); });
    if (op->name == configure && !known) calls.push_back(op);
    ir::IRVisitor::visit(op);
  }
};

/// Takes configurations out.
class Strip : public ir::IRMutator {
 private:
  using ir::IRMutator::visit;

  Stmt visit(const ir::Block* op) override {
    std::vector<Stmt> parts, result;
    halide_bridge::flatten(op, parts);
    for (const auto& part : parts)
      if (!configuration(part)) result.push_back(mutate(part));
    return ir::Block::make(result);
  }
};

class Place : public ir::IRMutator {
 public:
  using ir::IRMutator::mutate;

  Stmt mutate(const Stmt& stmt) override {
    if (!stmt.defined()) return stmt;
    Found found(stmt);
    if (found.calls.empty()) return stmt;
    if (found.is_one()) return around(found.calls[0], Strip().mutate(stmt));
    return stmt.as<ir::Block>() ? parts_of(stmt) : ir::IRMutator::mutate(stmt);
  }

 private:
  static Stmt around(const ir::Call* own, const Stmt& body) {
    return ir::Block::make({function_call(configure, own->args), body, function_call("tc_tile_release", {})});
  }

  /// A configuration among the parts of \p block holds up to the next one, wherever that stands.
  Stmt parts_of(const Stmt& block) {
    std::vector<Stmt> parts, result;
    halide_bridge::flatten(block, parts);
    for (std::size_t i = 0; i < parts.size();) {
      const auto* own = configuration(parts[i]);
      if (!own) {
        result.push_back(mutate(parts[i++]));
        continue;
      }
      std::vector<Stmt> users;
      for (++i; i < parts.size() && Found(parts[i]).calls.empty(); ++i) users.push_back(parts[i]);
      result.push_back(around(own, ir::Block::make(users)));
    }
    return ir::Block::make(result);
  }
};

}  // namespace

Stmt configure_call(const std::vector<Expr>& rows, const std::vector<Expr>& bytes) {
  auto words = [](const std::vector<Expr>& values, std::size_t first, std::size_t count, int bits) {
    Expr word = ir::make_zero(Halide::UInt(64));
    for (std::size_t i = 0; i < count; ++i)
      word = word | (Halide::cast(Halide::UInt(64), values[first + i])
                     << ir::make_const(Halide::UInt(64), static_cast<int>(i) * bits));
    return ir::simplify(word);
  };
  return function_call(configure, {words(rows, 0, 8, 8), words(bytes, 0, 4, 16), words(bytes, 4, 4, 16)});
}

Stmt configure_tiles_once(const Stmt& body) { return Place().mutate(body); }

}  // namespace tc::cpu
