#include "test/derive/derive_fixture.h"

#include <random>

#include "tc/base/str.h"
#include "tc/derive/form/from_def.h"
#include "tc/halide_bridge/infer/infer_ranges.h"
#include "tc/lang/check/check.h"
#include "tc/lang/interpret/interpret.h"
#include "tc/lang/syntax/parse.h"
#include "test/support/interpret_text.h"

namespace tc::test {

derive::Program program_of(const std::string& text, derive::ContextPtr context) {
  if (!context) context = std::make_shared<polyhedral::Context>();
  try {
    return derive::from_text(text, context);
  } catch (const derive::Refusal& refusal) {
    throw InternalError(str("not understood: ", refusal.why, "\n", text));
  }
}

namespace {

/// The returns of a def of numbers for integers from \p seed.
Tensors run(const std::string& text, std::uint64_t seed) {
  const auto file = lang::check(lang::parse(text));
  const auto& def = file.defs.front();
  const auto ranges = halide_bridge::infer_ranges(def, text);
  std::mt19937_64 random(seed);
  Tensors tensors;
  std::map<std::string, TensorView> views;
  auto add = [&](const std::string& name, bool fill) {
    std::vector<std::int64_t> shape;
    for (const auto& range : lang::evaluate_box(ranges.tensors.at(name), {})) shape.push_back(range.extent);
    const auto type = def.tensors.at(name).type;
    auto made = fill ? random_integers(contiguous(type, shape), type == DType::Bool ? 0 : -4,
                                       type == DType::Bool ? 2 : 5, random)
                     : dense(type, shape);
    views.emplace(name, tensors.emplace(name, std::move(made)).first->second.view());
  };
  for (const auto& param : def.params) add(param.name, true);
  for (const auto& decl : def.returns) add(decl.name, false);
  lang::interpret(def, ranges, {}, views);
  for (const auto& param : def.params) tensors.erase(param.name);
  return tensors;
}

}  // namespace

std::optional<std::string> integer_difference(const std::string& before, const std::string& after, std::uint64_t seed) {
  const auto want = run(before, seed), got = run(after, seed);
  for (const auto& [name, tensor] : want)
    if (const auto found = difference(got.at(name), tensor, 0)) return str(name, ": ", *found);
  return std::nullopt;
}

}  // namespace tc::test
