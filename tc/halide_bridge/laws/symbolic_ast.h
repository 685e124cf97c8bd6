#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tc/halide_bridge/laws/lock_step.h"
#include "tc/halide_bridge/laws/symbolic_value.h"
#include "tc/halide_bridge/lower/program.h"
#include "tc/polyhedral/generate/run_ast.h"

namespace tc::halide_bridge {

/// A run of an AST on symbols: each execution of a site leaves in the element that it writes the symbol of what its
/// statement reads.
class SymbolicAst {
 public:
  /// Of \p ast, generated for \p scop of \p program, by \p threads; all live as long as this does.
  /// Throws Undecided where data choose what runs.
  SymbolicAst(const polyhedral::Ast& ast, const polyhedral::Scop& scop, const Program& program,
              const ThreadGrid& threads);

  /// What the AST leaves in memory. Throws Undecided as above, InternalError where threads wait for ever.
  const SymbolicMemory& run();

  /// The statement that wrote an element last, "nothing" without one.
  std::string writer(const std::string& buffer, std::int64_t address) const;

 private:
  struct Site {
    const polyhedral::Statement* statement;  ///< null: synchronisation
    const ProgramStatement* source;
    std::string target;
    std::vector<std::string> buffers;  ///< of the reads
  };
  struct Write {
    int site;
    std::int64_t address;
    SymbolicLane value;
  };
  struct Thread {
    polyhedral::AstThread loops;
    int vector = -1;
    std::vector<Write> pending = {};     ///< of the vector that runs
    std::optional<Write> combines = {};  ///< what it gives to a combination that it waits for
    bool writes = false;                 ///< the result of that
  };

  Site prepared(const polyhedral::Site& site) const;
  const Site& site_of(const polyhedral::SiteRun& run) const;
  std::optional<Meeting> advance(std::int64_t number);
  void combine(std::int64_t first, std::int64_t last);
  void visit(const polyhedral::SiteRun& run);
  void flush();
  void store(const Write& write);
  SymbolicLane value(const Site& site, const polyhedral::SiteRun& run);
  Symbols copied(const Site& site, const polyhedral::SiteRun& run) const;
  SymbolicLane element(const Halide::Internal::Call& read, const SymbolicValue& subscripts);

  const polyhedral::Ast& ast_;
  const polyhedral::Scop& scop_;
  const Program& program_;
  const ThreadGrid& grid_;
  polyhedral::AstLoops loops_;
  SymbolicEvaluator evaluator_;
  SymbolicMemory memory_;
  std::vector<Site> sites_;
  std::vector<Thread> threads_;
  std::int64_t thread_ = 0;  ///< that runs
  std::map<std::pair<std::string, std::int64_t>, int> writers_;
  const polyhedral::SiteRun* run_ = nullptr;
  const Site* site_ = nullptr;
  std::size_t next_read_ = 0;
};

}  // namespace tc::halide_bridge
