#pragma once

/// Prints what a store and a load cost, in nanoseconds, where one column after the other of some rows is touched whose
/// lines fall into 1 to 64 sets of the first cache: a line of JSON for each number of rows and of sets.
///
/// From these are `write_collision`, `read_collision` and `under_way` of MachineRates: with as many rows as they like,
///
///   nanoseconds of 1 line = collision * (1 - ways / (under_way / sets))
void print_collisions();
