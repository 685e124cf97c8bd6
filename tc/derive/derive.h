#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tc/base/cancellation.h"
#include "tc/derive/rules/rewrite.h"
#include "tc/derive/search/price.h"

/// Derivation of equal programs, each step proved.
namespace tc::derive {

/// Which rules a search has: all, those that move work between scopes and leave the sums of each as they are, or none but the fusing of
/// copies, and orders of dimensions that follow from it. Rolled: no search, but maxima are rolled with their sums (rules/roll.h).
enum class Rules : std::uint8_t { All, Between, Copies, Rolled };

struct Options {
  int depth = 7;  ///< rules applied one after another; fusing a copy is none
  std::size_t width =
      48;  ///< programs of one depth that are derived further, the cheapest by each set of rules; a share of it for several products
  std::size_t candidates = 8;  ///< that are given
  Rules rules = Rules::All;
  bool converge = true;      ///< towards products of matrices
  bool fingerprints = true;  ///< programs that are there already are not derived again
  unsigned shuffle = 0;      ///< tests give rules in another order
  Rates rates = {};
  std::int64_t roll = 0;  ///< iterations in a block of roll(), of which callers make a candidate more; 0: none
  std::set<std::string> constants = {};  ///< inputs that never change: what they decide takes no time
  Cancellation cancellation = {};
};

/// A program that equals the one that was given.
struct Candidate {
  Program program;
  std::vector<Step> steps;               ///< from the given program to this one; none for the given one
  double microseconds = 0;               ///< by the model of search/price.h
  std::multiset<std::string> kind = {};  ///< the rules, and the convolutions that routines may compute
};

struct Statistics {
  std::size_t states = 0;   ///< programs that were made
  std::size_t pruned = 0;   ///< of them, those that were there already
  std::size_t refused = 0;  ///< candidates that their certificates did not prove, and that are left out
  std::string refusal;      ///< why the first of these is not proved
  std::size_t cut = 0;      ///< beyond the width
  double seconds = 0;
};

struct Derivation {
  std::vector<Candidate> candidates;  ///< the cheapest first; the given program is among them
  Statistics statistics;
};

/// Programs equal to \p program. First all rules are applied, to a depth, to the cheapest programs of each; then what is
/// left of the depth goes into layouts, while they bring a scope nearer to a product of matrices. Each step of what is
/// given has been checked by its certificate. The same for the same program, whatever the order of rules and the names of iterators are. Throws as
/// options.cancellation says.
///
/// Source: EINNET (OSDI 2023), sections 4 and 6.
Derivation derive(const Program& program, const Options& options = {});

/// Does each step's certificate prove it, from \p program on? The first refusal, if not.
std::string broken_step(const Program& program, const std::vector<Step>& steps);

}  // namespace tc::derive
