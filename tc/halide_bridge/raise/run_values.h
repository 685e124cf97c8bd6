#pragma once

#include <Halide.h>

#include <string>
#include <vector>

namespace tc::halide_bridge {

/// The buffer of int64 with the values that a run chooses: symbolic sizes, and strides.
inline constexpr const char* run_values_buffer = "sizes'";

/// \p body where the variables \p names are elements of the buffer, which holds them in this order.
///
///   before  for (i, 0, N'') ...      after  let N'' = int32(sizes'[0])  for (i, 0, N'') ...
Halide::Internal::Stmt with_run_values(const Halide::Internal::Stmt& body, const std::vector<std::string>& names);

}  // namespace tc::halide_bridge
