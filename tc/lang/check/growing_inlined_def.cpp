#include "tc/lang/check/growing_inlined_def.h"

#include <algorithm>
#include <utility>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/check/check.h"
#include "tc/lang/check/short_forms.h"
#include "tc/lang/syntax/limits.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::lang {
namespace {

/// \p decls as the parser gives them.
std::vector<TensorDecl> raw(std::vector<TensorDecl> decls) {
  for (auto& decl : decls)
    if (decl.dims)
      for (auto& dim : *decl.dims) dim = substitute(dim, {});
  return decls;
}

}  // namespace

const TensorDecl* find_decl(const std::vector<TensorDecl>& decls, const std::string& name) {
  for (const auto& decl : decls)
    if (decl.name == name) return &decl;
  return nullptr;
}

GrowingInlinedDef::GrowingInlinedDef(const Def& def, const File& file, const InlineContext& context)
    : file_(file), context_(context), diagnostics_(file.text, file.name), head_(def) {
  result_.name = def.name;
  result_.params = raw(def.params);
  result_.returns = raw(def.returns);
  result_.range = def.range;
  head_.statements.clear();
}

void GrowingInlinedDef::add(Assignment assignment, SourceRange range, std::optional<DType> type, SourceRange place,
                            const std::vector<OrderedLoop>& loops) {
  context_.cancellation.check("the inliner");
  check_size(assignment, place.end > 0 ? place : range);
  assigned_.insert(assignment.target);
  if (type) types_.emplace(assignment.target, *type);
  Statement statement;
  statement.node = std::move(assignment);
  statement.range = range;
  statement.loops = loops;
  result_.statements.push_back(std::move(statement));
}

/// Throws SemanticError when the def grows too large; a single statement may not be too large either.
void GrowingInlinedDef::check_size(const Assignment& assignment, SourceRange place) {
  const Measure size = measure(assignment, max_statement_nodes);
  nodes_ += size.nodes + 1;
  if (nodes_ <= max_def_nodes && size.nodes <= max_statement_nodes && size.depth <= max_depth) return;
  const bool whole = nodes_ > max_def_nodes;
  diagnostics_.add({.code = "TC124",
                    .range = place,
                    .message = str(whole ? "the function '" : "a statement of '", result_.name,
                                   "' is too large with its calls written out"),
                    .note = str("it may hold ", whole ? max_def_nodes : max_statement_nodes,
                                " operators, names and numbers, ", max_depth, " levels deep"),
                    .help = "split it, and call the parts one after another"});
  diagnostics_.throw_if_errors<SemanticError>();
}

ExprPtr GrowingInlinedDef::dimension_of(const std::string& tensor, int dimension) const {
  auto* declared = param(tensor);
  if (declared && declared->dims) return declared->dims->at(static_cast<std::size_t>(dimension));
  return make_expr(SizeOf{tensor, dimension});
}

ExprPtr GrowingInlinedDef::extent_of(const std::string& tensor, int dimension) {
  auto* declared = param(tensor);
  if (declared && declared->dims) return declared->dims->at(static_cast<std::size_t>(dimension));
  const auto* box = box_of(tensor);
  return box ? box->at(static_cast<std::size_t>(dimension)).extent : nullptr;
}

const std::vector<Range>* GrowingInlinedDef::box_of(const std::string& tensor) {
  if (!checker_) {
    checker_ = std::make_unique<GrowingDefChecker>(head_, types_, diagnostics_);
    ranges_ = context_.start_ranges(head_);
  }
  for (std::size_t s = seen_; s < result_.statements.size(); ++s) checker_->announce(result_.statements[s]);
  for (; seen_ < result_.statements.size(); ++seen_) {
    const auto checked = without_short_forms(checker_->add(result_.statements[seen_]));
    diagnostics_.throw_if_errors<SemanticError>();
    ranges_->add(checked);
  }
  return ranges_->box(tensor);
}

const TensorDecl* GrowingInlinedDef::param(const std::string& name) const { return find_decl(result_.params, name); }

TensorDecl* GrowingInlinedDef::declared_return(const std::string& name) {
  auto& returns = result_.returns;
  auto found = std::find_if(returns.begin(), returns.end(), [&](const TensorDecl& decl) { return decl.name == name; });
  return found == returns.end() ? nullptr : &*found;
}

Def GrowingInlinedDef::checked() const {
  return without_short_forms(check_alone(result_, file_, context_.cancellation));
}

}  // namespace tc::lang
