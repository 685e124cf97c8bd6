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
#include "tc/graph/graph.h"
#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/tree.h"

namespace tc::engine {

struct LateInlining;
struct Generic;

/// A def of a text, understood: it can be compiled for any sizes. Immutable, shared.
struct Function {
  std::shared_ptr<const lang::File> file;  ///< the checked text it stands in
  /// Checked, without calls and lets; of a def with many calls, which is compiled as a graph, as it is written.
  lang::Def def;
  lang::Ranges ranges;                      ///< of a def without calls
  std::string key;                          ///< its canonical text, and that of the defs that it calls
  std::shared_ptr<const graph::Defs> defs;  ///< of its text
  std::shared_ptr<LateInlining> late;       ///< of a def that is as it is written, else null
  std::shared_ptr<Generic> generic;         ///< of a generic def, which is its usual instance here, else null

  const std::string& name() const { return def.name; }
};

/// \p function, or, where its def holds calls, a function of that name with them written out: made when it is first
/// asked for, which takes some milliseconds a call. Throws SemanticError where the text would be too large, or ranges
/// contradict each other.
std::shared_ptr<const Function> inlined(const std::shared_ptr<const Function>& function);

/// The defs of \p file that \p def calls, straight or not, callees first.
std::vector<const lang::Def*> called_defs(const lang::Def& def, const lang::File& file);

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
  std::set<std::string> late;         ///< the defs of many calls, which stay as they are written
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

/// The inputs of \p function, all dense, for values of its \p sizes. Throws ArgumentError beyond 64 bits.
std::vector<TensorSpec> inputs_for(const Function& function, const lang::SizeMap& sizes);

/// The sizes that \p inputs give to \p function.
/// Throws ArgumentError for a wrong number, type, rank or size of a tensor and for a precondition that does not hold.
lang::SizeMap bind_inputs(const Function& function, const std::vector<TensorSpec>& inputs);

/// The returns of \p function for \p inputs. Throws as bind_inputs.
std::vector<TensorInfo> infer_output_tensor_info(const Function& function, const std::vector<TensorSpec>& inputs);

}  // namespace tc::engine
