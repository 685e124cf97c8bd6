#pragma once

#include <Halide.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tc::cpu {

/// A read of an element, or of consecutive ones: where it starts.
struct Read {
  std::string buffer;
  Halide::Expr start;
  Halide::Type type;  ///< of an element
  int lanes = 1;
};

/// The reads of \p body, which has no loops, that are scalar or dense, in order; those of which the address is known at
/// its start.
std::vector<Read> reads_of(const Halide::Internal::Stmt& body);

/// Do two reads start less than a line apart?
bool are_near(const Read& a, const Read& b);

/// Does \p expr contain a load?
bool has_load(const Halide::Expr& expr);

/// By how many elements \p to is further on than \p from; nothing if that is no constant.
std::optional<std::int64_t> distance(const Halide::Expr& from, const Halide::Expr& to);

/// The most iterations of a loop of \p extent; 0: not known.
std::int64_t most_trips(const Halide::Expr& extent);

/// Is there a loop in \p body?
bool has_loops(const Halide::Internal::Stmt& body);

/// By how many elements \p start moves from one iteration of \p loop to the next; nothing if that varies.
std::optional<std::int64_t> step_of(const Halide::Expr& start, const std::string& loop);

/// \p start, \p elements further on, in as many bits as that takes.
Halide::Expr moved(const Halide::Expr& start, std::int64_t elements);

/// The cache that a line is asked into.
enum class Cache { First, Second };

/// Asks for the line of \p buffer that holds the element of \p type at \p index.
Halide::Internal::Stmt prefetch_of(const std::string& buffer, const Halide::Expr& index, const Halide::Type& type,
                                   Cache into = Cache::First);

/// Statements to run first in each iteration of a loop.
using Additions = std::map<const Halide::Internal::For*, std::vector<Halide::Internal::Stmt>>;

/// \p body with \p additions in its loops.
Halide::Internal::Stmt insert(const Additions& additions, const Halide::Internal::Stmt& body);

}  // namespace tc::cpu
