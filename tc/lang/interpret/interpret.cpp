#include "tc/lang/interpret/interpret.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <list>
#include <optional>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/interpret/arithmetic.h"
#include "tc/lang/interpret/evaluate.h"
#include "tc/lang/interpret/program_order.h"
#include "tc/lang/syntax/print.h"
#include "tc/lang/syntax/range_check.h"

namespace tc::lang {
namespace {

/// A tensor of the interpreter's own: storage and the bytes behind it.
struct OwnedStorage {
  Storage storage;
  std::vector<std::max_align_t> bytes;
};

std::vector<std::int64_t> extents(const Box& box) {
  std::vector<std::int64_t> shape;
  for (const auto& interval : box) shape.push_back(interval.extent);
  return shape;
}

/// A dense tensor of zeros over \p box.
OwnedStorage allocate(const std::string& name, DType type, const Box& box) {
  OwnedStorage owned{{name, type, box, row_major_strides(extents(box)), nullptr}, {}};
  std::int64_t count = 1;
  for (const auto& interval : box) count *= interval.extent;
  std::size_t bytes = static_cast<std::size_t>(count) * static_cast<std::size_t>(byte_size(type));
  owned.bytes.resize(bytes / sizeof(std::max_align_t) + 1);
  owned.storage.data = owned.bytes.data();
  return owned;
}

/// The caller's tensor over \p box. Throws ArgumentError when it does not fit.
Storage borrow(const std::string& name, DType type, const Box& box, const TensorView& view) {
  TensorSpec expected = contiguous(type, extents(box));
  if (view.dtype != type || view.shape != expected.shape)
    throw ArgumentError(str("'", name, "' must be ", expected, ", the tensor given is ", view));
  return {name, type, box, view.strides, view.data};
}

/// Counts through the points of a box in row-major order, values written to slots.
class Odometer {
 public:
  Odometer(Box box, std::vector<int> slots) : box_(std::move(box)), slots_(std::move(slots)) {}

  /// Calls \p body once a point.
  template <typename F>
  void for_each(std::vector<std::int64_t>& values, F&& body) const {
    for (std::size_t d = 0; d < box_.size(); ++d) {
      if (box_[d].extent <= 0) return;
      value(values, d) = box_[d].min;
    }
    do body();
    while (advance(values));
  }

 private:
  std::int64_t& value(std::vector<std::int64_t>& values, std::size_t d) const {
    return values[static_cast<std::size_t>(slots_[d])];
  }
  bool advance(std::vector<std::int64_t>& values) const {
    for (std::size_t d = box_.size(); d-- > 0;) {
      if (++value(values, d) < box_[d].min + box_[d].extent) return true;
      value(values, d) = box_[d].min;
    }
    return false;
  }

  Box box_;
  std::vector<int> slots_;
};

/// A reduction operator on the values of a type: the identity and the combination.
struct Reducer {
  ReductionOp op;
  DType type;

  std::int64_t identity_integer() const {
    switch (op) {
      case ReductionOp::Product:
      case ReductionOp::And:
        return 1;
      case ReductionOp::Min:
        return highest_integer(type);
      case ReductionOp::Max:
        return lowest_integer(type);
      default:
        return 0;
    }
  }
  double identity_float() const {
    switch (op) {
      case ReductionOp::Product:
        return 1;
      case ReductionOp::Min:
        return std::numeric_limits<double>::infinity();
      case ReductionOp::Max:
        return -std::numeric_limits<double>::infinity();
      default:
        return 0;
    }
  }
  std::int64_t combine(std::int64_t a, std::int64_t b) const {
    switch (op) {
      case ReductionOp::Sum:
        return wrap(type, add_bits(a, b));
      case ReductionOp::Product:
        return wrap(type, mul_bits(a, b));
      case ReductionOp::Min:
        return less(type, b, a) ? b : a;
      case ReductionOp::Max:
        return less(type, a, b) ? b : a;
      case ReductionOp::And:
        return a && b;
      case ReductionOp::Or:
        return a || b;
    }
    return 0;
  }
  double combine(double a, double b) const {
    switch (op) {
      case ReductionOp::Sum:
        return a + b;
      case ReductionOp::Product:
        return a * b;
      case ReductionOp::Min:
        return nan_min(a, b);
      default:
        return nan_max(a, b);
    }
  }
};

/// Does \p statement read its target at other subscripts than it writes?
bool reads_target_elsewhere(const Assignment& statement) {
  bool elsewhere = false;
  for_each_expr(statement.rhs, [&](const ExprPtr& e) {
    auto* access = std::get_if<Access>(&e->node);
    if (!access || access->tensor != statement.target) return;
    bool same = access->subscripts.size() == statement.subscripts.size();
    for (std::size_t d = 0; same && d < access->subscripts.size(); ++d)
      same = equal(access->subscripts[d], statement.subscripts[d]);
    elsewhere = elsewhere || !same;
  });
  return elsewhere;
}

/// Does \p expr read an element that other elements tell?
bool is_indirect(const ExprPtr& expr) {
  const auto* access = std::get_if<Access>(&expr->node);
  bool indirect = false;
  for (const auto& subscript : access ? access->subscripts : std::vector<ExprPtr>())
    for_each_expr(subscript, [&](const ExprPtr& e) { indirect = indirect || std::holds_alternative<Access>(e->node); });
  return indirect;
}

class Interpreter {
 public:
  Interpreter(const Def& def, const Ranges& ranges, const SizeMap& sizes,
              const std::map<std::string, TensorView>& tensors)
      : def_(def), ranges_(ranges) {
    environment_.sizes = sizes;
    environment_.data_dependent.insert(ranges.data_dependent.begin(), ranges.data_dependent.end());
    for (const auto& [name, info] : def.tensors) add_tensor(name, info, tensors);
  }

  void run() {
    if (ranges_.statements.size() != def_.statements.size())
      throw InternalError(
          str(def_.name, ": ranges of ", ranges_.statements.size(), " statements for ", def_.statements.size()));
    in_program_order(def_, ranges_, environment_.sizes, [&](std::size_t i, const std::map<std::string, Range>& ranges) {
      auto* assignment = std::get_if<Assignment>(&def_.statements[i].node);
      if (!assignment) throw InternalError(str(def_.name, ": a call is not inlined"));
      run(*assignment, ranges);
    });
  }

 private:
  void add_tensor(const std::string& name, const TensorInfo& info, const std::map<std::string, TensorView>& tensors) {
    auto range = ranges_.tensors.find(name);
    if (range == ranges_.tensors.end()) throw InternalError(str("tensor '", name, "' has no range"));
    Box box = evaluate_box(range->second, environment_.sizes);
    if (info.role == Role::Temporary) {
      temporaries_.push_back(allocate(name, info.type, box));
      environment_.tensors[name] = &temporaries_.back().storage;
      return;
    }
    auto view = tensors.find(name);
    if (view == tensors.end()) throw ArgumentError(str("tensor '", name, "' of ", def_.name, " is missing"));
    borrowed_.push_back(borrow(name, info.type, box, view->second));
    environment_.tensors[name] = &borrowed_.back();
  }

  /// The box of \p iterators, which get the next free slots.
  Odometer add_iterators(const std::vector<std::string>& iterators, const std::map<std::string, Range>& ranges,
                         Environment& environment) const {
    std::vector<Range> box;
    std::vector<int> slots;
    for (const auto& iterator : iterators) {
      auto found = ranges.find(iterator);
      if (found == ranges.end()) throw InternalError(str("iterator '", iterator, "' has no range"));
      box.push_back(found->second);
      slots.push_back(static_cast<int>(environment.slots.size()));
      environment.slots[iterator] = slots.back();
    }
    return {evaluate_box(box, environment_.sizes), slots};
  }

  void run(const Assignment& statement, const std::map<std::string, Range>& ranges) {
    Environment environment = environment_;
    std::vector<std::string> left_names = left_iterators(statement);
    Odometer left = add_iterators(left_names, ranges, environment);
    Odometer inner = add_iterators(statement.reduction_iterators, ranges, environment);
    const Storage& target = *environment_.tensors.at(statement.target);
    std::optional<OwnedStorage> copy;
    if (reads_target_elsewhere(statement)) {
      copy = copy_of(target);
      environment.tensors[statement.target] = &copy->storage;
    }
    for (const auto& clause : statement.clauses)
      if (const auto* exists = std::get_if<ExistsClause>(&clause.node)) {
        const auto range = as_range_check(exists->value);
        range ? check_range(*range, ranges) : check_exists(exists->value, ranges);
      }
    Value value = compile(statement.rhs, environment);
    if (is_float(target.type) != is_float(value.type))
      throw InternalError(str("a value of ", value.type, " is assigned to '", statement.target, "'"));
    std::vector<std::int64_t> values(environment.slots.size());
    if (is_float(target.type))
      execute(statement, target, left, inner, values, value.floating, load_float, store_float,
              [](const Reducer& reducer) { return reducer.identity_float(); });
    else
      execute(statement, target, left, inner, values, value.integer, load_integer, store_integer,
              [](const Reducer& reducer) { return reducer.identity_integer(); });
  }

  /// The iterators in \p values.
  static std::vector<std::string> iterators_in(const std::vector<ExprPtr>& values,
                                               const std::map<std::string, Range>& ranges) {
    std::vector<std::string> result;
    for (const auto& value : values)
      for_each_expr(value, [&](const ExprPtr& expr) {
        const auto* name = std::get_if<Name>(&expr->node);
        const bool is_new = name && std::find(result.begin(), result.end(), name->id) == result.end();
        if (is_new && ranges.count(name->id)) result.push_back(name->id);
      });
    return result;
  }

  /// Compares the bounds of \p range, at all values of the iterators in them, with the range of its index, unless the statement, of
  /// \p ranges, has no instances.
  void check_range(const RangeCheck& range, const std::map<std::string, Range>& ranges) const {
    Environment environment = environment_;
    for (const auto& [name, each] : ranges)
      if (evaluate_box({each}, environment.sizes).at(0).extent <= 0) return;
    const IntegerRange values = evaluate_box({ranges.at(range.index)}, environment.sizes).at(0);
    const Odometer points = add_iterators(iterators_in({range.low, range.high}, ranges), ranges, environment);
    const auto low = compile(range.low, environment).integer, high = compile(range.high, environment).integer;
    const std::int64_t least = values.min, most = values.min + values.extent;
    std::vector<std::int64_t> slots(environment.slots.size());
    points.for_each(slots, [&] {
      const std::int64_t begin = low(slots.data()), end = high(slots.data());
      const bool fits_low = !reads_element(range.low) || (least <= begin && begin <= most);
      const bool fits_high = !reads_element(range.high) || (least <= end && end <= most);
      const bool ascends = begin <= end || !reads_element(range.low) || !reads_element(range.high);
      if (!fits_low || !fits_high || !ascends)
        throw ArgumentError(str("the range of ", range.index, ", '", print(range.low), ":", print(range.high), "', is ",
                                begin, ":", end, ": it must ascend in [", least, ", ", most,
                                "]; the outputs are unspecified"));
    });
  }

  /// Reads \p value at all values of the iterators in it if what it reads depends on data.
  void check_exists(const ExprPtr& value, const std::map<std::string, Range>& ranges) const {
    Environment environment = environment_;
    bool depends = false;
    for_each_expr(value, [&](const ExprPtr& expr) {
      depends = depends || environment_.data_dependent.count(expr.get()) > 0 || is_indirect(expr);
    });
    if (!depends) return;
    const Odometer points = add_iterators(iterators_in({value}, ranges), ranges, environment);
    const Value element = compile(value, environment);
    std::vector<std::int64_t> values(environment.slots.size());
    points.for_each(values, [&] {
      if (element.integer) element.integer(values.data());
      if (element.floating) element.floating(values.data());
    });
  }

  /// One statement over values of type T (double or int64): the accumulator of each element is stored once.
  template <typename T, typename Load, typename Store, typename Identity>
  void execute(const Assignment& statement, const Storage& target, const Odometer& left, const Odometer& inner,
               std::vector<std::int64_t>& values, const std::function<T(Slots)>& rhs, Load load, Store store,
               Identity identity) const {
    const Reducer reducer{statement.reduction.value_or(ReductionOp::Sum), target.type};
    left.for_each(values, [&] {
      std::int64_t offset = target_offset(target, values);
      if (!statement.reduction) {
        store(target, offset, rhs(values.data()));
        return;
      }
      T accumulator = statement.initialise ? identity(reducer) : load(target, offset);
      inner.for_each(values, [&] { accumulator = reducer.combine(accumulator, rhs(values.data())); });
      store(target, offset, accumulator);
    });
  }

  /// The offset of the element whose subscripts are the first values.
  std::int64_t target_offset(const Storage& target, const std::vector<std::int64_t>& values) const {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < target.box.size(); ++d) {
      std::int64_t relative = values[d] - target.box[d].min;
      if (relative < 0 || relative >= target.box[d].extent)
        throw InternalError(str(target.name, " is written outside its box: subscript ", d, " is ", values[d]));
      offset += relative * target.strides[d];
    }
    return offset;
  }

  static OwnedStorage copy_of(const Storage& source) {
    OwnedStorage copy = allocate(source.name, source.type, source.box);
    std::vector<std::int64_t> values(source.box.size());
    std::vector<int> slots;
    for (std::size_t d = 0; d < source.box.size(); ++d) slots.push_back(static_cast<int>(d));
    Odometer(source.box, slots).for_each(values, [&] {
      std::int64_t from = 0, to = 0;
      for (std::size_t d = 0; d < values.size(); ++d) {
        from += (values[d] - source.box[d].min) * source.strides[d];
        to += (values[d] - source.box[d].min) * copy.storage.strides[d];
      }
      if (is_float(source.type))
        store_float(copy.storage, to, load_float(source, from));
      else
        store_integer(copy.storage, to, load_integer(source, from));
    });
    return copy;
  }

  const Def& def_;
  const Ranges& ranges_;
  Environment environment_;
  std::list<OwnedStorage> temporaries_;
  std::list<Storage> borrowed_;
};

}  // namespace

void interpret(const Def& def, const Ranges& ranges, const SizeMap& sizes,
               const std::map<std::string, TensorView>& tensors) {
  Interpreter(def, ranges, sizes, tensors).run();
}

}  // namespace tc::lang
