#include "tc/engine/run/run_values.h"

#include "tc/base/str.h"
#include "tc/halide_bridge/lower/program.h"
#include "tc/halide_bridge/raise/run_values.h"

namespace tc::engine {

std::string stride_variable(const std::string& tensor, std::size_t dimension) {
  return halide_bridge::size_variable(str(tensor, "'", dimension));
}

std::vector<std::string> run_value_names(const lang::SizeRanges& symbolic, const std::vector<Argument>& arguments) {
  std::vector<std::string> result;
  for (const auto& [name, range] : symbolic) result.push_back(halide_bridge::size_variable(name));
  for (const auto& argument : arguments)
    for (std::size_t d = 0; d < argument.spec.shape.size(); ++d) result.push_back(stride_variable(argument.name, d));
  return result;
}

Argument run_values_argument(const std::vector<std::string>& names) {
  Argument result;
  result.name = halide_bridge::run_values_buffer;
  result.spec = contiguous(DType::Int64, {static_cast<std::int64_t>(names.size())});
  result.mins = {0};
  return result;
}

}  // namespace tc::engine
