#include "tc/autodiff/understood.h"

#include "tc/autodiff/simplify/backward_def.h"
#include "tc/halide_bridge/infer/infer_ranges.h"
#include "tc/lang/check/check.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"

namespace tc::autodiff {

Understood understand(const lang::Def& def) {
  const std::string text = lang::print(def);
  Understood result;
  result.file = lang::check(lang::parse(text, def.name));
  result.ranges = halide_bridge::infer_ranges(result.def(), text, def.name);
  return result;
}

Understood understand_briefly(const lang::Def& def) {
  const Understood whole = understand(def);
  return understand(without_redundant_ranges(whole.def(), whole.ranges));
}

}  // namespace tc::autodiff
