#pragma once

#include <vector>

#include "../price_model/programs.h"

/// Programs of sizes that a GPU is used for, by which the prices of its kernels are proved: products of all orders and shapes,
/// convolutions, norms, softmax, sums, stencils, transpositions, lookups.
std::vector<PricedProgram> grid_programs();
