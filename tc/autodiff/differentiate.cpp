#include "tc/autodiff/differentiate.h"

#include <algorithm>

#include "tc/autodiff/simplify/backward_def.h"
#include "tc/autodiff/simplify/in_loops.h"
#include "tc/autodiff/simplify/simplify_steps.h"
#include "tc/autodiff/terms/affine.h"
#include "tc/autodiff/understood.h"
#include "tc/base/str.h"
#include "tc/lang/syntax/diagnostics.h"
#include "tc/lang/syntax/names_of.h"
#include "tc/lang/syntax/print.h"

namespace tc::autodiff {

using namespace lang;

namespace {

bool is_updated(const Def& def, const std::string& name) { return def.tensors.at(name).role == Role::InOut; }

/// What is asked for, checked: names of parameters and returns.
struct Selection {
  std::vector<std::string> wrt, of;
};

SourceRange place_of(const std::vector<TensorDecl>& decls, const std::string& name) {
  for (const auto& decl : decls)
    if (decl.name == name) return decl.range;
  return {};
}

/// The floats of \p wanted, or of all \p decls if it is empty. Reports names that are none, and tensors that are no
/// floats.
std::vector<std::string> select(const Def& def, const std::vector<std::string>& wanted,
                                const std::vector<TensorDecl>& decls, const std::string& what,
                                Diagnostics& diagnostics) {
  const auto known = names_of(decls);
  std::vector<std::string> selected;
  for (const auto& name : wanted.empty() ? known : wanted) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string near = closest(name, known);
      diagnostics.add({.code = "TC304",
                       .range = def.name_range,
                       .message = str("'", def.name, "' has no ", what, " '", name, "'"),
                       .help = near.empty() ? str("it has ", join(known)) : str("did you mean '", near, "'?")});
      continue;
    }
    const DType type = def.tensors.at(name).type;
    if (is_float(type)) {
      selected.push_back(name);
    } else if (!wanted.empty()) {
      diagnostics.add({.code = "TC302",
                       .range = place_of(decls, name),
                       .message = str("'", name, "' is ", type, "; gradients exist for floats")});
    }
  }
  return selected;
}

Selection select(const Def& def, const Options& options, Diagnostics& diagnostics) {
  auto given = def.params;
  for (const auto& decl : def.returns)
    if (is_updated(def, decl.name)) given.push_back(decl);
  Selection selection{select(def, options.wrt, given, "parameter", diagnostics),
                      select(def, options.of, def.returns, "return", diagnostics)};
  if (diagnostics.has_errors()) return selection;
  if (selection.wrt.empty() || selection.of.empty())
    diagnostics.add({.code = "TC301",
                     .range = def.name_range,
                     .message = str("'", def.name, "' has no float ", selection.wrt.empty() ? "parameter" : "return",
                                    ", so there is nothing to differentiate")});
  return selection;
}

/// The statements of a gradient are refused as a text.
struct RefusedText : InternalError {
  RefusedText(const std::string& text, std::vector<Diagnostic> diagnostics)
      : InternalError(text, std::move(diagnostics)) {}

  bool for_its_size() const {
    return std::any_of(diagnostics().begin(), diagnostics().end(),
                       [](const Diagnostic& d) { return d.code == "TC006" || d.code == "TC008" || d.code == "TC209"; });
  }
};

/// The backward def of one def.
class Differentiator {
 public:
  Differentiator(const InlinedDef& function, const Selection& selection, const Options& options,
                 Diagnostics& diagnostics)
      : function_(function), options_(options), names_(function.def), diagnostics_(diagnostics) {
    gradient_.wrt = selection.wrt;
    name_ = names_.take(str(function.def.name, "_grad"));
    of_ = selection.of;
    for (const auto& output : of_) take_seed(output);
    for (const auto& name : selection.wrt)
      results_.push_back(names_.take(str("d_", name, is_updated(function.def, name) ? "_old" : "")));
    request_.by_guards = options.by_guards;
  }

  Gradient run();

 private:
  void take_seed(const std::string& output);
  std::vector<Step> simplified(const Reversed& reversed);
  Boxes boxes(const Forward& forward) const;
  TensorDecl declared(const std::string& name, const std::string& like) const;
  Def assemble(const Recomputation& recomputation);
  void understand(const Def& def);
  void note(const Reversed& reversed);
  void request_of(const Forward& forward);
  void refuse_lost(const std::vector<std::string>& lost);

  const InlinedDef& function_;
  const Options& options_;
  FreshNames names_;
  Diagnostics& diagnostics_;
  std::string name_;
  std::vector<std::string> of_, results_;
  ReverseRequest request_;
  Gradient gradient_;
};

void Differentiator::take_seed(const std::string& output) {
  AdjointTensor seed{names_.take(str("d_", output)), function_.def.tensors.at(output).type, {}};
  for (const Range& range : function_.ranges.tensors.at(output)) seed.shifts.push_back(range.min);
  gradient_.seeds.push_back(seed.name);
  request_.seeds[output] = seed;
}

/// The gradients that are asked for are of parameters and of the caller's tensors.
void Differentiator::request_of(const Forward& forward) {
  for (std::size_t i = 0; i < gradient_.wrt.size(); ++i) {
    const auto given = forward.given.find(gradient_.wrt[i]);
    request_.wrt.push_back(given == forward.given.end() ? gradient_.wrt[i] : given->second);
    request_.results[request_.wrt.back()] = results_[i];
  }
}

/// Reports that values which the def overwrites are needed.
void Differentiator::refuse_lost(const std::vector<std::string>& lost) {
  for (const auto& name : lost)
    diagnostics_.add({.code = "TC306",
                      .range = place_of(function_.def.returns, name),
                      .message = str("the gradient needs the values of '", name, "' that the def overwrites"),
                      .help = str("make the old value a parameter of another name, and assign '", name, "' first")});
  diagnostics_.throw_if_errors<SemanticError>();
}

/// The statements of the gradient as a person would write them.
std::vector<Step> Differentiator::simplified(const Reversed& reversed) {
  GuardProver prover(reversed.forward.sizes);
  const auto definitions = product_definitions(reversed.forward);
  std::vector<Step> steps = without_dead(reversed.steps, results_);
  steps = use_names(std::move(steps), definitions, prover);
  steps = hoist_factors(std::move(steps), names_);
  steps = drop_centred_sums(std::move(steps), reversed.forward);
  steps = inline_pointwise(std::move(steps), definitions, prover);
  steps = join_sums(std::move(steps));
  steps = share_values(std::move(steps), prover);
  steps = name_invariants(std::move(steps), names_, prover);
  steps = without_dead(split_residues(std::move(steps), names_, prover, boxes(reversed.forward)), results_);
  int loops = 0;
  for (const auto& statement : reversed.forward.statements)
    for (const auto& loop : statement.loops) loops = std::max(loops, loop.id + 1);
  return in_loops(std::move(steps), loops, names_, [&](SourceRange place) {
    diagnostics_.add(
        {.code = "TC308",
         .range = place,
         .message = "no loop computes the gradient of this statement in order",
         .help = "write the def so that each read of an earlier iteration is at the same distance as others"});
  });
}

/// Of what the caller gives, and of versions.
Boxes Differentiator::boxes(const Forward& forward) const {
  Boxes boxes;
  for (const auto& [name, version] : forward.versions) boxes[name] = version.box;
  for (const auto& [output, seed] : request_.seeds)
    for (const Range& range : function_.ranges.tensors.at(output))
      boxes[seed.name].push_back({"", integer(0), to_expr(read_affine(range.extent))});
  return boxes;
}

/// A parameter of the backward def that has the type and the shape of \p like.
TensorDecl Differentiator::declared(const std::string& name, const std::string& like) const {
  TensorDecl decl{name, function_.def.tensors.at(like).type, {}, {}};
  std::vector<ExprPtr> dims;
  for (const Range& range : function_.ranges.tensors.at(like)) dims.push_back(to_expr(read_affine(range.extent)));
  if (!dims.empty()) decl.dims = dims;
  return decl;
}

Def Differentiator::assemble(const Recomputation& recomputation) {
  Def def;
  def.name = name_;
  for (const auto& param : function_.def.params) def.params.push_back(declared(param.name, param.name));
  for (const auto& saved : recomputation.saved) def.params.push_back(declared(saved, saved));
  for (const auto& output : of_) def.params.push_back(declared(request_.seeds.at(output).name, output));
  for (const auto& result : results_) def.returns.push_back({result, {}, {}, {}});
  std::vector<Step> steps = recomputation.steps;
  steps.insert(steps.end(), recomputation.gradients.begin(), recomputation.gradients.end());
  for (const Step& step : with_first_values(steps)) def.statements.push_back({assignment_of(step), {}, step.loops});
  return def;
}

/// \p def as text, checked, with its ranges.
void Differentiator::understand(const Def& def) {
  try {
    Understood understood = autodiff::understand(def);
    gradient_.file = std::move(understood.file);
    gradient_.ranges = std::move(understood.ranges);
  } catch (const Error& error) {
    throw RefusedText(
        str("TC305: the gradient of '", function_.def.name, "' is no program: ", error.what(), "\n", print(def)),
        error.diagnostics());
  }
}

void Differentiator::note(const Reversed& reversed) {
  gradient_.reads = reversed.reads;
  for (const auto& read : reversed.reads)
    if (read.compares)
      gradient_.notes.push_back(
          str("the gradient of ", read.read,
              " adds up where its subscripts say: in parallel only over indices that they do not hold"));
}

Gradient Differentiator::run() {
  const Forward forward = in_versions(function_, names_, [&](const std::string& tensor, SourceRange place) {
    diagnostics_.add(
        {.code = "TC308",
         .range = place,
         .message = str("the gradient of a loop that reads '", tensor,
                        "', which it changes, at elements that are not at a constant distance is not taken"),
         .help = "give the values of before the loop and those of the loop tensors of their own"});
  });
  diagnostics_.throw_if_errors<SemanticError>();
  request_of(forward);
  const Reversed reversed = reverse(forward, request_, names_, [&](const std::string& function, SourceRange place) {
    if (function == spelling(ReductionOp::Product))
      diagnostics_.add({.code = "TC307",
                        .range = place,
                        .message = "the third derivative of a product is not taken: it is wrong where factors are 0",
                        .help = "write the product as statements that multiply two factors"});
    else
      diagnostics_.add({.code = "TC303", .range = place, .message = str("no derivative of '", function, "' is known")});
  });
  diagnostics_.throw_if_errors<SemanticError>();
  std::vector<std::string> savable;
  if (options_.save_outputs) savable = names_of(function_.def.returns);
  std::vector<Step> gradients = simplified(reversed);
  diagnostics_.throw_if_errors<SemanticError>();
  const Recomputation recomputation = recompute(reversed, gradients, savable);
  refuse_lost(recomputation.lost);
  gradient_.saved = recomputation.saved;
  note(reversed);
  understand(assemble(recomputation));
  understand(without_redundant_ranges(gradient_.def(), gradient_.ranges));
  return std::move(gradient_);
}

/// Is \p condition \p other, or one of those that \p other joins by ||?
bool implies(const ExprPtr& condition, const ExprPtr& other) {
  const auto* pair = std::get_if<Binary>(&other->node);
  if (pair && pair->op == BinaryOp::Or) return implies(condition, pair->left) || implies(condition, pair->right);
  return equal(condition, other);
}

/// Does \p a ask for what \p b asks for, wherever that does?
bool as_strict(const Precondition& a, const Precondition& b) {
  auto excuses_b = [&](const ExprPtr& extent) {
    return std::any_of(b.extents.begin(), b.extents.end(), [&](const ExprPtr& other) { return equal(extent, other); });
  };
  return implies(a.condition, b.condition) && std::all_of(a.extents.begin(), a.extents.end(), excuses_b);
}

/// Does \p gradient ask for something of the sizes that the def does not ask for?
bool asks_more(const Gradient& gradient, const InlinedDef& function) {
  const auto& known = function.ranges.preconditions;
  const auto& asked = gradient.ranges.preconditions;
  return std::any_of(asked.begin(), asked.end(), [&](const Precondition& condition) {
    return std::none_of(known.begin(), known.end(),
                        [&](const Precondition& other) { return as_strict(other, condition); });
  });
}

}  // namespace

Gradient differentiate(const InlinedDef& function, const std::string& text, const Options& options) {
  Diagnostics diagnostics(text, function.def.name);
  const Selection selection = select(function.def, options, diagnostics);
  diagnostics.throw_if_errors<SemanticError>();
  Options by_guards = options;
  by_guards.by_guards = true;
  try {
    try {
      Gradient gradient = Differentiator(function, selection, options, diagnostics).run();
      if (options.by_guards || !asks_more(gradient, function)) return gradient;
    } catch (const RefusedText& refused) {
      if (options.by_guards || refused.for_its_size()) throw;
    }
    return Differentiator(function, selection, by_guards, diagnostics).run();
  } catch (const RefusedText& refused) {
    if (!refused.for_its_size()) throw;
    throw ResourceError(str("the gradient of '", function.def.name, "' is too large a text: write the def as several"),
                        refused.diagnostics());
  }
}

}  // namespace tc::autodiff
