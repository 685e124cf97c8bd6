#pragma once

#include <string>
#include <vector>

#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_names.h"

namespace tc::polyhedral {

/// The text of a nest: a line that names the statements, then a line for each step of the trunk, and one for each branch.
/// Indentation shows the nesting; it is ignored when the text is read.
///
///   nest of S0, S1
///     n/240 on cores                                 a digit (nest.h), and its place unless it is serial
///       copy W of S1 in panels of 48 n, 16 lanes     "rows of" for "panels of"; "W#2" is read 2, where S1 reads W twice
///         S1.k/512 with private sums                 a cut reduction
///           m/8
///             n%240/48
///               keep Y
///               copies along n, 16 lanes, unrolled   of the loops that fill and empty what is kept
///               S0: m%8 unrolled  n%48/16 unrolled  n%16 lanes
///               S1: k%512  m%8 unrolled  n%48/16 unrolled  n%16 lanes
///
/// Other places: "n%13 in 16 lanes" where the last lanes idle, "k%4 in units of 4", "k%32 in units of 16x2" (steps and
/// products of each), "kw unrolled slides along w by 1".
///
/// The nest of a kernel:
///
///   nest of S0, S1
///     blocks of 16x16 threads, shared bytes 49152, thread elements 64, blocks per multiprocessor 2
///     m/64 on grid.y                               "on grid.y of 16": 16 blocks, to which tiles go in turn
///       n/64 on grid.x
///         separate full tiles
///         copy A of S1 to shared memory along m, 4 of k at once, 2 beside, asynchronous
///         keep C
///         keep temporary t
///         added statements points innermost, unrolled, in lanes
///         S0: m%64/4 on thread.y  n%64/4 on thread.x  m%4 unrolled  n%4 lanes
///         S1: k/16 with copies in 2 slots  k%16 unrolled  m%64/4 on thread.y  n%64/4 on thread.x  m%4 unrolled  n%4 lanes
///
/// "k/4 on threads beside 2": a loop that is numbered as one with the other loops on all threads.
std::string to_string(const Nest& nest, const NestNames& names);

/// The begin of the text of a nest.
inline const std::string nest_headline = "nest of ";
/// Follows the statements of a nest that stands in loops over strips.
inline const std::string nest_around = " inside of ";

/// The end of its first line: " inside of h on cores, i_part" for the nest of one strip, else nothing.
std::string around_text(const NestNames& names);

/// The line of \p launch in it.
std::string launch_text(const NestLaunch& launch);

/// The line of step number \p step of the trunk, or of branch number \p branch, in it.
std::string step_text(const Nest& nest, const NestNames& names, std::size_t step);
std::string branch_text(const Nest& nest, const NestNames& names, std::size_t branch);

/// The nest of \p text: parse_nest(to_string(n, names), names) == n. \p first_line is the number of its first line
/// for the steps and messages. Throws OptionsError that shows the line and the mistake.
Nest parse_nest(const std::string& text, const NestNames& names, int first_line = 1);

/// One of several nests in a text: from its line "nest of ..." to the next.
struct NestSection {
  std::vector<std::string> statements;
  std::string text;
  int first_line = 1;  ///< of the whole text
};

/// The nests of \p text in order. Throws OptionsError for text before the first nest.
std::vector<NestSection> nest_sections(const std::string& text);

}  // namespace tc::polyhedral
