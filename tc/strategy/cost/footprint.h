#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tc/polyhedral/core/scop.h"

/// What each loop of a schedule touches in one execution, as numbers.
namespace tc::strategy {

/// The integers min, min + step, ..., max.
struct Span {
  std::int64_t min = 0, max = -1, step = 1;
  double count() const { return static_cast<double>((max - min) / step + 1); }
  bool operator==(const Span&) const = default;
};

/// The smallest box of steps around what is touched, one span a dimension of the tensor, and how many instances touch
/// it, which bounds how much of the box it is.
struct TouchedBox {
  std::vector<Span> spans;
  double instances = 0;
  bool exact = true;  ///< every index of each span is touched, though not with every other; false: it may be
};

/// A read or write of a statement. An accumulating write is one reference that does both.
struct Reference {
  std::string statement;
  polyhedral::Tensor tensor;
  bool reads = false, writes = false;
};

/// One execution of a part of a schedule: a loop, parts that run one after another, or a single instance of each
/// statement. Where executions differ, a middle one stands for all.
struct LoopNest {
  enum class Kind { Loop, Sequence, Instance };
  Kind kind = Kind::Instance;
  double trips = 1;  ///< of a loop: instances of all its iterations / instances of one, so partial tiles count for less
  bool unrolled = false;                           ///< a loop below a `register` or `vector` mark
  std::vector<std::optional<TouchedBox>> touched;  ///< for each reference; none: not in this part
  std::vector<LoopNest> children;                  ///< of a loop: one iteration; of a sequence: its parts in order
};

struct Footprints {
  std::vector<Reference> references;
  LoopNest root;
};

/// The loops of scop.schedule, one a band member, with their footprints. Accesses that are not exact touch the box of
/// all they may touch. The schedule has no extension nodes and no parameters.
Footprints compute_footprints(const polyhedral::Scop& scop);

/// Lines of \p line_bytes, aligned as if the tensor began with one, that \p boxes touch together, all within \p tensor.
/// 0 for \p line_bytes counts elements. Estimated by the smaller of the sum and the joint box:
///
///   dimensions in ascending order of stride s: while gaps stay below a line, run += (n - 1) * s, else runs *= n
///   lines = runs * ((run - element) / line + 1), for one run, or runs that are all aligned alike, those it lies in
///
/// where a box of more elements than instances is cut to so many: an exact one (a diagonal) in its inner dimensions,
/// another one (a gather of rows) in its outer ones.
double lines_touched(const polyhedral::Tensor& tensor, const std::vector<const TouchedBox*>& boxes,
                     std::int64_t line_bytes);

}  // namespace tc::strategy
