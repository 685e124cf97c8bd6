#include "place.h"

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace py = pybind11;

namespace tc::python {
namespace {

/// The stream that torch uses now on \p device; the default one where torch is not in use.
cuda::Driver::Stream torch_stream(int device) {
  static PyObject* function = nullptr;
  if (!function) {
    py::object modules = py::module_::import("sys").attr("modules");
    if (!modules.contains("torch")) return nullptr;
    py::object core = modules["torch"].attr("_C");
    if (!py::hasattr(core, "_cuda_getCurrentRawStream")) return nullptr;
    function = core.attr("_cuda_getCurrentRawStream").cast<py::object>().release().ptr();
  }
  return reinterpret_cast<void*>(py::handle(function)(device).cast<std::uintptr_t>());
}

std::string argument_text(const engine::Executable& executable, std::size_t i) {
  const auto& argument = executable.image().arguments[i];
  return str(argument.output ? "output '" : "input '", argument.name, "'");
}

}  // namespace

int device_of(Operands& operands, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (operands[i].device != on_cpu) return operands[i].device;
  return on_cpu;
}

cuda::Place current_place(int device) {
  cuda::driver();
  return {device, torch_stream(device)};
}

cuda::Place place_of(const engine::Executable& executable, Operands& operands, std::size_t count) {
  const auto& image = executable.image();
  int device = device_of(operands, count);
  for (std::size_t i = 0; i < count; ++i) {
    if (operands[i].is_number() && operands[i].device == on_cpu && device != on_cpu)
      operands[i].move_number(device, image.arguments[i].name.c_str());
    if (operands[i].device == on_cpu) {
      cuda::driver();
      throw ArgumentError(str(argument_text(executable, i), " is in the memory of the CPU, and '", image.function,
                              "' was compiled for ", image.target, ": pass ", image.arguments[i].name,
                              ".cuda(), or compile for \"cpu\""));
    }
    if (operands[i].device != device)
      throw ArgumentError(str(argument_text(executable, i), " is on device ", operands[i].device,
                              ", another tensor on device ", device, ": pass tensors on one device"));
  }
  return current_place(device == on_cpu ? 0 : device);
}

void check_on_cpu(const engine::Executable& executable, Operands& operands, std::size_t count) {
  const auto& image = executable.image();
  for (std::size_t i = 0; i < count; ++i)
    if (operands[i].device != on_cpu)
      throw ArgumentError(str(argument_text(executable, i), " is on a GPU, and '", image.function,
                              "' was compiled for ", image.target, ": pass ", image.arguments[i].name,
                              ".cpu(), or compile for \"cuda:", "...\""));
}

}  // namespace tc::python
