#include "tc/halide_bridge/laws/symbolic_body.h"

#include <algorithm>
#include <map>
#include <optional>

#include "tc/base/str.h"
#include "tc/polyhedral/map_grid/barriers.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using polyhedral::Tensor;

/// The addresses that elements of \p tensor have: first and last.
std::pair<std::int64_t, std::int64_t> addresses_of(const Tensor& tensor) {
  std::int64_t low = 0, high = 0;
  for (std::size_t i = 0; i < tensor.extent.size(); ++i) {
    if (tensor.extent[i] == 1) continue;
    auto last = (tensor.extent[i] - 1) * tensor.strides[i];
    (last < 0 ? low : high) += last;
    if (tensor.extent[i] <= 0) return {0, -1};
  }
  return {low, high};
}

const ir::Call* as_shuffle(const Expr& expr) {
  const auto* call = expr.as<ir::Call>();
  return call && call->name == "tc_shuffle_xor" ? call : nullptr;
}

/// How many neighbouring threads exchange values in \p expr: 1 where it is each thread's own.
std::int64_t exchanging_threads(const Expr& expr) {
  struct Farthest : ir::IRVisitor {
    using ir::IRVisitor::visit;
    std::int64_t threads = 1;
    void visit(const ir::Call* op) override {
      ir::IRVisitor::visit(op);
      if (as_shuffle(op)) threads = std::max(threads, 2 * *ir::as_const_int(op->args[1]));
    }
  } farthest;
  expr.accept(&farthest);
  return farthest.threads;
}

bool is_strict(const Expr& value) {
  const auto* call = value.as<ir::Call>();
  return call && call->is_intrinsic(ir::Call::strict_float);
}

}  // namespace

template <typename Run>
auto SymbolicBody::as(std::int64_t number, const Run& run) {
  thread_ = number;
  auto& thread = threads_[static_cast<std::size_t>(number)];
  std::swap(evaluator_.variables, thread.variables);
  auto result = run(thread);
  std::swap(evaluator_.variables, thread.variables);
  return result;
}

SymbolicBody::SymbolicBody(const ir::Stmt& body, const polyhedral::Scop& scop, const ThreadGrid& threads)
    : body_(body),
      grid_(threads),
      evaluator_([this](const ir::Load& load, const SymbolicValue& address, const SymbolicValue& runs,
                        bool certain) { return read(load, address, runs, certain); },
                 [](const auto&, const auto&) -> SymbolicLane { throw Undecided(); }),
      memory_(scop),
      units_({[this](const Expr& index, std::int64_t thread) {
                return as(thread, [&](Thread&) { return number(index); });
              },
              [this](const std::string& buffer, std::int64_t address, std::int64_t thread) {
                check(buffer, address, "reads");
                return memory_.read(buffer, address, thread);
              },
              [this](const std::string& buffer, std::int64_t address, const Symbols& from, std::int64_t thread) {
                check(buffer, address, "writes");
                memory_.write(buffer, address, from, thread);
              }}) {
  for (const auto& tensor : scop.tensors) addresses_[tensor.name] = addresses_of(tensor);
}

const SymbolicMemory& SymbolicBody::run() {
  for (std::int64_t block = 0; block < grid_.blocks(); ++block) {
    threads_.assign(static_cast<std::size_t>(grid_.threads()), {{}, {{body_.get()}}});
    for (std::int64_t thread = 0; thread < grid_.threads(); ++thread)
      for (const auto& [name, coordinate] : grid_.coordinates(block, thread))
        threads_[static_cast<std::size_t>(thread)].variables[name] = {{coordinate, {}}};
    if (!run_in_lock_step(grid_.threads(), {[this](auto thread) { return advance(thread); },
                                            [this](auto first, auto last) { meet(first, last); }}))
      broken("threads of the body wait for threads that do not come");
  }
  return memory_;
}

std::optional<Meeting> SymbolicBody::advance(std::int64_t number) {
  return as(number, [&](Thread& thread) {
    std::optional<Meeting> meeting;
    while (!meeting && !thread.under_way.empty()) meeting = step(thread);
    return meeting;
  });
}

/// Runs the innermost statement under way as far as it goes without those that it has inside.
std::optional<Meeting> SymbolicBody::step(Thread& thread) {
  const auto* stmt = thread.under_way.back().stmt;
  if (stmt->node_type == ir::IRNodeType::For) {
    step_loop(static_cast<const ir::For*>(stmt), thread);
    return std::nullopt;
  }
  thread.under_way.pop_back();
  auto enter = [&](const ir::Stmt& inner) {
    if (inner.defined()) thread.under_way.push_back({inner.get()});
  };
  switch (stmt->node_type) {
    case ir::IRNodeType::Block:
      enter(static_cast<const ir::Block*>(stmt)->rest);
      enter(static_cast<const ir::Block*>(stmt)->first);
      return std::nullopt;
    case ir::IRNodeType::IfThenElse: {
      const auto* op = static_cast<const ir::IfThenElse*>(stmt);
      enter(number(op->condition) ? op->then_case : op->else_case);
      return std::nullopt;
    }
    case ir::IRNodeType::Allocate:
      allocate(static_cast<const ir::Allocate*>(stmt));
      enter(static_cast<const ir::Allocate*>(stmt)->body);
      return std::nullopt;
    case ir::IRNodeType::Store:
      store(static_cast<const ir::Store*>(stmt));
      return std::nullopt;
    case ir::IRNodeType::LetStmt:
      return step_let(static_cast<const ir::LetStmt*>(stmt), thread);
    case ir::IRNodeType::Evaluate:
      return step_call(static_cast<const ir::Evaluate*>(stmt), thread);
    default:
      throw Undecided();
  }
}

/// A thread's buffer begins anew. One that threads share may have more room than elements, where these are permuted.
void SymbolicBody::allocate(const ir::Allocate* op) {
  if (op->memory_type == Halide::MemoryType::GPUShared) {
    addresses_[op->name] = {0, op->constant_allocation_size() - 1};
  } else {
    memory_.forget(op->name, thread_);
    units_.forget(op->name, thread_);
  }
}

void SymbolicBody::step_loop(const ir::For* op, Thread& thread) {
  auto& frame = thread.under_way.back();
  if (!std::exchange(frame.entered, true)) {
    frame.next = number(op->min);
    frame.end = frame.next + number(op->extent);
  }
  if (frame.next >= frame.end) return thread.under_way.pop_back();
  evaluator_.variables[op->name] = {{frame.next++, {}}};
  thread.under_way.push_back({op->body.get()});
}

std::optional<Meeting> SymbolicBody::step_let(const ir::LetStmt* op, Thread& thread) {
  thread.under_way.push_back({op->body.get()});
  if (auto threads = exchanging_threads(op->value); threads > 1) {
    thread.combines = op;
    return Meeting{op, threads};
  }
  evaluator_.variables[op->name] = evaluator_(op->value);
  return std::nullopt;
}

std::optional<Meeting> SymbolicBody::step_call(const ir::Evaluate* op, Thread& thread) const {
  const auto* call = op->value.as<ir::Call>();
  if (call && SymbolicUnits::is_unit(*call)) {
    thread.unit = call;
    return Meeting{op, SymbolicUnits::threads_of(*call)};
  }
  if (!call || !polyhedral::is_barrier(call->name)) return std::nullopt;
  return Meeting{op, call->name == polyhedral::warp_barrier ? grid_.warp_size : grid_.threads()};
}

void SymbolicBody::meet(std::int64_t first, std::int64_t last) {
  if (const auto* unit = std::exchange(threads_[static_cast<std::size_t>(first)].unit, nullptr)) {
    if (last - first != SymbolicUnits::threads_of(*unit)) broken("a matrix unit runs without all of its warps");
    for (auto i = first; i < last; ++i) threads_[static_cast<std::size_t>(i)].unit = nullptr;
    return units_.run(*unit, first);
  }
  const auto* op = threads_[static_cast<std::size_t>(first)].combines;
  if (!op) return;
  auto values = together(op->value, first, last);
  for (auto i = first; i < last; ++i) {
    auto& thread = threads_[static_cast<std::size_t>(i)];
    thread.variables[op->name] = values[static_cast<std::size_t>(i - first)];
    thread.combines = nullptr;
  }
}

/// The values of \p expr in the threads from \p first to \p last - 1, which exchange some.
std::vector<SymbolicValue> SymbolicBody::together(const Expr& expr, std::int64_t first, std::int64_t last) {
  if (const auto* let = expr.as<ir::Let>()) {
    auto values = together(let->value, first, last);
    for (auto i = first; i < last; ++i)
      threads_[static_cast<std::size_t>(i)].variables[let->name] = values[static_cast<std::size_t>(i - first)];
    return together(let->body, first, last);
  }
  if (const auto* shuffle = as_shuffle(expr)) {
    auto values = together(shuffle->args[0], first, last), result = values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      auto partner = i ^ static_cast<std::size_t>(*ir::as_const_int(shuffle->args[1]));
      if (partner >= values.size()) broken("a thread exchanges its value with none");
      result[i] = values[partner];
    }
    return result;
  }
  if (exchanging_threads(expr) > 1) throw Undecided();
  std::vector<SymbolicValue> result;
  for (auto i = first; i < last; ++i) result.push_back(as(i, [&](Thread&) { return evaluator_(expr); }));
  return result;
}

std::int64_t SymbolicBody::number(const Expr& expr) {
  auto value = evaluator_(expr);
  if (value.size() != 1 || !value[0].number) throw Undecided();
  return *value[0].number;
}

void SymbolicBody::check(const std::string& buffer, std::int64_t address, const char* what) const {
  auto found = addresses_.find(buffer);
  if (found == addresses_.end()) broken(str("the body ", what, " '", buffer, "', which is no tensor"));
  if (address < found->second.first || address > found->second.second)
    broken(str("the body ", what, " ", buffer, "[", address, "], outside of it"));
}

/// Has \p buffer no elements? What reads one does not run: the check of the subscript that finds it fails.
bool SymbolicBody::is_empty(const std::string& buffer) const {
  auto found = addresses_.find(buffer);
  return found != addresses_.end() && found->second.first > found->second.second;
}

SymbolicValue SymbolicBody::read(const ir::Load& load, const SymbolicValue& address, const SymbolicValue& runs,
                                 bool certain) const {
  if (is_empty(load.name)) return SymbolicValue(address.size(), {std::nullopt, {SymbolicMemory::any_of(load.name)}});
  SymbolicValue result;
  for (std::size_t i = 0; i < address.size(); ++i) {
    const auto& runs_here = runs[runs.size() == 1 ? 0 : i];
    SymbolicLane lane;
    if (runs_here.number != 0) {
      lane.from = address[i].from;
      lane.from.insert(runs_here.from.begin(), runs_here.from.end());
      if (address[i].number && certain && runs_here.number == 1) check(load.name, *address[i].number, "reads");
      lane.from.insert(address[i].number ? memory_.read(load.name, *address[i].number, thread_)
                                         : SymbolicMemory::any_of(load.name));
    }
    result.push_back(std::move(lane));
  }
  return result;
}

/// Which lanes of \p op write: one that a store masks, by selecting what its element holds, leaves it (element.h). A
/// statement may select that too, inside of its strict_float.
SymbolicValue SymbolicBody::running(const ir::Store* op) {
  const auto* masked = is_strict(op->value) ? op->value.as<ir::Call>()->args[0].as<ir::Select>() : nullptr;
  auto is_old = [&](const Expr& value) {
    const auto* load = value.as<ir::Load>();
    return load && load->name == op->name && ir::equal(load->index, op->index);
  };
  if (masked && is_strict(masked->true_value) && is_old(masked->false_value)) return evaluator_(masked->condition);
  if (masked && is_old(masked->true_value) && is_strict(masked->false_value))
    return evaluator_(ir::Not::make(masked->condition));
  return evaluator_(op->predicate);
}

/// Lanes of a kernel's store that each combine something with their own element run one after the other, so that those of one
/// element add up.
bool SymbolicBody::runs_lane_by_lane(const ir::Store* op) const {
  struct Reads : ir::IRVisitor {
    using ir::IRVisitor::visit;
    explicit Reads(const ir::Store& store) : store(store) {}
    const ir::Store& store;
    bool own = false, others = false;
    void visit(const ir::Load* op) override {
      if (op->name == store.name) (ir::equal(op->index, store.index) ? own : others) = true;
      ir::IRVisitor::visit(op);
    }
    void visit(const ir::Shuffle*) override { others = true; }
  } reads(*op);
  if (grid_.warp_size > 1) op->value.accept(&reads);
  return reads.own && !reads.others;
}

void SymbolicBody::store(const ir::Store* op) {
  const bool adds_up = runs_lane_by_lane(op);
  std::map<std::int64_t, Symbols> together;
  auto value = evaluator_(op->value), index = evaluator_(op->index), runs = running(op);
  for (std::size_t i = 0; i < index.size(); ++i) {
    const auto& runs_here = runs[runs.size() == 1 ? 0 : i];
    if (!runs_here.number || !index[i].number) throw Undecided();
    if (!*runs_here.number) continue;
    check(op->name, *index[i].number, "writes");
    const auto& from = value[value.size() == 1 ? 0 : i].from;
    if (adds_up)
      together[*index[i].number].insert(from.begin(), from.end());
    else
      memory_.write(op->name, *index[i].number, from, thread_);
  }
  for (const auto& [address, from] : together) memory_.write(op->name, address, from, thread_);
}

}  // namespace tc::halide_bridge
