#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tc/layout/map/primitive.h"

namespace tc::layout {

/// What the places that hold no element hold.
enum class Fill : std::uint8_t {
  None,  ///< anything: nobody reads them
  Zero,  ///< 0: who writes the tensor writes them too, who reads it may count on them
};

/// Says that any layout will do.
struct AnyLayout {};

/// How elements are placed, for tensors of any extents of a rank: steps, first to last. A value; the default one keeps
/// every element where it is.
///
///   Layout().split(1, {16}).reorder({0, 1, 3, 4, 2})       n,c,h,w    becomes    n, c/16, h, w, c%16
class Layout {
 public:
  static constexpr AnyLayout any{};

  Layout() = default;
  explicit Layout(std::vector<Primitive> primitives, Fill fill = Fill::None)
      : primitives_(std::move(primitives)), fill_(fill) {}

  // This layout and one step more; see primitive.h.
  Layout split(std::size_t dim, std::vector<std::int64_t> factors) const {
    return then(Split{dim, std::move(factors)});
  }
  Layout reorder(std::vector<std::size_t> order) const { return then(Reorder{std::move(order)}); }
  Layout fuse(std::size_t first, std::size_t count) const { return then(Fuse{first, count}); }
  Layout unfold(std::size_t dim, std::int64_t size, std::int64_t stride) const {
    return then(Unfold{dim, size, stride});
  }
  Layout pad(std::size_t dim, std::int64_t low, std::int64_t high) const { return then(Pad{dim, low, high}); }
  Layout store_at(std::size_t dim, std::int64_t index, std::int64_t extent) const {
    return then(StoreAt{dim, index, extent});
  }
  Layout then(Primitive primitive) const;
  /// This layout with another policy for what holds no element.
  Layout filled(Fill fill) const { return Layout(primitives_, fill); }

  const std::vector<Primitive>& primitives() const { return primitives_; }
  Fill fill() const { return fill_; }
  bool is_identity() const { return primitives_.empty(); }
  bool operator==(const Layout&) const = default;

 private:
  std::vector<Primitive> primitives_;
  Fill fill_ = Fill::None;
};

/// "split(1, 16) reorder(0, 1, 3, 4, 2) fill(zero)"; "identity" for no steps.
std::string to_string(const Layout& layout);

/// The layout of \p text: steps as to_string() writes them, or a name that named_layout() knows.
/// Throws OptionsError that says what was expected where.
Layout parse_layout(std::string_view text);

/// What takes places back to indices, for a tensor of \p extents.
///
///   split(1, 16) reorder(0, 1, 3, 4, 2), extents (2, 20, 7, 7)      gives      reorder(0, 1, 4, 2, 3) fuse(1, 2) unpad(1, 0, 12)
Layout inverse(const Layout& layout, const Extents& extents);

}  // namespace tc::layout
