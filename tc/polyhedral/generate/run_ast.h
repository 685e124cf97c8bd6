#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tc/polyhedral/generate/generate.h"

namespace tc::polyhedral {

/// One execution of a site: addresses are in elements from the one with all indices at their min.
struct SiteRun {
  int site = 0;
  std::vector<std::int64_t> iterators;  ///< as Site::iterators
  std::int64_t write = 0;
  std::vector<std::optional<std::int64_t>> reads;  ///< as Site::reads
  int vector = -1;  ///< numbers the executions of loops that become vectors; -1: outside of them
};

/// Runs the loops of \p ast, generated for \p scop without parameters, one iteration after the other, and calls \p visit
/// for every execution of a site.
void run_ast(const Ast& ast, const Scop& scop, const std::function<void(const SiteRun&)>& visit);

}  // namespace tc::polyhedral
