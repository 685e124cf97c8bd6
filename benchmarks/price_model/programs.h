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

/// Other programs, which no rule, price or search was made for: to see what these make of what they do not know.
std::vector<PricedProgram> held_out_programs();

/// A program drawn by \p seed, named after it: contractions, windows, reductions, element-wise programs and stencils with sizes, orders
/// and bodies that nobody chose. Seeds that were not used yet are programs that nothing was made for.
PricedProgram drawn_program(std::uint64_t seed);

/// The operators and shapes that the paper on Gensor names, Tables IV and V; unless \p whole with the batch divided by 32, and M
/// and N of products by 16.
std::vector<PricedProgram> paper_programs(bool whole);
