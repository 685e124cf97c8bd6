#pragma once

#include <vector>

#include "tc/engine/layouts/operator_kernels.h"

namespace tc::engine {

/// The ways in which the libraries of \p dispatcher compute \p call of \p program, with the seconds of one run, measured here in as many
/// threads as kernels run in: of those with the same layouts of what counts() the fastest. Equal calls are measured once for \p kernels.
///
///   conv      own code, plain      1.9 ms
///             onednn, NHWC         2.1 ms
///             onednn, NCHW16c      1.7 ms
///
/// Layouts are plain, channels last, and blocks of channels if they are whole; with constants as the library's guideline has them, or
/// graph::layout_alternatives() beside these. A library that would leave the call to own code has no part in it, nor has the interpreter if anybody else computes the call. Throws as Dispatcher::choose
/// where nobody computes the call.
std::vector<CallAlternative> measured_alternatives(const OperatorProgram& program, const OperatorCall& call,
                                                   const Dispatcher& dispatcher, OperatorKernels& kernels);

/// Seconds of a conversion of \p tensor, from plain to channels last.
double measured_conversion(const VirtualTensor& tensor, OperatorKernels& kernels);

/// As evaluate_partially(), with measured alternatives for all calls that are not element-wise; tensors weigh the seconds of a conversion.
EvaluatedProgram evaluate_by_measuring(const OperatorProgram& program, const Dispatcher& dispatcher,
                                       OperatorKernels& kernels);

}  // namespace tc::engine
