#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tc/engine/graph/compile.h"
#include "test/support/host_tensor.h"

namespace tc::test {

/// By name of a return, see difference().
using Tolerances = std::map<std::string, double>;

/// Arguments of one call. Outputs hold what the caller's buffers held.
struct Arguments {
  std::vector<HostTensor> inputs, outputs;

  std::vector<TensorSpec> input_specs() const;
  std::vector<TensorSpec> output_specs() const;
  std::vector<TensorView> input_views();
  std::vector<TensorView> output_views();
};

/// The outputs the interpreter computes from \p arguments. Throws what lang::interpret throws.
std::vector<HostTensor> interpreted(const engine::Function& function, Arguments arguments);

/// What \p got, outputs of \p function, differs by from \p want, as text, or nothing.
std::optional<std::string> first_difference(const engine::Function& function, const std::vector<HostTensor>& got,
                                            const std::vector<HostTensor>& want, const Tolerances& tolerances);

/// Compiles \p function with all laws, or without where \p laws is not set, runs it on \p arguments and compares with the
/// interpreter: what differs, as text, or nothing. An ArgumentError of the interpreter must be one of the compiled code too.
/// \p tolerances is by return, exact where one is missing.
std::optional<std::string> mismatch(const std::shared_ptr<const engine::Function>& function, const Arguments& arguments,
                                    engine::CompileOptions options, const Tolerances& tolerances = {},
                                    bool laws = true);

/// The same of several calls, whose tensors are like those of the first: one compile serves them all.
std::optional<std::string> mismatch_of_calls(const std::shared_ptr<const engine::Function>& function,
                                             const std::vector<Arguments>& calls, engine::CompileOptions options,
                                             const Tolerances& tolerances = {}, bool laws = true);

}  // namespace tc::test
