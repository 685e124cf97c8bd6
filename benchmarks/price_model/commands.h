#pragma once

#include <cstdint>
#include <string>

#include "programs.h"

/// The commands of price_model, which its usage describes. They print a line of JSON for each result.
void measure(const PricedProgram& program, int count, std::uint64_t seed);
void price_lines(const PricedProgram& program, const std::string& rates);
void speed(const PricedProgram& program);
void turns(const PricedProgram& program, int threads);
void search(const PricedProgram& program);
void levels(const PricedProgram& program, int threads);
void kinds();
void print_walks();
void ablation(const PricedProgram& program);
void given(const PricedProgram& program, int threads);
void choice(const PricedProgram& program, int threads);
void code(const PricedProgram& program);
void decisions(const PricedProgram& program, int threads);
