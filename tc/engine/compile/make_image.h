#pragma once

#include <vector>

#include "tc/engine/compile/pipeline.h"

namespace tc::engine {

/// What \p state compiled to: functions and kernels, the launches with what they take, the plan of the workspace. Throws
/// ResourceError for temporaries of more bytes than addresses reach.
Image make_image(const CompileState& state);

/// The outputs that may lie where an input lies, in a run of \p function on \p arguments that start at 0.
std::vector<InPlace> in_place(const Function& function, const std::vector<Argument>& arguments);

}  // namespace tc::engine
