#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tc/base/cancellation.h"
#include "tc/base/error.h"
#include "tc/base/stage.h"
#include "tc/base/tensor.h"
#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/tree.h"

namespace tc::engine {

/// A def of a text, understood: it can be compiled for any sizes. Immutable, shared.
struct Function {
  std::shared_ptr<const lang::File> file;  ///< the checked text it stands in
  lang::Def def;                           ///< checked, without calls and lets
  lang::Ranges ranges;
  std::string key;  ///< its canonical text

  const std::string& name() const { return def.name; }
};

/// A text: its defs in order, and what check warned of.
struct Module {
  std::shared_ptr<const lang::File> file;
  std::vector<std::shared_ptr<const Function>> functions;
  std::vector<Diagnostic> warnings;
  std::vector<StageRecord> records;

  /// Throws ArgumentError that lists the defs there are.
  const std::shared_ptr<const Function>& function(std::string_view name) const;
};

/// What the stages of define() work on.
struct DefineState {
  std::string text, name;
  lang::File parsed;
  std::shared_ptr<const lang::File> checked;
  std::vector<lang::Def> inlined;
  std::vector<lang::Ranges> ranges;
  std::vector<Diagnostic> warnings;
  std::vector<SemanticError> errors;  ///< of defs that others call, thrown with those of the rest by infer
  std::set<std::string> erroneous;    ///< the defs that have errors
  std::map<std::string, lang::Ranges> known_ranges;  ///< of defs that others call, found while these were inlined
  Cancellation cancellation;
};

/// parse, check, inline, infer.
const std::vector<Stage<DefineState>>& define_stages();

/// The defs of \p text. \p name stands for the text in messages.
/// Throws SyntaxError or SemanticError with every error of the text that can be told apart from its causes, or the first
/// hundred; CancelledError and ResourceError as options.cancellation says. Time and memory are linear in the text and in
/// what its calls write out.
Module define(const std::string& text, const std::string& name = "<tc>", const StageOptions<DefineState>& options = {});

/// A return as a caller sees it: 0-based and dense, its first element being the one at `mins`.
struct TensorInfo : TensorSpec {
  std::string name;
  std::vector<std::int64_t> mins;
  bool read = false;  ///< accumulates into what the caller's buffer holds
};

/// The sizes that \p inputs give to \p function.
/// Throws ArgumentError for a wrong number, type, rank or size of a tensor and for a precondition that does not hold.
lang::SizeMap bind_inputs(const Function& function, const std::vector<TensorSpec>& inputs);

/// The returns of \p function for \p inputs. Throws as bind_inputs.
std::vector<TensorInfo> infer_output_tensor_info(const Function& function, const std::vector<TensorSpec>& inputs);

}  // namespace tc::engine
