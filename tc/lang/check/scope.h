#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/lang/syntax/diagnostics.h"
#include "tc/lang/syntax/other_languages.h"
#include "tc/lang/syntax/tree.h"

/// What check knows while it walks a def. Private to the checker.
namespace tc::lang {

/// A tensor so far. `type` and `rank` are empty while unknown because of an error.
struct TensorState {
  enum class Kind : std::uint8_t { Param, Return, Temporary };
  Kind kind = Kind::Temporary;
  std::optional<DType> type;
  std::optional<int> rank;
  std::optional<std::vector<ExprPtr>> dims;
  bool declared_type = false;
  bool literal_type = false;  ///< the type is that of a literal and may still adapt
  bool assigned = false;
  bool accumulates_into_caller = false;
  SourceRange range;  ///< declared or first assigned
  std::optional<SourceRange> first_assigned;
};

/// A literal has no type of its own: it adapts. Nor has an integer of literals alone, or a float of literals, integers and bools
/// alone.
enum class Weak : std::uint8_t { No, Int, Float };

struct LetState {
  std::optional<DType> type;  ///< empty after an error
  Weak weak = Weak::No;
  ExprPtr value = nullptr;  ///< a weak one
  bool over_sizes = false;  ///< made of sizes and constants only
};

struct Scope {
  Diagnostics& diagnostics;
  const std::set<std::string>& defs;           ///< names of all defs of the file
  std::map<std::string, TensorState> tensors;  ///< parameters, returns and every target of a statement
  std::vector<std::string> sizes = {};         ///< in order of appearance

  // Of the statement at hand.
  std::string updated = {};              ///< the return that it may read in place of a first value, or empty
  std::vector<ExprPtr> updated_at = {};  ///< the subscripts on its left
  std::set<std::string> iterators;
  std::map<std::string, LetState> lets;

  std::set<std::string> carried = {};       ///< tensors that statements of the same loop write
  std::set<std::string> loop_indices = {};  ///< of the loops around it

  const Assignment* statement = nullptr;  ///< as parsed, for messages

  std::vector<std::string> valued = {};  ///< the scalar parameters whose values ranges and strides take

  /// Is \p name an integer scalar among the parameters?
  bool is_integer_parameter(const std::string& name) const;
  /// The place of a message for other_languages.h.
  Surroundings surroundings() const;
  /// Is \p name a size of the def?
  bool is_size(const std::string& name) const;
  /// Does a read of \p tensor at \p subscripts take the element of the caller's buffer that the statement writes?
  bool reads_in_place(const std::string& tensor, const std::vector<ExprPtr>& subscripts) const;
  /// The tensors that may be read here.
  std::vector<std::string> readable_tensors() const;
};

/// "'A' is a tensor" and the like for a name that is taken; empty if it is free.
std::string taken_as(const Scope& scope, const std::string& name);

/// "did you mean 'x'?" or empty.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& candidates);

/// "1 dimension", "2 dimensions".
std::string counted(std::size_t count, const std::string& noun);

}  // namespace tc::lang
