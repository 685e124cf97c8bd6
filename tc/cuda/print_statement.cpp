#include <algorithm>

#include "tc/base/ceil_div.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cuda/kernel_printer.h"
#include "tc/cuda/spelling.h"
#include "tc/cuda/swizzled_buffers.h"
#include "tc/cuda/warp_accesses.h"
#include "tc/halide_bridge/stmt/strict.h"

namespace tc::cuda {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using Halide::Type;
using ir::Stmt;

/// A buffer in shared memory begins at a multiple of this, and one that units of groups of warps read.
constexpr std::int64_t shared_alignment = 128, matrix_alignment = 1024;

/// The loads of an expression that are executed whenever it is computed, outside of its lets.
class UnconditionalLoads : public ir::IRVisitor {
 public:
  std::vector<const ir::Load*> loads;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Let* op) override { op->value.accept(this); }
  void visit(const ir::Load* op) override {
    loads.push_back(op);
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Call* op) override {
    if (op->is_intrinsic(ir::Call::if_then_else)) return op->args[0].accept(this);
    ir::IRVisitor::visit(op);
  }
};

/// Does an expression have lets, or pick lanes one by one?
class Contains : public ir::IRVisitor {
 public:
  bool lets = false, shuffles = false;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Let* op) override {
    lets = true;
    ir::IRVisitor::visit(op);
  }
  void visit(const ir::Shuffle* op) override {
    shuffles = shuffles || !(op->is_slice() && op->vectors.size() == 1);
    ir::IRVisitor::visit(op);
  }
};

Contains contents(const Expr& e) {
  Contains visitor;
  e.accept(&visitor);
  return visitor;
}

/// Does each lane of \p value read the buffer that \p store writes at its own place only?
bool keeps_to_its_lane(const Expr& value, const ir::Store& store) {
  struct Reads : ir::IRVisitor {
    using ir::IRVisitor::visit;
    explicit Reads(const ir::Store& store) : store(store) {}
    const ir::Store& store;
    bool own_lane_only = true;
    void visit(const ir::Load* op) override {
      if (op->name == store.name && !ir::equal(op->index, store.index)) own_lane_only = false;
      ir::IRVisitor::visit(op);
    }
  } reads(store);
  value.accept(&reads);
  return reads.own_lane_only;
}

}  // namespace

void KernelPrinter::line(const std::string& text) {
  text_ += std::string(2 * static_cast<std::size_t>(depth_), ' ') + text + "\n";
}

void KernelPrinter::open(const std::string& head) {
  line(head + " {");
  ++depth_;
  names_.open_scope();
}

std::string KernelPrinter::open_lanes(int lanes) {
  line("#pragma unroll");
  names_.open_scope();
  auto lane = names_.fresh("lane");
  line(str("for (int ", lane, " = 0; ", lane, " < ", lanes, "; ++", lane, ") {"));
  ++depth_;
  return lane;
}

void KernelPrinter::close() {
  names_.close_scope();
  --depth_;
  line("}");
}

void KernelPrinter::bind(const std::string& name, std::int64_t low, std::int64_t high) {
  names_.declare(name);
  bound(name, Halide::Int(32), low, high);
}

void KernelPrinter::bound(const std::string& name, Halide::Type type, std::int64_t low, std::int64_t high) {
  bounds_.push(name, {ir::make_const(type, low), ir::make_const(type, high)});
}

void KernelPrinter::statement(const Stmt& stmt) {
  if (const auto* op = stmt.as<ir::Block>()) {
    statement(op->first);
    if (op->rest.defined()) statement(op->rest);
  } else if (const auto* op = stmt.as<ir::Store>()) {
    store(op);
  } else if (const auto* op = stmt.as<ir::For>()) {
    loop(op);
  } else if (const auto* op = stmt.as<ir::IfThenElse>()) {
    branch(op);
  } else if (const auto* op = stmt.as<ir::Allocate>()) {
    allocate(op);
  } else if (const auto* op = stmt.as<ir::LetStmt>()) {
    let_statement(op);
  } else if (const auto* op = stmt.as<ir::Evaluate>()) {
    if (op->value.as<ir::Call>()) line(expr(op->value).text + ";");
  } else if (const auto* op = stmt.as<ir::ProducerConsumer>()) {
    statement(op->body);
  } else {
    throw InternalError(str("a statement that CUDA has no word for: ", stmt));
  }
}

void KernelPrinter::store(const ir::Store* op) {
  Expr plain = halide_bridge::without_strict(op->value);
  if (const auto* call = plain.as<ir::Call>(); call && call->name == "tc_copy_async") {
    const auto* from = call->args.at(0).as<ir::Load>();
    if (!from) throw InternalError(str("an asynchronous copy to '", op->name, "' does not copy an element as it is"));
    return begin_copy(op, from);
  }
  if (op->index.type().is_vector()) return store_vector(op);
  auto value = expr(halide_bridge::without_strict(op->value)), at = index(op->index);
  line(str(identifier(op->name), "[", at.text, "] = ", value.text, ";"));
  loads_.clear();
}

/// Lines that declare the scalar integers which \p value names wherever it is computed; it without them. What loads
/// from memory with a subscript from memory is a load of several elements then.
Expr KernelPrinter::hoist_subscripts(const Expr& value) {
  struct Hoist : ir::IRMutator {
    using ir::IRMutator::visit;
    explicit Hoist(KernelPrinter& printer) : printer(printer) {}
    KernelPrinter& printer;
    Expr visit(const ir::Let* op) override {
      if (op->value.type().is_vector() || !op->value.type().is_int()) return op;
      printer.declare_let(op->name, mutate(op->value));
      return mutate(op->body);
    }
    Expr visit(const ir::Call* op) override {
      return op->is_intrinsic(ir::Call::if_then_else) ? Expr(op) : ir::IRMutator::visit(op);
    }
  } hoist(*this);
  return hoist.mutate(value);
}

/// Bytes that the machine copies asynchronously, at least; a thread copies less itself.
constexpr int narrowest_copy = 4;

void KernelPrinter::begin_copy(const ir::Store* to, const ir::Load* from) {
  int lanes = to->index.type().lanes(), size = from->type.element_of().bytes();
  auto copy = [&](int bytes, const std::string& target, const std::string& source) {
    line(bytes < narrowest_copy ? str("*(", target, ") = *(", source, ");")
                                : str("tc_copy_async_", bytes, "(", target, ", ", source, ");"));
  };
  auto element = [](const std::string& buffer, const std::string& at) { return str("&", buffer, "[", at, "]"); };
  bool at_once = lanes > 1 && moves_at_once(to->name, to->index, to->predicate, from->type.element_of()) &&
                 moves_at_once(from->name, from->index, from->predicate, from->type.element_of());
  if (at_once) {
    moved_at_once_.insert(from->name);
    int step = std::min(lanes, widest_access / size);
    for (int i = 0; i < lanes; i += step) {
      auto offset = i > 0 ? str(" + ", i) : "";
      copy(step * size, address(to->name, to->index) + offset, address(from->name, from->index) + offset);
    }
  } else if (lanes > 1) {
    auto lane = open_lanes(lanes);
    auto runs = to->predicate;
    if (ir::is_const_one(runs)) runs = from->predicate;
    if (!ir::is_const_one(runs)) open(str("if (", element_of(runs, lane).text, ")"));
    copy(size, element(identifier(to->name), element_of(to->index, lane).text),
         element(identifier(from->name), element_of(from->index, lane).text));
    if (!ir::is_const_one(runs)) close();
    close();
  } else {
    copy(size, element(identifier(to->name), index(to->index).text),
         element(identifier(from->name), index(from->index).text));
  }
  loads_.clear();
}

void KernelPrinter::store_vector(const ir::Store* op) {
  Expr value = halide_bridge::without_strict(op->value);
  bool at_once = moves_at_once(op->name, op->index, op->predicate, value.type().element_of());
  bool lane_by_lane = !at_once && keeps_to_its_lane(value, *op) && !contents(value).shuffles;
  bool scoped = !lane_by_lane && (contents(value).lets || contents(op->index).lets);
  if (scoped) open("");
  value = hoist_subscripts(value);
  if (lane_by_lane) hoist_loads(value);
  auto array = lane_by_lane ? std::string() : vector_value(value, op->name);
  if (at_once) {
    moved_at_once_.insert(op->name);
    line(str("tc_store(", address(op->name, op->index), ", ", array, ");"));
  } else {
    auto lane = open_lanes(op->index.type().lanes());
    if (!ir::is_const_one(op->predicate)) open(str("if (", element_of(op->predicate, lane).text, ")"));
    auto element = lane_by_lane ? element_of(value, lane).text : str(array, "[", lane, "]");
    line(str(identifier(op->name), "[", element_of(op->index, lane).text, "] = ", element, ";"));
    if (!ir::is_const_one(op->predicate)) close();
    close();
  }
  loads_.clear();
  if (scoped) close();
}

bool KernelPrinter::moves_at_once(const std::string& buffer, const Expr& index, const Expr& predicate,
                                  const Type& element) const {
  return !local_.count(buffer) && !unaligned_.count(buffer) && cuda::moves_at_once(index, predicate, element);
}

/// Lines that load what \p value needs and memory can give at once.
void KernelPrinter::hoist_loads(const Expr& value) {
  UnconditionalLoads found;
  value.accept(&found);
  for (const auto* load : found.loads) {
    Expr expression(load);
    if (load->type.is_scalar() || contents(load->index).lets) continue;
    if (!moves_at_once(load->name, load->index, load->predicate, load->type.element_of())) continue;
    bool known = false;
    for (auto& [other, array] : loads_)
      if (ir::equal(other, expression)) {
        if (!other.same_as(expression)) loads_.emplace_back(expression, std::string(array));
        known = true;
        break;
      }
    if (known) continue;
    auto array = names_.fresh(load->name + "_vector");
    line(str("const auto ", array, " = tc_load<", load->type.lanes(), ">(", address(load->name, load->index), ");"));
    loads_.emplace_back(expression, array);
    moved_at_once_.insert(load->name);
  }
}

std::string KernelPrinter::vector_value(const Expr& value, const std::string& wish) {
  hoist_loads(value);
  for (const auto& [load, array] : loads_)
    if (load.same_as(value)) return array;
  auto array = names_.fresh(wish + "_vector");
  int lanes = value.type().lanes();
  line(str("tc_vector<", type_name(value.type()), ", ", lanes, "> ", array, ";"));
  if (contents(value).shuffles) {
    for (int i = 0; i < lanes; ++i) line(str(array, "[", i, "] = ", element_of(value, str(i)).text, ";"));
    return array;
  }
  auto lane = open_lanes(lanes);
  auto element = element_of(value, lane);
  line(str(array, "[", lane, "] = ", element.text, ";"));
  close();
  return array;
}

void KernelPrinter::loop(const ir::For* op) {
  auto min = index(op->min), extent = index(op->extent);
  if (op->for_type == ir::ForType::Unrolled) line("#pragma unroll");
  names_.open_scope();
  auto name = names_.declare(op->name);
  auto end = ir::is_const_zero(op->min) ? extent.text : index(op->min + op->extent).text;
  line(str("for (int ", name, " = ", min.text, "; ", name, " < ", end, "; ++", name, ") {"));
  ++depth_;
  Expr low = ir::find_constant_bound(op->min, ir::Direction::Lower, bounds_);
  Expr high = ir::find_constant_bound(op->min + op->extent - 1, ir::Direction::Upper, bounds_);
  ir::Interval interval = ir::Interval::everything();
  if (low.defined()) interval.min = low;
  if (high.defined()) interval.max = high;
  ir::ScopedBinding<ir::Interval> bound(bounds_, op->name, interval);
  statement(op->body);
  --depth_;
  names_.close_scope();
  line("}");
}

void KernelPrinter::branch(const ir::IfThenElse* op) {
  open(str("if (", index(op->condition).text, ")"));
  statement(op->then_case);
  if (op->else_case.defined()) {
    names_.close_scope();
    --depth_;
    line("} else {");
    ++depth_;
    names_.open_scope();
    statement(op->else_case);
  }
  close();
}

void KernelPrinter::allocate(const ir::Allocate* op) {
  std::int64_t count = 1;
  for (const Expr& extent : op->extents) {
    const auto* number = ir::as_const_int(extent);
    if (!number)
      throw InternalError(str("the local buffer '", op->name, "' has an extent that is not known: ", extent));
    count *= *number;
  }
  auto type = type_name(op->type);
  auto name = names_.declare(op->name);
  if (op->memory_type == Halide::MemoryType::GPUShared) {
    if (described_buffers(op->body).count(op->name) > 0) shared_bytes_ = round_up(shared_bytes_, matrix_alignment);
    line(str(type, "* const ", name, " = tc_shared_memory<", type, ">(", shared_bytes_, ", ", count, ");"));
    auto bytes = count * op->type.bytes();
    shared_bytes_ += round_up(bytes, shared_alignment);
    statement(op->body);
  } else {
    line(str(type, " ", name, "[", count, "];"));
    local_[op->name] = true;
    statement(op->body);
    local_.erase(op->name);
  }
}

void KernelPrinter::let_statement(const ir::LetStmt* op) {
  declare_let(op->name, op->value);
  loads_.clear();
  statement(op->body);
}

/// Lines that declare a let: a value, one lane's value inside of a lane loop, or an array of lanes.
void KernelPrinter::declare_let(const std::string& name, const Expr& value) {
  if (value.type().is_vector() && lane_.empty()) {
    auto array = vector_value(value, name);
    arrays_[name] = true;
    names_.alias(name, array);
    return;
  }
  arrays_.erase(name);
  auto text = expr(value).text;
  line(str("const ", type_name(value.type()), " ", names_.declare(name), " = ", text, ";"));
  if (value.type() == Halide::Int(32)) {
    Expr low = ir::find_constant_bound(value, ir::Direction::Lower, bounds_),
         high = ir::find_constant_bound(value, ir::Direction::Upper, bounds_);
    ir::Interval interval = ir::Interval::everything();
    if (low.defined()) interval.min = low;
    if (high.defined()) interval.max = high;
    bounds_.push(name, interval);
  }
}

}  // namespace tc::cuda
