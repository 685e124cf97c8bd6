#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tc/polyhedral/generate/generate.h"

namespace tc::polyhedral {

/// One execution of a site: addresses are in elements from the one with all indices at their min.
struct SiteRun {
  int site = 0;
  std::vector<std::int64_t> iterators;             ///< as Site::iterators
  std::optional<std::int64_t> write;               ///< none of what is_synchronisation (barriers.h)
  std::vector<std::optional<std::int64_t>> reads;  ///< as Site::reads
  int vector = -1;  ///< numbers the executions of loops that become vectors; -1: outside of them
};

/// The loops of an AST, ready to be run by any number of threads.
class AstLoops {
 public:
  /// Of \p ast, generated for \p scop; both live as long as this does.
  AstLoops(const Ast& ast, const Scop& scop);
  ~AstLoops();

 private:
  friend class AstThread;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// A thread that runs the loops of an AST, one iteration after the other.
class AstThread {
 public:
  /// Begins to run \p loops, which live as long as this does, with \p parameters of the schedule by name.
  explicit AstThread(const AstLoops& loops, const std::map<std::string, std::int64_t>& parameters = {});
  AstThread(AstThread&& other) noexcept;
  ~AstThread();

  /// The next execution of a site, none at the end.
  std::optional<SiteRun> next();

 private:
  struct Frame;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tc::polyhedral
