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

/// A checked def of a text, which can be compiled for any sizes. Immutable, shared.
struct Function {
  std::shared_ptr<const lang::File> file;  ///< the checked text it stands in
  /// Checked, without calls and lets. A def with many calls, which is compiled as a graph, keeps its source form.
  lang::Def def;
  lang::Ranges ranges;                      ///< of a def without calls
  std::string key;                          ///< its canonical text, and the canonical texts of called defs
  std::shared_ptr<const graph::Defs> defs;  ///< of its text
  std::shared_ptr<LateInlining> late;       ///< of a def in its source form, else null
  std::shared_ptr<Generic> generic;         ///< of a generic def, which is its usual instance here, else null

  const std::string& name() const { return def.name; }
};

/// \p function or, if its def contains calls, a function of the same name with inlined calls. It is created at the
/// first request, which takes some milliseconds for each call. Throws SemanticError if the text would be too large,
/// or if ranges contradict each other.
std::shared_ptr<const Function> inlined(const std::shared_ptr<const Function>& function);

/// The defs of \p file that \p def calls, directly or indirectly, callees first.
std::vector<const lang::Def*> called_defs(const lang::Def& def, const lang::File& file);

/// A text: its defs in order, and the warnings of check.
struct Module {
  std::shared_ptr<const lang::File> file;
  std::vector<std::shared_ptr<const Function>> functions;
  std::vector<Diagnostic> warnings;
  std::vector<StageRecord> records;

  /// Throws ArgumentError that lists the existing defs.
  const std::shared_ptr<const Function>& function(std::string_view name) const;
};

/// The state of define() that its stages transform.
struct DefineState {
  std::string text, name;
  lang::File parsed;
  std::shared_ptr<const lang::File> checked;
  std::vector<lang::Def> inlined;
  std::vector<lang::Ranges> ranges;
  std::vector<Diagnostic> warnings;
  std::vector<SemanticError> errors;                 ///< of called defs, thrown by infer together with the other errors
  std::set<std::string> erroneous;                   ///< the defs that have errors
  std::set<std::string> late;                        ///< the defs with many calls, which keep their source form
  std::map<std::string, lang::Ranges> known_ranges;  ///< of called defs, found during inlining
  Cancellation cancellation;
};

/// parse, check, inline, infer.
const std::vector<Stage<DefineState>>& define_stages();

/// The defs of \p text. \p name stands for the text in messages.
/// Throws SyntaxError or SemanticError with every independent error of the text, or the first hundred; CancelledError
/// and ResourceError according to options.cancellation, and CancelledError at the end of the process. Time and memory
/// are linear in the text and its inlined calls.
Module define(const std::string& text, const std::string& name = "<tc>", const StageOptions<DefineState>& options = {});

/// A return as a caller sees it: 0-based and dense, its first element being the one at `mins`.
struct TensorInfo : TensorSpec {
  std::string name;
  std::vector<std::int64_t> mins;
  bool read = false;  ///< accumulates into the caller's buffer
};

/// The inputs of \p function, all dense, for values of its \p sizes. Throws ArgumentError beyond 64 bits.
std::vector<TensorSpec> inputs_for(const Function& function, const lang::SizeMap& sizes);

/// The sizes that \p inputs give to \p function.
/// Throws ArgumentError for a wrong number, type, rank or size of a tensor and for a precondition that does not hold.
lang::SizeMap bind_inputs(const Function& function, const std::vector<TensorSpec>& inputs);

/// The returns of \p function for \p inputs. Throws as bind_inputs.
std::vector<TensorInfo> infer_output_tensor_info(const Function& function, const std::vector<TensorSpec>& inputs);

}  // namespace tc::engine
