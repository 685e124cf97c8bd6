#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "programs.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/engine/graph/compile.h"
#include "tc/strategy/price/price.h"

using Clock = std::chrono::steady_clock;

/// A tensor of small whole numbers, at the beginning of a line of the cache.
struct Memory {
  Memory(const tc::TensorSpec& spec, std::uint64_t seed, std::int64_t most);
  float at(std::size_t i) const;
  tc::TensorSpec spec;
  std::vector<std::byte> data;
  std::byte* first = nullptr;
};

/// A program with its tensors.
class Problem {
 public:
  explicit Problem(const PricedProgram& program);

  void make_tensors();

  using AtClusters = std::function<void(tc::engine::CompileState&)>;
  /// Compiles with \p mapping, the rules' choice where it is empty; \p look sees the clusters before they are mapped.
  std::shared_ptr<const tc::engine::Executable> compile(const std::string& mapping, const AtClusters& look = {},
                                                        std::string* chosen = nullptr) const;
  const std::shared_ptr<const tc::engine::Function>& function() const { return function_; }
  void set_options(const tc::options::MappingOptions& mapping) { options_.mapping = mapping; }

  /// The least of some runs that take \p seconds together: what else runs on the machine makes a run longer only.
  double measure(const tc::engine::Executable& code, double seconds);
  void keep_outputs();
  /// The largest difference to the outputs that were kept, as a share of the largest element; spoils the outputs.
  double difference();

 private:
  const PricedProgram& program_;
  std::shared_ptr<const tc::engine::Function> function_;
  std::string last_launch_;  ///< behind the names of its stages, where there are several
  tc::engine::CompileOptions options_;
  std::vector<Memory> tensors_;
  std::vector<void*> pointers_;
  std::size_t first_output_ = 0;
  std::vector<std::vector<std::byte>> kept_;
};

using Codes = std::vector<std::shared_ptr<const tc::engine::Executable>>;

struct InTurns {
  std::vector<double> seconds, difference;  ///< medians; to the outputs of the first
};

/// Each of \p codes measured in each of some rounds.
InTurns measure_in_turns(Problem& problem, const Codes& codes);

/// What rules choose for the last launch of \p state.
tc::polyhedral::Mapping rules_of(const tc::engine::CompileState& state);

/// What the price says of \p mapping for the clusters of \p state, with \p rates (NAME=NUMBER,...) of another machine.
tc::strategy::Price price_of(const tc::engine::CompileState& state, const tc::polyhedral::Mapping& mapping,
                             const std::string& rates);

/// A mapping as one line, and the line as a mapping's text.
std::string one_line(std::string text);
std::string lines_of(std::string text);
