#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "callable.h"
#include "tc/engine/engine.h"

namespace tc::python {

/// How a def is to be compiled, as Python gives it.
struct Settings {
  std::optional<std::string> target;
  std::optional<options::MappingOptions> mapping;
  std::optional<engine::MappingFrom> mapping_from;  ///< where there is no mapping; none: as the environment says
  std::shared_ptr<cache::Cache> cache;              ///< null: the environment's
  bool use_cache = true;
  std::optional<std::string> schedule;
  std::optional<std::string> nest;
  graph::Partition partition = graph::Partition::Auto;
  std::string libraries = "none";
  graph::LayoutMode layouts = graph::LayoutMode::Constants;
  int derive = 0;
  bool fold_scales = false;
  double time_limit = 0;
  std::size_t memory_limit = 0;
  std::set<std::string> dynamic = {};    ///< sizes for ranges of whose values one code is made
  std::set<std::string> unaligned = {};  ///< of the tensors compiled for

  engine::CompileOptions options() const;
};

/// \p settings for the GPU that \p device is, unless they name a target.
Settings for_device(Settings settings, int device);

/// A def of a text, for Python to keep.
struct Definition {
  std::shared_ptr<const engine::Function> function;
};

/// One def of a text: called with tensors, it compiles on first use for their types, shapes and strides.
class PyFunction {
 public:
  PyFunction(std::shared_ptr<const engine::Function> function, Settings settings);

  /// Runs the def on the tensors \p args, into `out` where it is not null. \p self, its object in Python, is handed on
  /// to tensor_comprehensions.autograd where a tensor requires grad, and to tensor_comprehensions.operators where torch
  /// does anything but run it.
  pybind11::object call(PyObject* self, PyObject* args, PyObject* out);
  /// Runs the def, whatever torch does.
  pybind11::object run(PyObject* args, PyObject* out);

  /// The tensors of a call in the order of the parameters: \p args, then those that \p named names.
  pybind11::args in_order(const pybind11::args& args, const pybind11::kwargs& named) const;

  std::shared_ptr<Callable> compile(const std::vector<TensorSpec>& inputs, const std::vector<TensorSpec>& outputs,
                                    const Settings& settings, std::vector<engine::Constant> constants = {},
                                    std::vector<HeldTensor> held = {}) const;

  const std::shared_ptr<const engine::Function>& function() const { return function_; }
  const Settings& settings() const { return settings_; }
  std::size_t compiled_count() const;
  /// How many executables it keeps: those that were called last, of all types, shapes and strides.
  std::size_t max_compiled() const { return max_compiled_; }
  /// Keeps \p most from now on, and lets go of the others. Throws ArgumentError for 0.
  void set_max_compiled(std::size_t most);

 private:
  void add(const std::string& name);
  pybind11::object call_as_given(PyObject* self, PyObject* args, PyObject* out);
  pybind11::object run(Operands& operands, PyObject* out);
  std::shared_ptr<const Callable> find(Operands& operands, std::size_t end);
  void let_go();

  /// An executable, and the number of the last search that found it.
  struct Compiled {
    std::shared_ptr<const Callable> callable;
    std::uint64_t found = 0;
  };

  std::shared_ptr<const engine::Function> function_;
  Settings settings_;
  Signature signature_;
  std::unordered_multimap<std::uint64_t, Compiled> compiled_;  ///< by the hash of the operands
  std::size_t max_compiled_ = 256;
  std::uint64_t searches_ = 0;
  std::shared_ptr<const Callable> last_;
  std::size_t last_end_ = 0;
  int last_device_ = on_cpu;
  std::uint64_t last_generation_ = 0;  ///< of the options in caches, which decide what is compiled
};

}  // namespace tc::python
