#include <algorithm>
#include <set>

#include "tc/base/str.h"
#include "tc/derive/form/isl_expressions.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/proof/flatten.h"
#include "tc/derive/proof/induction.h"
#include "tc/derive/rules/roll_parts.h"

namespace tc::derive {

using lang::ExprPtr;

namespace {

/// The scopes of one iteration, over b first.
class LoopMaker {
 public:
  explicit LoopMaker(const RollParts& parts) : parts_(parts), ctx_(parts.ctx) {
    for (const auto& scope : parts.program.scopes)
      if (scope->loop) id_ = std::max(id_, scope->loop->id + 1);
  }

  std::vector<Scope> run() {
    for (std::size_t t = 0; t < parts_.view.moved.size(); ++t) {
      loop_.push_back(parts_.scope(parts_.blocks.tensors[t]));
      loop_.back().loop = ScopeLoop{id_, parts_.view.positions[t]};
    }
    if (parts_.view.has_maximum()) add_maximum();
    for (const auto& sum : parts_.sums) add_sum(sum);
    return std::move(loop_);
  }

 private:
  void add(Scope scope) {
    scope.loop = ScopeLoop{id_, 0};
    loop_.push_back(std::move(scope));
  }

  /// [b, y] at the block before, of \p all dimensions with \p left of y.
  isl::multi_aff before(int all, int left) const { return index_of(ctx_, all, {"i0 - 1"}, 1, left); }
  isl::multi_aff identity(int dimensions) const { return index_of(ctx_, dimensions, {}, 0, dimensions); }

  /// \p scope, elementwise, with \p value behind the first block that is \p needed and \p first elsewhere.
  void add_by_first(Scope scope, const NeededBlocks& needed, const ExprPtr& value, const ExprPtr& first,
                    const std::vector<Read>& reads) {
    const auto all = box_set(ctx_, scope.box), behind = all.intersect(behind_first(scope, needed));
    const auto rest = all.subtract(behind);
    if (!behind.is_empty()) scope.cases.push_back(with_used_reads({behind, value, reads}));
    if (!rest.is_empty()) scope.cases.push_back(with_used_reads({rest, first, reads}));
    add(std::move(scope));
  }
  isl::set behind_first(const Scope& scope, const NeededBlocks& needed) const {
    return needed.from_first.preimage(before(scope.left(), scope.left() - 1));
  }

  /// \p running of the block \p b alone: without b', with \p body.
  Scope of_block(const Scope& running, const std::string& tensor, const ExprPtr& value,
                 const std::vector<Read>& reads) const {
    const int left = running.left();
    auto result = running;
    result.tensor = tensor;
    result.iterators.erase(result.iterators.begin() + left);
    const auto instance = index_of(ctx_, left + 1, {}, 0, left, {"i0", str("i", left)});
    result.cases = {{running.cases.front().domain.preimage(instance), value, reads}};
    return result;
  }

  /// s over [b, x, w].
  ExprPtr taken_maximum(RollBody& body) const {
    const int x = parts_.rows();
    return body.taken(parts_.maximum_body->body, *parts_.maximum_body,
                      index_of(ctx_, x + 2, {}, 1, x, {"i0", str("i", x + 1)}));
  }

  void add_maximum() {
    const int x = parts_.rows();
    const auto& run = parts_.scope(parts_.run);
    RollBody maximum;
    const auto s = taken_maximum(maximum);
    const auto part = of_block(run, parts_.part, s, maximum.reads);
    add(part);
    const auto name = run.op == ReductionOp::Max ? "max" : "min";
    add_by_first(over_blocks(parts_, parts_.maximum(), parts_.run), *parts_.needed,
                 lang::make_expr(lang::Call{name, {read_of(0), read_of(1)}}), read_of(0),
                 {{parts_.part, identity(x + 1)}, {parts_.run, before(x + 1, x)}});
    add(parts_.scope(parts_.from));
    if (parts_.blocks.count > 1) {
      auto step = over_blocks(parts_, parts_.maximum(), parts_.step);
      step.fill = 1;
      step.cases = {{box_set(ctx_, step.box).intersect(behind_first(step, *parts_.needed)),
                     exponential_of(read_of(0), read_of(1), parts_.view.factor, step.type),
                     {{parts_.from, before(x + 1, x)}, {parts_.from, identity(x + 1)}}}};
      add(step);
    }
    auto exponentials = over_blocks(parts_, parts_.maximum(), parts_.exp);
    exponentials.box.push_back({0, parts_.blocks.size});
    exponentials.iterators.push_back(parts_.blocks.inner);
    RollBody body;
    const auto same = taken_maximum(body);
    const auto from = body.read(parts_.from, index_of(ctx_, x + 2, {}, 0, x + 1));
    exponentials.cases = {
        {part.cases.front().domain, exponential_of(same, from, parts_.view.factor, exponentials.type), body.reads}};
    add(exponentials);
    for (const auto& [type, tensor] : parts_.rounded_exp) {
      auto rounds = exponentials;
      rounds.tensor = tensor;
      rounds.type = type;
      rounds.uniform = rounds.widens = false;
      rounds.cases = {
          {part.cases.front().domain, lang::make_expr(lang::Cast{type, read_of(0)}), {{parts_.exp, identity(x + 2)}}}};
      add(rounds);
    }
  }

  void add_sum(const RollParts::Sum& sum) {
    const auto& run = parts_.scope(sum.run);
    const int y = run.left() - 1, all = y + 2;
    const auto b = index_of(ctx_, all, {}, 0, 1), w = index_of(ctx_, all, {}, y + 1, 1);
    const auto instance = index_of(ctx_, all, {}, 1, y, {"i0", str("i", y + 1)});
    RollBody body;
    const auto sums = over_blocks(parts_, parts_.scope(sum.view->tensor), sum.run);
    const Read part{sum.part, identity(y + 1)}, earlier{sum.run, before(y + 1, y)};
    if (!sum.view->has_exponential()) {
      const auto value = body.taken(sum.body.body, sum.body, instance);
      add(of_block(run, sum.part, value, body.reads));
      add_by_first(sums, sum.needed, joined(read_of(0), lang::BinaryOp::Add, read_of(1)), read_of(0), {part, earlier});
      return;
    }
    const auto& rounding = sum.view->rounding;
    const auto exponential =
        body.read(rounding ? parts_.rounded_exp.at(*rounding) : parts_.exp,
                  b.flat_range_product(parts_.rows_of(*sum.view, y, all, 1)).flat_range_product(w));
    std::vector<ExprPtr> factors{rounding ? lang::make_expr(lang::Cast{run.type, exponential}) : exponential};
    for (const auto& each : body.taken(sum.view->inside, sum.body, instance)) factors.push_back(each);
    const auto value = quotient_of(factors, body.taken(sum.view->inside_divisors, sum.body, instance));
    add(of_block(run, sum.part, value, body.reads));
    const auto row = index_of(ctx_, y + 1, {}, 0, 1).flat_range_product(parts_.rows_of(*sum.view, y, y + 1, 1));
    const auto corrected = joined(read_of(1), lang::BinaryOp::Mul, read_of(2));
    add_by_first(sums, sum.needed, joined(read_of(0), lang::BinaryOp::Add, corrected), read_of(0),
                 {part, earlier, {parts_.step, row}});
  }

  const RollParts& parts_;
  isl::ctx ctx_;
  int id_ = 1;  ///< of the loop
  std::vector<Scope> loop_;
};

/// \p program with \p loop behind what depends on nothing in it, and before the others.
Program with_loop(const Program& program, const std::vector<Scope>& loop) {
  auto result = program;
  result.scopes.clear();
  std::set<std::string> inside, later;
  for (const auto& each : loop) inside.insert(each.tensor);
  for (const auto& each : program.scopes) {
    if (inside.count(each->tensor)) continue;
    const bool depends = std::any_of(each->cases.begin(), each->cases.end(), [&](const Case& part) {
      return std::any_of(part.reads.begin(), part.reads.end(),
                         [&](const Read& read) { return inside.count(read.tensor) || later.count(read.tensor); });
    });
    if (depends)
      later.insert(each->tensor);
    else
      result.scopes.push_back(each);
  }
  for (const auto& each : loop) result.scopes.push_back(std::make_shared<const Scope>(each));
  for (const auto& each : program.scopes)
    if (later.count(each->tensor)) result.scopes.push_back(each);
  return result;
}

isl::map named(const isl::map& map, std::size_t term) {
  const auto from = polyhedral::call(map.ctx(), isl_map_set_tuple_name, map.copy(), isl_dim_in, term_name(0).c_str());
  return polyhedral::call(map.ctx(), isl_map_set_tuple_name, from.copy(), isl_dim_out, term_name(term).c_str());
}

bool is_exponential(const RollParts& parts, const std::string& tensor) {
  return tensor == parts.exp || std::any_of(parts.rounded_exp.begin(), parts.rounded_exp.end(),
                                            [&](const auto& each) { return each.second == tensor; });
}

/// { t0[b, y, b', w] -> t<i>[...] } of \p tensor, whose elements have rows \p row: earlier blocks are in the running value of the block
/// before, this block in its own part.
isl::union_map link_of(const RollParts& parts, const Program& after, const std::string& tensor, int y,
                       const isl::multi_aff& row) {
  std::set<std::string> common;
  for (const auto& each : after.scopes)
    if (parts.program.find(each->tensor)) common.insert(each->tensor);
  const auto flat = flatten(with_induction(parts.program, after, tensor, common), tensor, common, Sums::MultipliedOut);
  const int all = y + 3;
  const auto b = index_of(parts.ctx, all, {}, 0, 1), w = index_of(parts.ctx, all, {}, y + 2, 1);
  auto result = isl::union_map::empty(parts.ctx);
  for (std::size_t i = 0; i < flat.cases.size(); ++i) {
    bool earlier = false;
    auto to = projection(parts.ctx, all, {});
    for (const auto& segment : flat.cases[i].segments) {
      earlier = earlier || segment.tensor == closed_form(tensor);
      to = to.flat_range_product(
          segment.tensor == closed_form(tensor)   ? index_of(parts.ctx, all, {"i0 - 1"}, 1, y + 2)
          : segment.tensor == tensor              ? index_of(parts.ctx, all, {}, 0, y + 1)
          : is_exponential(parts, segment.tensor) ? b.flat_range_product(row).flat_range_product(w)
          : segment.tensor == parts.step          ? b.flat_range_product(row)
                                                  : index_of(parts.ctx, all, {}, 0, y + 1, {str("i", y + 2)}));
    }
    const auto where = isl::set(parts.ctx, str("{ ", tuple_text(all), " : i", y + 1, earlier ? " < " : " = ", "i0 }"));
    result = result.unite(named(to.as_map().intersect_domain(where), i).to_union_map());
  }
  return result;
}

}  // namespace

Step rolled_loop(const RollParts& parts) {
  const auto& view = parts.view;
  const auto sums = join(tensors_of(view));
  Step step{"roll",
            str(view.has_maximum() ? view.maximum + " with " : "", sums, " in blocks of ", parts.blocks.size),
            with_loop(parts.program, LoopMaker(parts).run()),
            {}};
  if (view.has_maximum()) {
    const int x = parts.rows();
    step.certificate.maps.emplace(parts.run,
                                  link_of(parts, step.after, parts.run, x, index_of(parts.ctx, x + 3, {}, 1, x)));
  }
  for (const auto& sum : parts.sums) {
    const int y = parts.scope(sum.view->tensor).left();
    const auto row =
        sum.view->has_exponential() ? parts.rows_of(*sum.view, y, y + 3, 1) : projection(parts.ctx, y + 3, {});
    step.certificate.maps.emplace(sum.run, link_of(parts, step.after, sum.run, y, row));
  }
  return step;
}

}  // namespace tc::derive
