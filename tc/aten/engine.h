#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tc/base/fork.h"
#include "tc/engine/compile/compile_options.h"

/// Defs on tensors of torch (LibTorch), without Python.
namespace tc::aten {

using Tensors = std::vector<at::Tensor>;
struct Record;

/// A def that is called with tensors of torch: no data is copied, strides are as they are, and kernels for a GPU go into
/// torch's current stream. Immutable but for its caches; thread-safe.
///
/// Its calls throw, before anything is written, ArgumentError for tensors that do not fit the def, are undefined, not
/// strided, negated lazily, without memory, or on several devices, and what engine::compile throws.
class Function : public std::enable_shared_from_this<Function> {
 public:
  /// \p options are those of compiles; tensors on a GPU are compiled for theirs where the target is a CPU.
  explicit Function(std::shared_ptr<const engine::Function> function, engine::CompileOptions options = {});
  virtual ~Function() = default;

  const engine::Function& def() const { return *function_; }
  const engine::CompileOptions& options() const { return options_; }

  /// The returns for \p inputs, new dense tensors. Where torch records gradients and an input requires one, the call is a
  /// node of its graph: the backward is the def of engine::gradient, made by the call, compiled when it first runs, and
  /// recorded itself where torch asks for it. A def that accumulates takes what it adds to behind its parameters.
  /// Where inputs carry tangents of forward mode, the float returns do: those of the def of engine::tangent, a call itself.
  /// Throws SemanticError where the def has no gradient, ArgumentError for a tangent of what it adds to.
  virtual Tensors call(at::TensorList inputs) const;
  /// The same, recorded by nobody.
  Tensors run(at::TensorList inputs) const;

  /// Shape, type and mins of each return. Of \p inputs no memory is needed: tensors of "meta" will do.
  std::vector<engine::TensorInfo> infer_output_tensor_info(at::TensorList inputs) const;
  /// The machine code for tensors like these, compiled once. Empty \p outputs: dense ones.
  std::shared_ptr<const engine::Executable> compile(at::TensorList inputs, at::TensorList outputs = {}) const;

  /// What torch's graph keeps of a call where \p needs says which inputs have a gradient and \p given for which returns
  /// one comes. Throws as engine::gradient.
  std::shared_ptr<const Record> record(const std::vector<bool>& needs, const std::vector<bool>& given) const;
  /// What gives the tangents of all float returns, for those of the inputs that \p carried says, behind the parameters.
  /// Throws as call.
  std::shared_ptr<const Function> tangent(const std::vector<bool>& carried) const;

 protected:
  /// \p function, made of this one in the way that \p way names, as something to be called.
  virtual std::shared_ptr<const Function> derived(std::shared_ptr<const engine::Function> function,
                                                  const std::string& way) const;

 private:
  using Needs = std::pair<std::vector<bool>, std::vector<bool>>;

  void check_inputs(at::TensorList inputs, std::size_t count) const;
  /// Of a generic def, the function for the types and ranks of \p inputs, one for each parameter at least.
  std::shared_ptr<const Function> instance(at::TensorList inputs) const;
  Tensors with_numbers(at::TensorList inputs) const;
  std::shared_ptr<const engine::Executable> find(const std::vector<TensorView>& tensors, int device) const;
  Record make_record(const std::vector<bool>& needs, const std::vector<bool>& given) const;

  std::shared_ptr<const engine::Function> function_;
  engine::CompileOptions options_;
  std::vector<std::string> inputs_;  ///< what calls take: parameters, then returns that the def adds to
  std::vector<std::string> outputs_;
  mutable ForkSharedMutex mutex_;
  mutable std::map<std::vector<std::int64_t>, std::shared_ptr<const engine::Executable>> compiled_;
  mutable std::map<Needs, std::shared_ptr<const Record>> records_;
  mutable std::map<std::vector<bool>, std::shared_ptr<const Function>> tangents_;
  mutable std::map<const engine::Function*, std::shared_ptr<const Function>> instances_;
};

/// Runs \p executable on \p inputs and into \p outputs, whose versions it counts up as torch's own operators do.
/// Throws as engine::Executable::run, and ArgumentError where torch would lose a gradient or a tangent: it records
/// nothing.
void run(const engine::Executable& executable, at::TensorList inputs, at::TensorList outputs);

/// Loads text, compiles its defs and runs them on tensors of torch. Thread-safe.
///
///   ExecutionEngine engine;
///   engine.define("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }");
///   at::Tensor c = engine.call("mm", {a, b}).front();          // recorded where a or b require grad
///   auto handle = engine.compile("mm", {a, b}, {out});
///   engine.run(handle, {a, b}, {out});
class ExecutionEngine {
 public:
  using Handle = std::size_t;

  explicit ExecutionEngine(engine::CompileOptions options = {}) : options_(std::move(options)) {}

  /// Adds the defs of \p text; one of a name known before takes its place, handles stay valid. Throws SyntaxError or
  /// SemanticError with all errors of the text; nothing is added then.
  void define(const std::string& text, const std::string& name = "<tc>");
  /// The names of the defs, in alphabetical order.
  std::vector<std::string> functions() const;
  /// Throws ArgumentError that lists the defs there are.
  std::shared_ptr<const Function> function(const std::string& name) const;

  /// A handle of machine code for tensors like these, the same for the same function and tensors.
  Handle compile(const std::string& name, at::TensorList inputs, at::TensorList outputs = {});
  std::shared_ptr<const engine::Executable> executable(Handle handle) const;

  /// As the functions of these names, of the def \p name or the executable of \p handle.
  std::vector<engine::TensorInfo> infer_output_tensor_info(const std::string& name, at::TensorList inputs) const {
    return function(name)->infer_output_tensor_info(inputs);
  }
  Tensors call(const std::string& name, at::TensorList inputs) const { return function(name)->call(inputs); }
  void run(Handle handle, at::TensorList inputs, at::TensorList outputs) const {
    aten::run(*executable(handle), inputs, outputs);
  }

 private:
  engine::CompileOptions options_;
  mutable ForkSharedMutex mutex_;
  std::map<std::string, std::shared_ptr<const Function>> functions_;
  std::vector<std::shared_ptr<const engine::Executable>> compiled_;
};

}  // namespace tc::aten
