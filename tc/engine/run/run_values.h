#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tc/engine/run/executable.h"
#include "tc/lang/interpret/ranges.h"

/// The values that a run tells code for symbolic sizes.
namespace tc::engine {

/// The name of the stride of \p dimension of the argument \p tensor.
std::string stride_variable(const std::string& tensor, std::size_t dimension);

/// The names of the values: the \p symbolic sizes, then the strides of \p arguments.
std::vector<std::string> run_value_names(const lang::SizeRanges& symbolic, const std::vector<Argument>& arguments);

/// The argument that holds them.
Argument run_values_argument(const std::vector<std::string>& names);

}  // namespace tc::engine
