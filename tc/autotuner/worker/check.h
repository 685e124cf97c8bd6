#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tc/autotuner/worker/problem.h"

namespace tc::autotuner {

/// The tolerance between two right results of a def. Integers must be equal; floats obey
///
///   |got - want| <= (8 eps(type) + 32 eps(accumulator) sqrt(summands)) * (|want| + root mean square of all want)
///
/// and if one is not finite, both are NaN or equal.
struct Tolerance {
  double summands = 1;  ///< of the longest reductions, one after another
};
Tolerance tolerance_of(const engine::Function& function, const std::vector<TensorSpec>& inputs);

/// The first difference of \p got from \p want, both like \p spec from their first elements on; "" for none.
std::string difference(const TensorSpec& spec, const char* got, const char* want, const Tolerance& tolerance);

/// The arguments of a call in separate memory, with guard zones around each. Inputs may instead stay in shared
/// memory, which takes no time and no memory; it is read-only, so a write ends the process.
class Tensors {
 public:
  enum class Inputs : std::uint8_t { Copied, Shared };

  /// Inputs have the values of \p shared.
  Tensors(const std::vector<engine::Argument>& arguments, const Layout& layout, const char* shared, Inputs inputs);

  /// Fills float outputs with NaN, other outputs with a bit pattern, and outputs that are read with ones.
  void poison();
  void* const* pointers() const { return pointers_.data(); }
  /// The memory of each argument from the guard before it to the one behind it; begins at a multiple of 64 bytes.
  /// Inputs are copied.
  std::vector<std::span<char>> blocks();
  std::vector<TensorView> outputs() const;
  /// The first problem after a run: a difference from the reference, or a write outside of the outputs; "" for none.
  std::string check(const Tolerance& tolerance) const;
  /// Copies the outputs to \p shared.
  void store(char* shared) const;

 private:
  bool is_shared(std::size_t argument) const;

  const std::vector<engine::Argument>& arguments_;
  const Layout& layout_;
  const char* shared_;
  Inputs inputs_;
  std::vector<std::vector<char>> memory_;  ///< empty for what is shared
  std::vector<void*> pointers_;            ///< to first elements
  std::vector<char*> starts_;
};

}  // namespace tc::autotuner
