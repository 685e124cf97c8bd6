#pragma once

#include <cstddef>
#include <future>
#include <initializer_list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tc/base/dlpack.h"  // IWYU pragma: export
#include "tc/base/fork.h"
#include "tc/engine/graph/compile.h"

namespace tc::engine {

/// Executables by key: the ones with another owner, and the ones requested last. Thread-safe; threads that request
/// one key at the same time share one compile. A forked child has the finished executables, and starts the other
/// compiles anew.
class ExecutableCache {
 public:
  using Entry = std::shared_ptr<const Executable>;

  /// Holds \p most executables itself.
  explicit ExecutableCache(std::size_t most = 128) : most_(most) {}

  /// The executable of \p key, made by \p make if there is none. A failure is not kept. Threads that waited for it
  /// get the same failure, with one exception: if the compile reached the limits of its caller (ResourceError), one
  /// of them starts it again within its own limits. A waiting thread throws according to \p cancellation.
  Entry get(const std::string& key, const Cancellation& cancellation, const std::function<Entry()>& make);
  /// The number of executables.
  std::size_t size() const;
  /// Releases all executables.
  void clear();

 private:
  /// An executable that a thread makes or has made.
  struct Making {
    std::shared_future<Entry> result;      ///< not valid if the cache does not hold it
    std::weak_ptr<const Executable> made;  ///< set when it is finished
    std::uint64_t generation = 0;          ///< of the process whose thread it is
    std::uint64_t asked = 0;               ///< when it was asked for last, in requests

    bool is_ready() const;
    bool is_lost() const;
    bool is_gone() const;
  };

  Entry make_entry(const std::string& key, std::promise<Entry>& promise, const std::function<Entry()>& make);
  std::vector<std::shared_future<Entry>> let_go();

  std::size_t most_;
  mutable ForkMutex mutex_;
  std::uint64_t requests_ = 0;
  std::unordered_map<std::string, Making> entries_;
};

/// compile() through \p cache, the executables of this process, and options.cache, those of all processes: its
/// mapping options according to options.mapping_from, and machine code that was made for the same options. Compiles
/// with a mutation are kept in neither; interpreted compiles and compiles with a replaced stage are kept in the first
/// only. Options of the cache that the compiler rejects cause a warning and are ignored.
ExecutableCache::Entry compile_cached(ExecutableCache& cache, const std::shared_ptr<const Function>& function,
                                      const std::vector<TensorSpec>& inputs,
                                      const std::vector<TensorSpec>& outputs = {}, const CompileOptions& options = {});

/// Loads text, compiles its defs and runs them on tensors of any framework (DLPack views). A thin interface to
/// define(),
/// infer_output_tensor_info(), compile() and Executable. Thread-safe.
///
///   ExecutionEngine engine;
///   engine.define("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }");
///   auto info = engine.infer_output_tensor_info("mm", {a, b});        // allocate C
///   auto handle = engine.compile("mm", {a, b}, {c});
///   engine.run(handle, {a, b}, {c});
class ExecutionEngine {
 public:
  using Handle = std::size_t;
  using Specs = std::vector<TensorSpec>;
  using Views = std::vector<TensorView>;

  /// Adds the defs of \p text. A def with a known name replaces the old one; handles stay valid. Throws SyntaxError
  /// or SemanticError with all errors of the text; in that case nothing is added.
  void define(const std::string& text, const std::string& name = "<tc>");
  /// The names of the defs, in the order of their definition.
  std::vector<std::string> functions() const;
  std::shared_ptr<const Function> function(const std::string& name) const;

  /// Shape, strides, type and mins of each return, for the caller to allocate. Throws ArgumentError.
  std::vector<TensorInfo> infer_output_tensor_info(const std::string& name, const Specs& inputs) const;
  /// A handle of machine code for tensors like these; the same handle for the same function, tensors and options.
  /// Empty \p outputs: dense ones.
  Handle compile(const std::string& name, const Specs& inputs, const Specs& outputs = {},
                 const CompileOptions& options = {});
  /// Checks the tensors, then runs. Throws ArgumentError; see Executable::run.
  void run(Handle handle, const Views& inputs, const Views& outputs) const;
  /// The hot path: pointers to the first elements of inputs, then outputs; only index tensors are checked.
  void run_unchecked(Handle handle, void* const* arguments) const;
  RunProfile profile(Handle handle, const Views& inputs, const Views& outputs) const;
  std::shared_ptr<const Executable> executable(Handle handle) const;
  /// The text of every stage of the compile behind \p handle, from parse to emit; compiles again to get them.
  std::vector<StageRecord> stage_texts(Handle handle) const;

  /// The same on DLPack tensors. A compile for a GPU is for tensors with the same alignment: unaligned tensors are
  /// added to options.unaligned.
  std::vector<TensorInfo> infer_output_tensor_info(const std::string& name,
                                                   const std::vector<const DLTensor*>& inputs) const;
  Handle compile(const std::string& name, const std::vector<const DLTensor*>& inputs,
                 const std::vector<const DLTensor*>& outputs, const CompileOptions& options = {});
  void run(Handle handle, const std::vector<const DLTensor*>& inputs,
           const std::vector<const DLTensor*>& outputs) const;

  /// The same with lists in braces: infer_output_tensor_info("mm", {&a, &b}).
  using Tensors = std::initializer_list<const DLTensor*>;
  std::vector<TensorInfo> infer_output_tensor_info(const std::string& name, Tensors inputs) const {
    return infer_output_tensor_info(name, std::vector(inputs));
  }
  Handle compile(const std::string& name, Tensors inputs, Tensors outputs, const CompileOptions& options = {}) {
    return compile(name, std::vector(inputs), std::vector(outputs), options);
  }
  void run(Handle handle, Tensors inputs, Tensors outputs) const {
    run(handle, std::vector(inputs), std::vector(outputs));
  }

 private:
  struct Compiled {
    std::shared_ptr<const Executable> executable;
    std::shared_ptr<const Function> function;
    CompileOptions options;
  };
  const Compiled& compiled(Handle handle) const;

  mutable ForkSharedMutex mutex_;
  std::vector<std::shared_ptr<const Function>> functions_;
  std::vector<std::unique_ptr<const Compiled>> compiled_;
  ExecutableCache cache_;
};

/// The text of every stage of a compile of \p function for \p arguments.
std::vector<StageRecord> stage_texts(const std::shared_ptr<const Function>& function,
                                     const std::vector<Argument>& arguments, CompileOptions options);

}  // namespace tc::engine
