#include "tc/derive/proof/flatten.h"

#include "tc/base/str.h"
#include "tc/derive/form/fill.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"

namespace tc::derive {

using lang::ExprPtr;

namespace {

constexpr std::size_t most_cases = 64;
/// Scopes of a loop may read each other's earlier elements without end.
constexpr std::size_t most_segments = 64;

int dimensions_of(const FlatCase& part) { return polyhedral::dimensions(part.domain); }

class Flattener {
 public:
  Flattener(const Program& program, const std::set<std::string>& atoms, Sums sums)
      : program_(program), atoms_(atoms), sums_(sums) {}

  Flat run(const ScopePtr& scope) {
    flat_.op = scope->op;
    if (scope->op || !writes_all(*scope)) flat_.fill = scope->fill;
    type_ = scope->type;
    keeps_values_ = scope->keeps_values();
    if (sums_ == Sums::MultipliedOut && !scope->op)
      if (const auto op = sum_behind(*scope)) become_sum(*op, scope->tensor);
    std::vector<FlatCase> open;
    for (const auto& part : scope->cases)
      add(FlatCase{part.domain,
                   projection(ctx(), scope->dimensions(), run_of(0, scope->left())),
                   part.body,
                   part.reads,
                   {{scope->tensor, 0, scope->dimensions()}}},
          open);
    while (!open.empty()) {
      auto part = std::move(open.back());
      open.pop_back();
      const auto read = next(part);
      if (!read) {
        flat_.cases.insert(flat_.cases.begin(), std::move(part));
        continue;
      }
      for (const auto& made : written_out(part, *read)) add(made, open);
      if (open.size() + flat_.cases.size() > most_cases) throw Refusal{"a definition written out has too many cases"};
    }
    return std::move(flat_);
  }

 private:
  isl::ctx ctx() const { return *program_.context; }

  /// \p part, or its terms.
  void add(const FlatCase& part, std::vector<FlatCase>& to) const {
    if (sums_ == Sums::Kept || !flat_.op) return to.push_back(part);
    for (const auto& term : terms(part.body, *flat_.op)) {
      to.push_back(part);
      to.back().body = term;
    }
  }

  /// The operator of the first sum that is written out in \p scope.
  std::optional<ReductionOp> sum_behind(const Scope& scope) const {
    for (const auto& part : scope.cases)
      for (const auto k : reads_in(part.body)) {
        const auto source = written_out_scope(part.reads[k].tensor);
        if (!source) continue;
        if (const auto op = source->op ? source->op : sum_behind(*source)) return op;
      }
    return std::nullopt;
  }

  /// What defines \p tensor, where that is written out; null else.
  ScopePtr written_out_scope(const std::string& tensor) const {
    return tensor.empty() || atoms_.count(tensor) ? nullptr : program_.find(tensor);
  }

  bool writes_all(const Scope& scope) const {
    isl::set rest = box_set(ctx(), scope.box);
    for (const auto& part : scope.cases)
      rest = rest.subtract(part.domain.apply(projection(ctx(), scope.dimensions(), run_of(0, scope.left())).as_map()));
    return rest.is_empty();
  }

  std::optional<std::size_t> next(const FlatCase& part) const {
    for (const auto k : reads_in(part.body))
      if (written_out_scope(part.reads[k].tensor)) return k;
    return std::nullopt;
  }

  /// \p part with read \p k replaced: one case for each of its definition, and one where there is none.
  std::vector<FlatCase> written_out(const FlatCase& part, std::size_t k) {
    const auto source = program_.find(part.reads[k].tensor);
    if (reads_itself(*source) || part.segments.size() > most_segments)
      throw Refusal{str("'", source->tensor, "' is defined by itself, and by one program only")};
    const bool converts = source->type != type_;
    const bool fits =
        keeps_values_ && (converts ? source->rounds() && is_converted(part.body, k) : source->keeps_values());
    const bool is_all = !converts && !source->op && !flat_.op && read_number(part.body) == k;
    if (is_all) keeps_values_ = keeps_values_ && source->keeps_values();
    if (!fits && !is_all && !is_copy(*source))
      throw Refusal{str("'", source->tensor, "' is converted where it is read")};
    if (source->op) take_operator(part, k, *source);
    std::vector<FlatCase> result;
    isl::set rest = part.domain;
    for (const auto& definition : source->cases) {
      auto made = joined_case(part, k, *source, definition);
      const auto written =
          definition.domain.apply(projection(ctx(), source->dimensions(), run_of(0, source->left())).as_map());
      rest = rest.subtract(written.preimage(part.reads[k].at));
      if (!made.domain.is_empty()) result.push_back(std::move(made));
    }
    if (!rest.is_empty()) add_fill(part, k, *source, rest, result);
    return result;
  }

  /// Is \p scope a copy of elements of its own type? Whatever reads them may be done to them.
  bool is_copy(const Scope& scope) const {
    const auto copies = [&](const Case& part) {
      const auto k = read_number(part.body);
      return k && !part.reads[*k].tensor.empty() && program_.type(part.reads[*k].tensor) == scope.type;
    };
    return !scope.op && std::all_of(scope.cases.begin(), scope.cases.end(), copies);
  }

  /// Is read \p k of \p body converted to the type of what is written out, wherever it stands?
  bool is_converted(const ExprPtr& body, std::size_t k) const {
    if (read_number(body) == k) return false;
    const auto* cast = std::get_if<lang::Cast>(&body->node);
    if (cast && cast->type == type_ && read_number(cast->value) == k) return true;
    const auto parts = lang::children(body);
    return std::all_of(parts.begin(), parts.end(), [&](const ExprPtr& each) { return is_converted(each, k); });
  }

  /// The sum that defines \p source may be written out in \p part, which then is a sum too.
  void take_operator(const FlatCase& part, std::size_t k, const Scope& source) {
    if (!is_linear(part.body, k, *source.op))
      throw Refusal{str("'", source.tensor, "' is a reduction, and no factor where it is read")};
    if (flat_.op && flat_.op != source.op)
      throw Refusal{str("'", source.tensor, "' is reduced by another operator than what reads it")};
    become_sum(*source.op, source.tensor);
  }

  /// What is written out is a sum by \p op, as \p tensor is.
  void become_sum(ReductionOp op, const std::string& tensor) {
    if (flat_.fill && *flat_.fill != neutral(op))
      throw Refusal{str("'", tensor, "' is a reduction read where other elements hold a number")};
    flat_.op = op;
    flat_.fill = neutral(op);
  }

  FlatCase joined_case(const FlatCase& part, std::size_t k, const Scope& source, const Case& definition) const {
    const int own = dimensions_of(part), more = source.dimensions();
    const auto first = projection(ctx(), own + more, run_of(0, own)),
               second = projection(ctx(), own + more, run_of(own, more));
    const auto left = projection(ctx(), own + more, run_of(own, source.left()));
    const auto same = part.reads[k].at.pullback(first).sub(left);
    isl::set equal = isl::set::universe(first.domain().space());
    for (int d = 0; d < source.left(); ++d) {
      const auto difference = same.at(d);
      equal = equal.intersect(difference.eq_set(difference.sub(difference)));
    }
    FlatCase made{part.domain.preimage(first).intersect(definition.domain.preimage(second)).intersect(equal),
                  part.writes.pullback(first),
                  part.body,
                  {},
                  part.segments};
    made.segments.push_back({source.tensor, own, more});
    for (const auto& read : part.reads) made.reads.push_back({read.tensor, read.at.pullback(first)});
    const auto offset = made.reads.size();
    for (const auto& read : definition.reads) made.reads.push_back({read.tensor, read.at.pullback(second)});
    const auto inner =
        with_reads(definition.body, [&](std::size_t r) { return lang::make_expr(lang::Name{read_name(r + offset)}); });
    made.body = with_reads(part.body,
                           [&](std::size_t r) { return r == k ? inner : lang::make_expr(lang::Name{read_name(r)}); });
    return made;
  }

  /// Is a product the neutral element of the sum where its factor \p k is? Of the maxima of integers that is their least number,
  /// and no infinity: with something added it is another.
  bool absorbs(const ExprPtr& body, std::size_t k) const {
    const bool is_number = is_integer(type_) && (flat_.op == ReductionOp::Max || flat_.op == ReductionOp::Min);
    return !is_number || read_number(body) == k || product_operator(body, *flat_.op) != "+";
  }

  /// Where the element holds its fill: nothing, if that takes the instance away.
  void add_fill(const FlatCase& part, std::size_t k, const Scope& source, const isl::set& where,
                std::vector<FlatCase>& result) {
    if (flat_.op && source.fill == neutral(*flat_.op) && is_linear(part.body, k, *flat_.op) && absorbs(part.body, k))
      return;
    const bool is_fill = read_number(part.body) == k || (source.fill == 0 && is_linear(part.body, k, ReductionOp::Sum));
    if (!flat_.op && is_fill && flat_.fill.value_or(source.fill) == source.fill) {
      flat_.fill = source.fill;
      return;
    }
    auto made = part;
    made.domain = where;
    made.body = with_reads(part.body, [&](std::size_t r) {
      return r == k ? literal(source.fill, source.type) : lang::make_expr(lang::Name{read_name(r)});
    });
    made.body = with_products_of_zero(made.body, type_);
    result.push_back(std::move(made));
  }

  const Program& program_;
  const std::set<std::string>& atoms_;
  Sums sums_;
  Flat flat_;
  DType type_ = DType::Float32;
  bool keeps_values_ = true;
};

}  // namespace

Flat flatten(const Program& program, const std::string& tensor, const std::set<std::string>& atoms, Sums sums) {
  const auto scope = program.find(tensor);
  if (!scope) throw Refusal{str("nothing defines '", tensor, "'")};
  return Flattener(program, atoms, sums).run(scope);
}

}  // namespace tc::derive
