#include <pybind11/stl.h>

#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "bindings.h"
#include "callable.h"
#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"
#include "torch_state.h"
#include "xla_exchange.h"

/// Executables as a foreign function of XLA: compiled programs of JAX call them without Python.
namespace py = pybind11;

namespace tc::python {
namespace {

using Known = std::shared_ptr<const engine::Executable>;

/// The executables that programs of XLA may call, by number. They are never freed: a program may outlive all else of them.
struct Registry {
  ForkSharedMutex mutex;
  std::unordered_map<std::int64_t, Known> known;
};

Registry& registry() {
  static auto* made = new Registry();
  return *made;
}

xla::DataType xla_type(DType type) {
  switch (type) {
    case DType::Bool:
      return xla::DataType::Bool;
    case DType::Int8:
      return xla::DataType::Int8;
    case DType::Int16:
      return xla::DataType::Int16;
    case DType::Int32:
      return xla::DataType::Int32;
    case DType::Int64:
      return xla::DataType::Int64;
    case DType::UInt8:
      return xla::DataType::UInt8;
    case DType::UInt16:
      return xla::DataType::UInt16;
    case DType::UInt32:
      return xla::DataType::UInt32;
    case DType::UInt64:
      return xla::DataType::UInt64;
    case DType::Float16:
      return xla::DataType::Float16;
    case DType::BFloat16:
      return xla::DataType::BFloat16;
    case DType::Float32:
      return xla::DataType::Float32;
    case DType::Float64:
      return xla::DataType::Float64;
  }
  throw InternalError("a type that XLA has no number of");
}

/// The executable that the one attribute of \p frame names. Throws ArgumentError for one that this process has not made.
Known executable_of(const xla::CallFrame& frame) {
  const auto& attributes = frame.attributes;
  if (attributes.size != 1 || attributes.types[0] != xla::Attributes::scalar)
    throw ArgumentError("a call from XLA has not the one attribute that names its executable");
  const auto& scalar = *static_cast<const xla::Scalar*>(attributes.values[0]);
  if (scalar.dtype != xla::DataType::Int64) throw ArgumentError("an executable is named by an int64");
  std::shared_lock locked(registry().mutex);
  const auto found = registry().known.find(*static_cast<const std::int64_t*>(scalar.value));
  if (found == registry().known.end())
    throw ArgumentError(
        "this program of XLA calls a def that was compiled in another process: trace it here before it runs");
  return found->second;
}

/// The memory of \p buffer, which is to be a dense tensor \p argument. Throws ArgumentError for another one.
void* memory_of(const xla::Buffer& buffer, const engine::Argument& argument) {
  const auto& spec = argument.spec;
  if (buffer.dtype != xla_type(spec.dtype) || buffer.rank != spec.rank() ||
      !std::equal(spec.shape.begin(), spec.shape.end(), buffer.dims))
    throw ArgumentError(str("XLA gives '", argument.name, "' another type or shape than ", spec));
  return buffer.data;
}

void run(const xla::CallFrame& frame) {
  const auto executable = executable_of(frame);
  const auto& arguments = executable->image().arguments;
  const auto inputs = static_cast<std::size_t>(executable->image().input_count());
  if (static_cast<std::size_t>(frame.arguments.size) != inputs ||
      static_cast<std::size_t>(frame.results.size) != arguments.size() - inputs)
    throw ArgumentError(str("XLA calls '", executable->image().function, "' with another number of tensors"));
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    pointers.push_back(
        memory_of(i < inputs ? *frame.arguments.buffers[i] : *frame.results.buffers[i - inputs], arguments[i]));
  executable->run_unchecked(pointers.data(), engine::TestOutcome::Awaited);
}

xla::Error* error_of(const xla::CallFrame& frame, const char* message, xla::ErrorCode code) {
  xla::ErrorArguments arguments{sizeof(xla::ErrorArguments), nullptr, message, code};
  return frame.api->create_error(&arguments);
}

/// The handler that XLA calls, from any thread and without the interpreter's lock.
xla::Error* handle(xla::CallFrame* frame) {
  if (frame->extensions && frame->extensions->type == xla::MetadataExtension::type) {
    auto& metadata = *reinterpret_cast<xla::MetadataExtension*>(frame->extensions)->metadata;
    metadata.version = frame->api->version;
    metadata.traits = 0;
    return nullptr;
  }
  if (frame->struct_size < sizeof(xla::CallFrame) || frame->api->version.major != 0)
    return error_of(*frame, "this version of XLA calls foreign functions in another way", xla::ErrorCode::Internal);
  if (frame->stage != xla::Stage::Execute) return nullptr;
  try {
    run(*frame);
    return nullptr;
  } catch (const ArgumentError& error) {
    return error_of(*frame, error.what(), xla::ErrorCode::InvalidArgument);
  } catch (const std::exception& error) {
    return error_of(*frame, error.what(), xla::ErrorCode::Internal);
  }
}

void keep_for_xla(std::int64_t number, const std::shared_ptr<Callable>& callable) {
  const auto& executable = callable->executable();
  if (executable.image().is_for_gpu()) throw OptionsError("programs of XLA call defs that are compiled for a CPU");
  if (callable->reads_outputs())
    throw ArgumentError(str("'", executable.image().function,
                            "' accumulates into what its output holds, which an array ",
                            "of JAX cannot: begin with '+=!'"));
  keep_threads();
  std::unique_lock locked(registry().mutex);
  registry().known.emplace(number, Known(callable, &executable));
}

}  // namespace

void bind_xla(py::module_& m) {
  m.def("xla_handler", [] { return py::capsule(reinterpret_cast<void*>(&handle)); });
  m.def("keep_for_xla", &keep_for_xla, py::arg("number"), py::arg("executable"));
}

}  // namespace tc::python
