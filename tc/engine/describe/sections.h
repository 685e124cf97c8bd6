#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tc/base/marked_line.h"
#include "tc/engine/compile/compile_options.h"

namespace tc::engine {

/// A statement that a part of a compile runs.
struct ShownStatement {
  struct Iterator {
    std::string name;
    std::int64_t min = 0, extent = 0;
  };
  std::string id;    ///< "S0", of the part
  std::string kind;  ///< "assign", "init" or "update"
  std::string target;
  int source = -1;  ///< of the statements of the def, in order; -1: none, a pass has made it
  std::vector<Iterator> iterators = {};
};

/// A line of a nest: a loop with its iterations and what runs them ("", "lanes", "cores", "grid.x", ...), or something else that is done there.
struct ShownStep {
  std::string text;
  bool is_loop = false;
  std::string index = {}, place = {};
  std::int64_t iterations = 0;
};

/// The loops of statements that run together: a trunk, then a branch for each.
struct ShownNest {
  struct Branch {
    std::string statement;
    std::vector<ShownStep> loops;
  };
  std::vector<ShownStep> trunk;
  std::vector<Branch> branches;
};

/// A text about a part of a compile.
struct Section {
  std::string title;  ///< "comprehension", "ranges", "nest", "schedule", "loop nest", "assembly" or "CUDA"
  std::vector<MarkedLine> lines;
};

/// What is known of one def that is compiled as one: sections of several launches stand in order.
struct ShownPart {
  std::string name;
  std::vector<ShownStatement> statements;
  std::vector<ShownNest> nests;
  std::vector<Section> sections;
};

/// \p function as it is compiled for \p arguments: each part that differs from those before it, compiled anew. Of a part that a
/// library computes there are its comprehension and ranges alone. Throws as compile().
std::vector<ShownPart> describe_sections(const std::shared_ptr<const Function>& function,
                                         const std::vector<Argument>& arguments, const CompileOptions& options);

}  // namespace tc::engine
