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

std::shared_ptr<const Function> defined(const lang::Def& def, const Supervision& supervision) {
  StageOptions<DefineState> options;
  options.cancellation = supervision.cancellation();
  return define(lang::print(def), def.name, options).functions.front();
}

constexpr const char* place = "differentiation";

}  // namespace

GradientFunction gradient(const std::shared_ptr<const Function>& function, const autodiff::Options& options,
                          const Limits& limits) {
  return supervised(limits, place, [=](const Supervision& supervision) {
    const auto whole = inlined(function);
    const autodiff::Gradient made = autodiff::differentiate({whole->def, whole->ranges}, whole->file->text, options);
    GradientFunction result{defined(made.def(), supervision), made.wrt, made.saved, made.seeds, {}, made.notes};
    result.unread = unread_parameters(result.function->def);
    return result;
  });
}

TangentFunction tangent(const std::shared_ptr<const Function>& function, const autodiff::Options& options,
                        const Limits& limits) {
  return supervised(limits, place, [=](const Supervision& supervision) {
    const auto whole = inlined(function);
    const autodiff::Tangent made = autodiff::tangent({whole->def, whole->ranges}, whole->file->text, options);
    return TangentFunction{defined(made.def, supervision), made.tangents, made.wrt, made.of};
  });
}

BatchedFunction batch(const std::shared_ptr<const Function>& function, const std::map<std::string, int>& places,
                      const Limits& limits) {
  return supervised(limits, "a batch", [=](const Supervision& supervision) {
    const auto whole = inlined(function);
    const autodiff::Batched made = autodiff::batch({whole->def, whole->ranges}, places);
    return BatchedFunction{defined(made.def, supervision), made.returns};
  });
}

}  // namespace tc::engine
