#include "tc/engine/define/gradient.h"

#include <set>

#include "tc/autodiff/batch.h"
#include "tc/autodiff/tangent.h"
#include "tc/autodiff/terms/expressions.h"
#include "tc/lang/syntax/print.h"

namespace tc::engine {

namespace {

std::vector<std::string> unread_parameters(const lang::Def& def) {
  std::set<std::string> read;
  for (const auto& statement : def.statements)
    for (const auto& tensor : autodiff::tensors_in(std::get<lang::Assignment>(statement.node).rhs)) read.insert(tensor);
  std::vector<std::string> unread;
  for (const auto& param : def.params)
    if (!read.count(param.name)) unread.push_back(param.name);
  return unread;
}

std::shared_ptr<const Function> defined(const lang::Def& def) {
  return define(lang::print(def), def.name).functions.front();
}

}  // namespace

GradientFunction gradient(const std::shared_ptr<const Function>& function, const autodiff::Options& options) {
  const auto whole = inlined(function);
  const autodiff::Gradient made = autodiff::differentiate({whole->def, whole->ranges}, whole->file->text, options);
  GradientFunction result;
  result.function = defined(made.def());
  result.wrt = made.wrt;
  result.saved = made.saved;
  result.seeds = made.seeds;
  result.unread = unread_parameters(result.function->def);
  result.notes = made.notes;
  return result;
}

TangentFunction tangent(const std::shared_ptr<const Function>& function, const autodiff::Options& options) {
  const auto whole = inlined(function);
  const autodiff::Tangent made = autodiff::tangent({whole->def, whole->ranges}, whole->file->text, options);
  return {defined(made.def), made.tangents, made.wrt, made.of};
}

BatchedFunction batch(const std::shared_ptr<const Function>& function, const std::map<std::string, int>& places) {
  const auto whole = inlined(function);
  const autodiff::Batched made = autodiff::batch({whole->def, whole->ranges}, places);
  return {defined(made.def), made.returns};
}

}  // namespace tc::engine
