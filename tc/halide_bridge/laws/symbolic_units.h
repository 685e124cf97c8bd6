#pragma once

#include <Halide.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tc/halide_bridge/laws/symbolic_memory.h"

namespace tc::halide_bridge {

/// Throws the InternalError that says \p what about a body that breaks the law.
[[noreturn]] void broken(const std::string& what);

/// Matrix instructions of warps and of groups of them, tc_load_matrix_... and tc_multiply_..., on symbols. Which lane holds which element is as the
/// manual of PTX has it (tc/base/fragment_lanes.h), not as passes lay fragments out.
class SymbolicUnits {
 public:
  /// What a thread of the body computes and touches.
  struct Access {
    std::function<std::int64_t(const Halide::Expr& index, std::int64_t thread)> number;
    std::function<std::uint64_t(const std::string& buffer, std::int64_t address, std::int64_t thread)> read;
    std::function<void(const std::string& buffer, std::int64_t address, const Symbols& from, std::int64_t thread)>
        write;
  };

  explicit SymbolicUnits(Access access) : access_(std::move(access)) {}

  /// The threads that run an instruction together.
  static constexpr std::int64_t warp = 32;
  static std::int64_t threads_of(const Halide::Internal::Call& call);
  /// Does \p call run one?
  static bool is_unit(const Halide::Internal::Call& call);

  /// Runs \p call in the warp, or group of 4, of threads that begins with \p first. Throws InternalError where it loads rows that are not
  /// aligned or multiplies what no instruction loaded.
  void run(const Halide::Internal::Call& call, std::int64_t first);
  /// The words of \p fragment that \p thread has hold nothing any more.
  void forget(const std::string& fragment, std::int64_t thread);

 private:
  using Word = std::vector<std::uint64_t>;  ///< the symbols of its elements, lowest bits first

  void load(const Halide::Internal::Call& call, std::int64_t first);
  void multiply(const Halide::Internal::Call& call, std::int64_t first);
  void multiply_group(const Halide::Internal::Call& call, std::int64_t first);
  std::vector<std::vector<std::uint64_t>> operand_of_group(const Halide::Expr& described, bool transposed, int along,
                                                           std::int64_t first);
  std::uint64_t element(const Halide::Expr& fragment, std::int64_t thread, int i, int bits);

  Access access_;
  std::map<std::pair<std::string, std::int64_t>, std::map<std::int64_t, Word>> words_;  ///< of a fragment of a thread
};

}  // namespace tc::halide_bridge
