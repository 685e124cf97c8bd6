#include "test/support/interpret_text.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/check/check.h"
#include "tc/lang/check/inline.h"
#include "tc/lang/interpret/arithmetic.h"
#include "tc/lang/interpret/interpret.h"
#include "tc/lang/syntax/parse.h"

namespace tc::test {
namespace {

using namespace lang;

ExprPtr number(std::int64_t value) {
  auto literal = make_expr(IntLiteral{static_cast<std::uint64_t>(value < 0 ? -value : value)}, {}, DType::Int64);
  return value < 0 ? make_expr(Unary{UnaryOp::Negate, literal}, {}, DType::Int64) : literal;
}

/// A range for sample sizes, and as expressions over sizes.
struct SampleRange {
  IntegerRange numbers;
  Range terms;
};
using SampleBox = std::vector<SampleRange>;

SampleRange constant_range(const IntegerRange& numbers) {
  return {numbers, {number(numbers.min), number(numbers.extent)}};
}

/// Over sizes where one of both holds the other one for the sample.
SampleRange intersect(const SampleRange& a, const SampleRange& b) {
  const std::int64_t low = std::max(a.numbers.min, b.numbers.min);
  const IntegerRange both{low, std::min(a.numbers.min + a.numbers.extent, b.numbers.min + b.numbers.extent) - low};
  if (both == a.numbers) return a;
  return both == b.numbers ? b : constant_range(both);
}

/// Infers one def statement by statement over sample sizes.
class PlainInference {
 public:
  PlainInference(const Def& def, const SizeMap& sizes, bool over_sizes)
      : def_(def), sizes_(sizes), over_sizes_(over_sizes) {
    for (const auto& param : def.params) boxes_[param.name] = declared(param);
  }

  Ranges run() {
    for (const auto& statement : def_.statements) infer(std::get<Assignment>(statement.node));
    for (const auto& [name, box] : boxes_)
      for (const auto& range : box) ranges_.tensors[name].push_back(result(range));
    for (const auto& [name, box] : boxes_) ranges_.tensors.try_emplace(name);
    return ranges_;
  }

 private:
  Range result(const SampleRange& range) const {
    return over_sizes_ ? range.terms : constant_range(range.numbers).terms;
  }

  SampleBox declared(const TensorDecl& decl) const {
    SampleBox box;
    if (decl.dims)
      for (const auto& dim : *decl.dims) box.push_back({{0, value(resolve(dim))}, {number(0), resolve(dim)}});
    return box;
  }

  std::int64_t value(const ExprPtr& resolved) const { return evaluate_size(resolved, sizes_); }
  /// A size expression without T.d.
  ExprPtr resolve(const ExprPtr& expr) const {
    if (auto* size_of = std::get_if<SizeOf>(&expr->node))
      return boxes_.at(size_of->tensor).at(static_cast<std::size_t>(size_of->dimension)).terms.extent;
    std::vector<ExprPtr> resolved;
    for (const auto& child : children(expr)) resolved.push_back(resolve(child));
    return with_children(expr, resolved);
  }

  SampleRange given(const RangeClause& clause) const {
    const ExprPtr low = resolve(clause.low), high = resolve(clause.high);
    const ExprPtr extent = make_expr(Binary{BinaryOp::Sub, high, low}, {}, DType::Int64);
    const IntegerRange numbers{value(low), value(high) - value(low)};
    return {numbers, {low, numbers.min == 0 ? high : extent}};
  }

  void infer(const Assignment& statement) {
    std::map<std::string, SampleRange> found, fixed;
    auto constrain = [&](const ExprPtr& root) {
      for_each_expr(root, [&](const ExprPtr& e) {
        auto* access = std::get_if<Access>(&e->node);
        for (std::size_t d = 0; access && d < access->subscripts.size(); ++d) {
          auto* name = std::get_if<Name>(&access->subscripts[d]->node);
          if (!name || !boxes_.count(access->tensor)) continue;
          const SampleRange& range = boxes_.at(access->tensor).at(d);
          auto [it, added] = found.emplace(name->id, range);
          if (!added) it->second = intersect(it->second, range);
        }
      });
    };
    constrain(statement.rhs);
    for (const auto& clause : statement.clauses) {
      if (auto* exists = std::get_if<ExistsClause>(&clause.node)) constrain(exists->value);
      if (auto* range = std::get_if<RangeClause>(&clause.node)) fixed[range->index] = given(*range);
    }
    for (const auto& [iterator, range] : fixed) found[iterator] = range;
    record(statement, found);
  }

  void record(const Assignment& statement, const std::map<std::string, SampleRange>& found) {
    std::map<std::string, Range> iterators;
    SampleBox box;
    auto left = left_iterators(statement);
    for (std::size_t d = 0; d < left.size(); ++d) {
      box.push_back(left_range(statement.target, left[d], d, found));
      iterators[left[d]] = result(box[d]);
    }
    for (const auto& iterator : statement.reduction_iterators) {
      if (!found.count(iterator)) throw InternalError(str("no range for '", iterator, "'"));
      iterators[iterator] = result(found.at(iterator));
    }
    boxes_.emplace(statement.target, box);
    ranges_.statements.push_back(iterators);
  }

  SampleRange left_range(const std::string& target, const std::string& iterator, std::size_t d,
                         const std::map<std::string, SampleRange>& found) const {
    if (auto it = found.find(iterator); it != found.end()) return it->second;
    if (auto it = boxes_.find(target); it != boxes_.end()) return it->second.at(d);
    for (const auto& decl : def_.returns)
      if (decl.name == target && decl.dims) return declared(decl).at(d);
    throw InternalError(str("no range for '", iterator, "'"));
  }

  const Def& def_;
  SizeMap sizes_;
  bool over_sizes_;
  std::map<std::string, SampleBox> boxes_;
  Ranges ranges_;
};

}  // namespace

Ranges sample_ranges(const Def& def) {
  SizeMap sizes;
  for (const auto& name : def.sizes) sizes[name] = 8;
  return PlainInference(def, sizes, true).run();
}

Ranges plain_ranges(const Def& def, const SizeMap& sizes) { return PlainInference(def, sizes, false).run(); }

HostTensor dense(DType type, std::vector<std::int64_t> shape, const std::vector<double>& values) {
  HostTensor tensor(contiguous(type, std::move(shape)));
  const std::int64_t count = tensor.spec().element_count();
  if (!values.empty() && static_cast<std::int64_t>(values.size()) != count)
    throw InternalError("a wrong number of values");
  for (std::int64_t i = 0; i < count; ++i) tensor.set(i, values.empty() ? 0 : values[static_cast<std::size_t>(i)]);
  return tensor;
}

HostTensor strided(DType type, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides) {
  HostTensor tensor({type, std::move(shape), std::move(strides)});
  for (std::int64_t i = 0; i < tensor.spec().element_count(); ++i) tensor.set(i, 0);
  return tensor;
}

std::string text_of(const HostTensor& tensor) {
  std::ostringstream out;
  out.precision(17);
  const DType type = tensor.spec().dtype;
  for (std::int64_t i = 0; i < tensor.spec().element_count(); ++i) {
    if (i) out << ' ';
    if (type == DType::UInt64)
      out << tensor.bits_at(i);
    else if (!is_float(type))
      out << wrap(type, static_cast<std::int64_t>(tensor.bits_at(i)));
    else if (std::isnan(tensor.at(i)))
      out << "nan";
    else
      out << tensor.at(i);
  }
  return out.str();
}

namespace {

/// sample_ranges() of a def that grows.
class GrowingSample : public GrowingRanges {
 public:
  explicit GrowingSample(const Def& head) : def_(head) {}
  void add(const Statement& statement) override { def_.statements.push_back(statement); }
  const std::vector<Range>* box(const std::string& tensor) override {
    ranges_ = sample_ranges(def_);
    return &ranges_.tensors.at(tensor);
  }

 private:
  Def def_;
  Ranges ranges_;
};

}  // namespace

InlineContext sample_context(const File& file) {
  auto known = std::make_shared<std::map<std::string, InlinedDef>>();
  InlineContext context;
  context.start_ranges = [](const Def& head) { return std::make_unique<GrowingSample>(head); };
  context.callee = [&file, known](const std::string& name) -> const InlinedDef& {
    if (auto found = known->find(name); found != known->end()) return found->second;
    for (const auto& def : file.defs)
      if (def.name == name) {
        Def inlined = inline_calls(def, file, sample_context(file));
        Ranges ranges = sample_ranges(inlined);
        return known->emplace(name, InlinedDef{std::move(inlined), std::move(ranges)}).first->second;
      }
    throw InternalError(str("no def '", name, "'"));
  };
  return context;
}

Tensors interpret_text(const std::string& text, Tensors arguments) {
  File file = check(parse(text));
  std::vector<std::vector<std::int64_t>> shapes;
  for (const auto& param : file.defs.back().params) shapes.push_back(arguments.at(param.name).spec().shape);
  SizeMap sizes = bind_sizes(file.defs.back(), shapes);
  Def def = inline_calls(file.defs.back(), file, sample_context(file));
  Ranges ranges = plain_ranges(def, sizes);
  check_preconditions(ranges, sizes);
  std::map<std::string, TensorView> views;
  for (const auto& param : def.params) views[param.name] = arguments.at(param.name).view();
  Tensors results;
  for (const auto& decl : def.returns) {
    std::vector<std::int64_t> shape;
    for (const auto& interval : evaluate_box(ranges.tensors.at(decl.name), sizes)) shape.push_back(interval.extent);
    auto given = arguments.find(decl.name);
    auto initial = given != arguments.end() ? given->second : dense(def.tensors.at(decl.name).type, shape);
    views[decl.name] = results.emplace(decl.name, initial).first->second.view();
  }
  interpret(def, ranges, sizes, views);
  for (const auto& [name, tensor] : results)
    if (!tensor.guards_intact()) throw InternalError(str("memory beside '", name, "' was written"));
  return results;
}

}  // namespace tc::test
