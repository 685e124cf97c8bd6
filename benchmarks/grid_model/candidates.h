#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "../price_model/programs.h"
#include "tc/base/target.h"
#include "tc/engine/graph/compile.h"

/// A way to map a program to a grid: options, and the mappings of its launches, " | " between clusters and " || " between
/// launches; empty: what rules choose by the options.
struct Candidate {
  std::string options, mapping;
  std::string price;  ///< fields of JSON: seconds and each term, of all kernels together
};

/// Options drawn by chance, and for half of them a mapping a few changes away from what rules choose by these.
Candidate random_candidate(const PricedProgram& program, const tc::Target& target, std::mt19937_64& random);

/// \p candidate with its mapping and price. Throws Error where it is none of \p program.
Candidate price_candidate(const PricedProgram& program, const tc::Target& target, const Candidate& candidate);

/// A kernel of a program: the nest that is chosen by default, and the one that a descent by moves finds from it.
struct Descent {
  std::string nest, chosen;
  double seconds = 0, chosen_seconds = 0;  ///< by price
};
std::vector<Descent> descents(const PricedProgram& program, const tc::Target& target);

/// The code of \p candidate; null where it cannot be carried out.
std::shared_ptr<const tc::engine::Executable> compile_candidate(const PricedProgram& program, const tc::Target& target,
                                                                const Candidate& candidate);

/// The text or the number of field \p name of a line of JSON as this program prints it.
std::string text_of(const std::string& line, const std::string& name);
double number_of(const std::string& line, const std::string& name);
