#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tc/autotuner/worker/problem.h"

namespace tc::autotuner {

/// How far apart two right results of a def may be. Integers must be equal; floats obey
///
///   |got - want| <= (8 eps(type) + 32 eps(accumulator) sqrt(summands)) * (|want| + root mean square of all want)
///
/// and are both not a number, or equal, where one is not finite.
struct Tolerance {
  double summands = 1;  ///< of the longest reductions, one after another
};
Tolerance tolerance_of(const engine::Function& function, const std::vector<TensorSpec>& inputs);

/// The first difference of \p got from \p want, both like \p spec from their first elements on; "" for none.
std::string difference(const TensorSpec& spec, const char* got, const char* want, const Tolerance& tolerance);

/// The arguments of a call in memory of its own, with guards around each. Inputs may be where they are shared instead,
/// which takes no time and no memory, where that is not to be written: a write ends the process.
class Tensors {
 public:
  enum class Inputs : std::uint8_t { Copied, Shared };

  /// Inputs hold what \p shared has for them.
  Tensors(const std::vector<engine::Argument>& arguments, const Layout& layout, const char* shared, Inputs inputs);

  /// Outputs hold what no result is, those that are read ones.
  void poison();
  void* const* pointers() const { return pointers_.data(); }
  /// The memory of each argument from the guard before it to the one behind it; begins at a multiple of 64 bytes.
  /// Inputs are copied.
  std::vector<std::span<char>> blocks();
  std::vector<TensorView> outputs() const;
  /// What is wrong after a run: a difference from the reference, a write elsewhere; "" for nothing.
  std::string check(const Tolerance& tolerance) const;
  /// Puts what the outputs hold into \p shared.
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
