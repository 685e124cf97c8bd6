#pragma once

#include <cstddef>

#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_names.h"

namespace tc::polyhedral {

/// The lines that two nests have in common from the first on: what kernels are launched with, the trunk, branches.
std::size_t common_lines(const Nest& a, const Nest& b, const NestNames& names);

/// The error of \p nest, which cannot be made: its first line that \p nearest has not, beside the line that this one has there.
[[noreturn]] void fail_beside(const Nest& nest, const Nest& nearest, const NestNames& names);

}  // namespace tc::polyhedral
