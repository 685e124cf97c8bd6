#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tc/polyhedral/core/options.h"

namespace tc::options {

using polyhedral::FusionStrategy;

/// What decides tiles, blocks, lanes, copies and threads of a processor: rules that a short search by prices checks, rules
/// alone, or a search of this kind (strategy/construct/construct.h), which rules check or which decides alone.
enum class Construction : std::uint8_t {
  Checked,
  Rules,
  BestFirst,
  Roller,
  Gensor,
  GensorPrinted,
  BestFirstAlone,
  RollerAlone,
  GensorAlone
};

/// The value of an option: of a flag, a number, a list of numbers or names, or as text.
using OptionValue = std::variant<bool, std::int64_t, std::string, std::vector<std::int64_t>, std::vector<std::string>>;

/// How statements are scheduled and mapped, as users write it: an immutable value. The schema
/// tc/proto/mapping_options.proto says which options there are, their defaults and limits; docs/options.md explains
/// them.
///
///   auto options = MappingOptions().with_fusion(FusionStrategy::Max).with_tile({32, 32});
///   options.to_text()      fusion=max,tile=32x32
///   options.to_cpp()       tc::options::MappingOptions().with_fusion(tc::options::FusionStrategy::Max).with_tile({32,
///   32}) options.to_python()    MappingOptions(fusion='max', tile=[32, 32])
///
/// Whatever makes one throws OptionsError that names the option and lists what it may be. An option given its default
/// is the same as one not given.
class MappingOptions {
 public:
  MappingOptions();
  /// The inverse of to_text(). The name of a strategy may come first: "naive,block=64" is what named("naive") says,
  /// then with other threads.
  static MappingOptions parse(std::string_view text);
  /// A mapping for grids that experiments start from: "naive", "single_thread", "pointwise", "mlp", "conv" or
  /// "group_conv"; or one that is constructed: "construct" (best_first), "construct:roller", "construct:gensor",
  /// "construct:gensor_printed".
  static MappingOptions named(std::string_view strategy);
  static const std::vector<std::string>& strategies();
  /// The inverse of to_bytes(). Bytes of a newer schema are read if that says so; what this library does not know is
  /// kept for to_bytes() and changes nothing else.
  static MappingOptions from_bytes(std::string_view bytes);

  /// These options with one field set, checked: OptionsError for a value out of its range.
  MappingOptions with_fusion(FusionStrategy fusion) const;
  MappingOptions with_allow_skewing(bool allow = true) const;
  MappingOptions with_positive_orthant(bool positive = true) const;
  MappingOptions with_tile(std::vector<std::int64_t> sizes) const;
  MappingOptions with_promote(bool promote = true) const;
  MappingOptions with_quota(std::int64_t operations) const;
  MappingOptions with_promote_bytes(std::int64_t bytes) const;
  MappingOptions with_reduction_parts(std::int64_t parts) const;
  MappingOptions with_batch_invariant(bool invariant = true) const;
  MappingOptions with_nest(std::string line) const;
  MappingOptions with_parallel(bool parallel = true) const;
  MappingOptions with_vectorise(bool vectorise = true) const;
  MappingOptions with_vector_bytes(std::int64_t bytes) const;
  MappingOptions with_register_tile(std::vector<std::int64_t> rows_and_columns) const;
  MappingOptions with_unroll(std::int64_t vectors) const;
  MappingOptions with_pack(bool pack = true) const;
  MappingOptions with_reduction_block(std::int64_t iterations) const;
  MappingOptions with_prefetch(bool prefetch = true) const;
  MappingOptions with_prefetch_distance(std::int64_t iterations) const;
  MappingOptions with_construct(Construction construct) const;
  MappingOptions with_parallel_along(std::vector<std::string> iterators) const;
  MappingOptions with_vector_along(std::vector<std::string> iterators) const;
  MappingOptions with_grid(std::vector<std::int64_t> blocks) const;
  MappingOptions with_block(std::vector<std::int64_t> threads) const;
  MappingOptions with_shared(bool shared = true) const;
  MappingOptions with_registers(bool registers = true) const;
  MappingOptions with_shared_bytes(std::int64_t bytes) const;
  MappingOptions with_reduce_in_block(bool reduce = true) const;
  MappingOptions with_unroll_limit(std::int64_t iterations) const;
  MappingOptions with_cooperative(bool on = true) const;
  MappingOptions with_gather_reuse(std::int64_t reads) const;

  /// With the option called \p name. A text is read as in the text form; flags take 0 and 1 too.
  MappingOptions with(std::string_view name, const OptionValue& value) const;
  /// The option called \p name; an enumeration as text.
  OptionValue value(std::string_view name) const;
  /// All options, in the order of the schema.
  static const std::vector<std::string>& names();
  /// What the option called \p name may be, for messages.
  static std::string must_be(std::string_view name);

  /// Every option that differs from its default, "" for none: "fusion=max,tile=32x32".
  std::string to_text() const;
  /// The message of the schema, with its version.
  std::string to_bytes() const;
  /// C++ and Python that make this value.
  std::string to_cpp() const;
  std::string to_python() const;
  /// The option `construct`.
  Construction construct() const;
  /// What the passes take.
  const polyhedral::MappingOptions& values() const;

  bool operator==(const MappingOptions& other) const;
  /// Equal for equal options.
  std::size_t hash() const;

 private:
  struct State;
  explicit MappingOptions(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace tc::options

template <>
struct std::hash<tc::options::MappingOptions> {
  std::size_t operator()(const tc::options::MappingOptions& options) const { return options.hash(); }
};
