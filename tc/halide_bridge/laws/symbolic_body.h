#pragma once

#include <Halide.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tc/halide_bridge/laws/lock_step.h"
#include "tc/halide_bridge/laws/symbolic_units.h"
#include "tc/halide_bridge/laws/symbolic_value.h"
#include "tc/polyhedral/core/scop.h"

namespace tc::halide_bridge {

/// A run of a raised statement on symbols: each store leaves in its elements the symbols of what its value reads.
class SymbolicBody {
 public:
  /// Of \p body, over the tensors of \p scop, by \p threads, which live as long as this does.
  SymbolicBody(const Halide::Internal::Stmt& body, const polyhedral::Scop& scop, const ThreadGrid& threads);

  /// What the body leaves in memory. Throws Undecided where data choose what runs; InternalError where it touches what is
  /// no element, or where threads wait for threads that do not come.
  const SymbolicMemory& run();

 private:
  /// A statement under way.
  struct Frame {
    const Halide::Internal::BaseStmtNode* stmt;
    std::int64_t next = 0, end = 0;  ///< of a loop that was entered: its next iteration
    bool entered = false;
  };
  struct Thread {
    std::map<std::string, SymbolicValue> variables;
    std::vector<Frame> under_way;
    const Halide::Internal::LetStmt* combines = nullptr;  ///< where it waits for values of others
    const Halide::Internal::Call* unit = nullptr;         ///< the matrix instruction that it waits at
  };

  /// Reads and runs as one thread.
  template <typename Run>
  auto as(std::int64_t number, const Run& run);
  void allocate(const Halide::Internal::Allocate* op);
  std::optional<Meeting> advance(std::int64_t number);
  std::optional<Meeting> step(Thread& thread);
  void step_loop(const Halide::Internal::For* op, Thread& thread);
  std::optional<Meeting> step_let(const Halide::Internal::LetStmt* op, Thread& thread);
  std::optional<Meeting> step_call(const Halide::Internal::Evaluate* op, Thread& thread) const;
  void store(const Halide::Internal::Store* op);
  bool runs_lane_by_lane(const Halide::Internal::Store* op) const;
  void meet(std::int64_t first, std::int64_t last);
  std::vector<SymbolicValue> together(const Halide::Expr& expr, std::int64_t first, std::int64_t last);
  std::int64_t number(const Halide::Expr& expr);
  void check(const std::string& buffer, std::int64_t address, const char* what) const;
  bool is_empty(const std::string& buffer) const;
  SymbolicValue read(const Halide::Internal::Load& load, const SymbolicValue& address, const SymbolicValue& runs,
                     bool certain) const;
  SymbolicValue running(const Halide::Internal::Store* op);

  const Halide::Internal::Stmt& body_;
  const ThreadGrid& grid_;
  SymbolicEvaluator evaluator_;
  SymbolicMemory memory_;
  SymbolicUnits units_;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> addresses_;  ///< the first and the last of a buffer
  std::vector<Thread> threads_;
  std::int64_t thread_ = 0;  ///< that runs
};

}  // namespace tc::halide_bridge
