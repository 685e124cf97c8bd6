#include "tc/halide_bridge/lower/extract_scop.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <set>
#include <string_view>

#include "tc/base/cancellation.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/base/tensor.h"
#include "tc/halide_bridge/lower/affine.h"
#include "tc/halide_bridge/lower/symbolic_range.h"
#include "tc/halide_bridge/lower/variable_names.h"
#include "tc/polyhedral/core/constraints.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using polyhedral::Access;
using polyhedral::Nullable;

/// Can isl's parser read \p name as the name of a dimension, and as nothing else?
bool is_isl_name(const std::string& name) {
  static constexpr std::array<std::string_view, 17> keywords = {"and",   "or",  "not",   "implies", "exists", "mod",
                                                                "min",   "max", "floor", "ceil",    "floord", "ceild",
                                                                "infty", "NaN", "true",  "false",   "rat"};
  return std::find(keywords.begin(), keywords.end(), name) == keywords.end() && !polyhedral::is_size_parameter(name);
}

/// Throws InternalError unless isl's parser reads \p name as the name of one tuple: letters, digits and underscores, then
/// primes.
void check_tuple_name(const std::string& name) {
  auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  auto word = std::find_if_not(name.begin(), name.end(), letter);
  if (word == name.begin() || std::find_if_not(word, name.end(), [](char c) { return c == '\''; }) != name.end())
    throw InternalError(str("extract_scop: isl cannot read the name of the tensor '", name, "'"));
}

/// { statement[iterators] } for the box of \p statement where its conditions hold, for \p sizes (null: all are numbers).
isl::set domain_of(isl::ctx ctx, const ProgramStatement& statement, const Nullable<isl::set>& sizes) {
  const auto space =
      isl::space::unit(ctx).add_named_tuple(statement.id, static_cast<unsigned>(statement.iterators.size()));
  isl::set result = isl::set::universe(space);
  const auto identity = space.identity_multi_aff_on_domain();
  for (std::size_t i = 0; i < statement.iterators.size(); ++i) {
    const lang::IntegerRange& interval = statement.domain.at(i);
    const isl::pw_aff iterator = identity.at(static_cast<int>(i));
    const auto bound = [&](std::int64_t value) {
      return isl::set::universe(space).pw_aff_on_domain(isl::val(ctx, value));
    };
    result = result.intersect(iterator.ge_set(bound(interval.min)))
                 .intersect(iterator.lt_set(bound(interval.min + interval.extent)));
  }
  for (std::size_t i = 0; i < statement.iterators.size(); ++i) {
    const std::string& name = statement.iterators[i];
    if (!is_isl_name(name)) continue;
    result = polyhedral::call(ctx, isl_set_set_dim_name, result.release(), isl_dim_set, static_cast<unsigned>(i),
                              name.c_str());
  }
  if (sizes.is_null() && statement.conditions.empty()) return result;
  if (!sizes.is_null()) result = result.intersect_params(sizes);
  const AffineReader reader(result, statement.iterators);
  for (const Expr& condition : statement.conditions) result = result.intersect(reader.where(condition, true));
  return polyhedral::call(ctx, isl_set_remove_redundancies, result.release());
}

/// \p map with index \p dimension of its range in \p interval.
isl::map bounded(const isl::map& map, unsigned dimension, const lang::IntegerRange& interval) {
  const isl::val low(map.ctx(), interval.min), high(map.ctx(), interval.min + interval.extent - 1);
  auto result = polyhedral::call(map.ctx(), isl_map_lower_bound_val, map.copy(), isl_dim_out, dimension, low.copy());
  return polyhedral::call(map.ctx(), isl_map_upper_bound_val, result.release(), isl_dim_out, dimension, high.copy());
}

/// The elements of \p tensor for \p sizes; null where its box has them. A temporary has room for its whole box.
Nullable<isl::set> elements_of(const ProgramTensor& tensor, const isl::set& sizes) {
  if (tensor.extents.empty() || tensor.role == lang::Role::Temporary) return {};
  const auto rank = static_cast<unsigned>(tensor.box.size());
  auto all = isl::set::universe(isl::space::unit(sizes.ctx()).add_named_tuple(tensor.name, rank));
  std::vector<std::string> names;
  for (unsigned d = 0; d < rank; ++d) names.push_back(str("x", d));
  all = all.intersect_params(sizes);
  const AffineReader reader(all, names);
  for (unsigned d = 0; d < rank; ++d) {
    const Expr index = ir::Variable::make(Halide::Int(64), names[d]);
    const Expr min = ir::make_const(Halide::Int(64), tensor.box[d].min);
    const Expr extent =
        tensor.is_symbolic(d) ? tensor.extents[d] : ir::make_const(Halide::Int(64), tensor.box[d].extent);
    all = all.intersect(reader.where(ir::LE::make(min, index), true))
              .intersect(reader.where(ir::LT::make(index, ir::Add::make(min, extent)), true));
  }
  return all;
}

/// \p map into \p tensor, all in its box, without the elements that its symbolic extents exclude.
isl::map among_elements(const isl::map& map, const ProgramTensor& tensor, const isl::set& sizes) {
  const auto elements = elements_of(tensor, sizes);
  return elements.is_null() ? map : map.intersect_range(elements);
}

/// Builds the accesses of one statement.
class AccessBuilder {
 public:
  AccessBuilder(const isl::set& domain, const std::vector<std::string>& iterators)
      : domain_(domain), reader_(domain, iterators) {}

  const AffineReader& reader() const { return reader_; }

  /// The element of \p tensor at \p subscripts, for the instances in \p guard.
  Access element(const ProgramTensor& tensor, const std::vector<Expr>& subscripts, const isl::set& guard) const {
    if (subscripts.size() != tensor.box.size()) {
      throw InternalError(str("extract_scop: an access to '", tensor.name, "' has a wrong number of subscripts"));
    }
    std::vector<std::optional<isl::pw_aff>> indices;
    for (const auto& subscript : subscripts) indices.push_back(reader_.index(subscript));
    const bool exact = std::all_of(indices.begin(), indices.end(), [](const auto& index) { return index.has_value(); });
    if (!exact) return {any_of(tensor, indices).intersect_domain(guard), false, {}, {}};
    const isl::pw_multi_aff function = function_of(tensor, indices);
    return {function.as_map().intersect_domain(guard), true, function, {}};
  }

  /// Those of \p subscripts that are not affine.
  std::vector<Expr> unknown(const std::vector<Expr>& subscripts) const {
    std::vector<Expr> result;
    for (const auto& subscript : subscripts)
      if (!reader_.index(subscript)) result.push_back(subscript);
    return result;
  }

  /// The element of \p tensor at \p subscripts, those that are not affine taken to be the first.
  isl::pw_multi_aff first_element(const ProgramTensor& tensor, const std::vector<Expr>& subscripts) const {
    std::vector<std::optional<isl::pw_aff>> indices;
    for (std::size_t d = 0; d < subscripts.size(); ++d) {
      auto index = reader_.index(subscripts[d]);
      const isl::val first(domain_.ctx(), tensor.box[d].min);
      indices.push_back(index ? *index : isl::set::universe(domain_.space()).pw_aff_on_domain(first));
    }
    return function_of(tensor, indices);
  }

 private:
  isl::space space(const ProgramTensor& tensor) const {
    return domain_.space().add_named_tuple(tensor.name, static_cast<unsigned>(tensor.box.size()));
  }

  isl::pw_multi_aff function_of(const ProgramTensor& tensor,
                                const std::vector<std::optional<isl::pw_aff>>& indices) const {
    if (indices.empty()) return isl::multi_aff::zero(space(tensor)).to_pw_multi_aff();
    isl::pw_aff_list list(domain_.ctx(), static_cast<int>(indices.size()));
    for (const auto& index : indices) list = list.add(*index);
    const isl::multi_pw_aff joined = space(tensor).multi_pw_aff(list);
    return polyhedral::call(domain_.ctx(), isl_pw_multi_aff_from_multi_pw_aff, joined.copy());
  }

  /// All elements whose indices are those that are known.
  isl::map any_of(const ProgramTensor& tensor, const std::vector<std::optional<isl::pw_aff>>& indices) const {
    isl::map result = isl::map::universe(space(tensor));
    for (std::size_t d = 0; d < indices.size(); ++d) {
      const auto dimension = static_cast<unsigned>(d);
      const lang::IntegerRange& interval = tensor.box[d];
      if (indices[d]) {
        const isl::map point = indices[d]->as_map();
        isl::map column = polyhedral::call(domain_.ctx(), isl_map_insert_dims, point.copy(), isl_dim_out, 1u,
                                           static_cast<unsigned>(tensor.box.size() - d - 1));
        column = polyhedral::call(domain_.ctx(), isl_map_insert_dims, column.release(), isl_dim_out, 0u, dimension);
        result = result.intersect(column.set_range_tuple(tensor.name));
      } else {
        result = bounded(result, dimension, interval);
      }
    }
    return among_elements(result, tensor, domain_.params());
  }

  isl::set domain_;
  AffineReader reader_;
};

/// What \p access touches of \p tensor: its subscripts were proved to stay inside where it happens.
isl::map inside_of(const ProgramTensor& tensor, const Access& access) {
  isl::map inside = access.relation;
  for (std::size_t d = 0; d < tensor.box.size(); ++d) inside = bounded(inside, static_cast<unsigned>(d), tensor.box[d]);
  return among_elements(inside, tensor, inside.domain().params());
}

/// Which of \p iterators are in \p exprs, by number.
std::vector<int> iterators_in(const std::vector<Expr>& exprs, const std::vector<std::string>& iterators) {
  const auto names = variable_names(exprs);
  std::vector<int> result;
  for (std::size_t i = 0; i < iterators.size(); ++i)
    if (names.count(iterators[i])) result.push_back(static_cast<int>(i));
  return result;
}

/// Collects the accesses of a value in order, with the instances in which they happen.
class ReadCollector : public ir::IRVisitor {
 public:
  ReadCollector(const Program& program, const AccessBuilder& builder, const std::vector<std::string>& iterators,
                const isl::set& domain)
      : program_(program), builder_(builder), iterators_(iterators), guard_(domain) {}

  std::vector<Access> reads;

 protected:
  using ir::IRVisitor::visit;

  void visit(const ir::Call* op) override {
    if (op->is_intrinsic(ir::Call::if_then_else)) {
      op->args[0].accept(this);
      visit_where(op->args[1], op->args[0], true);
      visit_where(op->args[2], op->args[0], false);
      return;
    }
    const auto first = reads.size();
    ir::IRVisitor::visit(op);
    if (op->call_type != ir::Call::Halide) return;
    Access access = builder_.element(program_.tensor(op->name), op->args, guard_);
    if (!access.exact && guard_is_exact_) access.indirection = indirection(op->args, reads.size() - first);
    if (!guard_is_exact_) access.relation = inside_of(program_.tensor(op->name), access);
    reads.push_back(access);
  }

 private:
  void visit_where(const Expr& value, const Expr& condition, bool holds) {
    const isl::set outer = guard_;
    const bool outer_is_exact = guard_is_exact_;
    const isl::set inside = builder_.reader().where(condition, holds);
    guard_is_exact_ =
        outer_is_exact && outer.intersect(inside).intersect(builder_.reader().where(condition, !holds)).is_empty();
    guard_ = outer.intersect(inside);
    value.accept(this);
    guard_ = outer;
    guard_is_exact_ = outer_is_exact;
  }

  /// The iterators in \p subscripts; nothing where there are other variables.
  std::optional<polyhedral::Indirection> indirection(const std::vector<Expr>& subscripts, std::size_t inner) const {
    polyhedral::Indirection result{iterators_in(subscripts, iterators_), static_cast<int>(inner)};
    return result.iterators.size() == variable_names(subscripts).size() ? std::optional(result) : std::nullopt;
  }

  const Program& program_;
  const AccessBuilder& builder_;
  const std::vector<std::string>& iterators_;
  isl::set guard_;
  bool guard_is_exact_ = true;  ///< the reads happen in all instances of the guard
};

/// Is \p value the product of two elements that are widened to its type?
bool is_product(const Expr& value) {
  auto is_element = [](const Expr& factor) {
    const auto* cast = factor.as<ir::Cast>();
    const auto* call = (cast ? cast->value : factor).as<ir::Call>();
    bool widens = !cast || (!cast->type.is_float() && !cast->value.type().is_float() &&
                            cast->type.bits() > cast->value.type().bits());
    return widens && call && call->call_type == ir::Call::Halide;
  };
  const auto* product = value.as<ir::Mul>();
  return product && is_element(product->a) && is_element(product->b);
}

polyhedral::Statement extract_statement(isl::ctx ctx, const Program& program, const ProgramStatement& statement,
                                        const Nullable<isl::set>& sizes) {
  using Kind = ProgramStatement::Kind;
  using Body = polyhedral::Statement::Body;
  polyhedral::Statement result;
  result.id = result.source = statement.id;
  result.domain = domain_of(ctx, statement, sizes);
  result.body = statement.kind == Kind::Init ? Body::Identity : Body::Source;
  result.iterators = statement.iterators;
  result.accumulates = statement.kind == Kind::Update;
  result.op = statement.op;
  for (const auto& loop : statement.loops) {
    const auto at = std::find(statement.iterators.begin(), statement.iterators.end(), loop.iterator);
    if (at == statement.iterators.end()) throw InternalError(str("extract_scop: no iterator '", loop.iterator, "'"));
    result.loops.push_back({loop.id, static_cast<int>(at - statement.iterators.begin())});
  }
  const AccessBuilder builder(result.domain, statement.iterators);
  result.write = builder.element(program.tensor(statement.target), statement.subscripts, result.domain);
  ReadCollector collector(program, builder, statement.iterators, result.domain);
  if (const auto& loop = statement.ragged) {
    result.uneven = iterators_in({loop->begin, loop->end}, statement.iterators);
    loop->begin.accept(&collector);
    loop->end.accept(&collector);
  }
  if (statement.value.defined()) {
    statement.value.accept(&collector);
    result.product = statement.kind == Kind::Update && !statement.ragged && is_product(statement.value) &&
                     polyhedral::ordered_dimensions(result.domain).empty();
  }
  if (!result.write.exact) {
    result.write.function = builder.first_element(program.tensor(statement.target), statement.subscripts);
    result.write.indirection = {iterators_in(builder.unknown(statement.subscripts), statement.iterators)};
  }
  for (const Expr& subscript : builder.unknown(statement.subscripts)) subscript.accept(&collector);
  result.reads = std::move(collector.reads);
  return result;
}

/// The names of tensors that a launch reads or writes.
struct Touched {
  std::set<std::string> read, written;

  bool contains(const std::string& name) const { return read.count(name) > 0 || written.count(name) > 0; }
};

/// The names of the tensors an expression reads.
class ReadNames : public ir::IRVisitor {
 public:
  explicit ReadNames(std::set<std::string>& names) : names_(names) {}

 protected:
  using ir::IRVisitor::visit;
  void visit(const ir::Call* op) override {
    if (op->call_type == ir::Call::Halide) names_.insert(op->name);
    ir::IRVisitor::visit(op);
  }

 private:
  std::set<std::string>& names_;
};

Touched touched_by(const Launch& launch) {
  Touched result;
  ReadNames names(result.read);
  for (const auto& statement : launch.statements) {
    result.written.insert(statement.target);
    if (statement.kind == ProgramStatement::Kind::Update) result.read.insert(statement.target);
    for (const auto& subscript : statement.subscripts) subscript.accept(&names);
    if (statement.value.defined()) statement.value.accept(&names);
    if (statement.ragged) statement.ragged->begin.accept(&names);
    if (statement.ragged) statement.ragged->end.accept(&names);
  }
  return result;
}

polyhedral::Tensor extract_tensor(const Program& program, std::size_t launch, const ProgramTensor& tensor) {
  check_tuple_name(tensor.name);
  polyhedral::Tensor result;
  result.name = tensor.name;
  result.type = tensor.type;
  for (const auto& interval : tensor.box) {
    result.min.push_back(interval.min);
    result.extent.push_back(interval.extent);
  }
  result.strides = row_major_strides(result.extent);
  bool before = false, after = false;
  for (std::size_t i = 0; i < launch; ++i)
    before = before || touched_by(program.launches[i]).written.count(tensor.name) > 0;
  for (std::size_t i = launch + 1; i < program.launches.size(); ++i) {
    after = after || touched_by(program.launches[i]).contains(tensor.name);
  }
  const auto& checks = program.launches[launch].checks;
  const bool tested =
      std::any_of(checks.begin(), checks.end(), [&](const IndexCheck& c) { return c.flag == tensor.name; });
  const bool temporary = tensor.role == lang::Role::Temporary;
  const bool given = tensor.role == lang::Role::Input || tensor.role == lang::Role::InOut;
  const bool kept = tensor.role == lang::Role::Output || tensor.role == lang::Role::InOut;
  result.storage = temporary ? polyhedral::Tensor::Storage::Workspace : polyhedral::Tensor::Storage::Argument;
  result.live_in = given || before;
  result.live_out = kept || tested || (temporary && after);
  return result;
}

}  // namespace

bool is_empty(const Program& program, const ProgramStatement& statement) {
  if (std::any_of(statement.domain.begin(), statement.domain.end(),
                  [](const lang::IntegerRange& interval) { return interval.extent <= 0; }))
    return true;
  if (statement.conditions.empty()) return false;
  const polyhedral::Context context;
  return domain_of(context, statement, size_values(context, program.symbolic, program.preconditions)).is_empty();
}

polyhedral::Scop extract_scop(const Program& program, std::size_t launch,
                              std::shared_ptr<polyhedral::Context> context) {
  const auto& statements = program.launches.at(launch).statements;
  polyhedral::Scop scop;
  scop.context = context ? std::move(context) : std::make_shared<polyhedral::Context>();
  for (const auto& [name, range] : program.symbolic)
    scop.parameters.push_back({polyhedral::size_parameter(name), range.min, range.max});
  if (!program.symbolic.empty()) scop.sizes = size_values(scop.ctx(), program.symbolic, program.preconditions);
  for (const auto& statement : statements) {
    check_cancelled("extract");
    scop.statements.push_back(extract_statement(scop.ctx(), program, statement, scop.sizes));
  }
  const Touched touched = touched_by(program.launches[launch]);
  for (const auto& tensor : program.tensors) {
    if (!touched.contains(tensor.name)) continue;
    scop.tensors.push_back(extract_tensor(program, launch, tensor));
    if (!scop.sizes.is_null()) scop.tensors.back().elements = elements_of(tensor, scop.sizes);
  }
  scop.schedule = polyhedral::program_order(scop);
  return scop;
}

}  // namespace tc::halide_bridge
