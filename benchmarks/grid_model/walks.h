#pragma once

#include "../price_model/programs.h"

/// Prints what the policies of construction find for \p program on cuda:sm_90, by predicted time: a line of a table; the
/// state of each walk below it, \p with_states.
void print_walks(const PricedProgram& program, bool with_states);
/// The first lines of that table.
void print_head_of_walks();
