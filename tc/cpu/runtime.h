#pragma once

#include <string>
#include <vector>

namespace tc::cpu {

/// A function that machine code calls by name.
struct RuntimeSymbol {
  std::string name;
  void* address;
};

/// What Halide's code generator leaves to a runtime: threads, memory, errors; and the functions tc_<name>_f32|f64 of
/// the language.
const std::vector<RuntimeSymbol>& runtime_symbols();

}  // namespace tc::cpu
