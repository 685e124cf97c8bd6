#pragma once

#include <string>
#include <vector>

#include "tc/base/tensor.h"

/// Programs by which prices are proved: products of all orders and shapes, convolutions, norms, softmax, attention,
/// stencils, transpositions, gathers, small batches.
struct PricedProgram {
  std::string name, text;
  std::vector<tc::TensorSpec> inputs;
};

std::vector<PricedProgram> priced_programs();
