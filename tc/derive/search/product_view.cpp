#include "tc/derive/search/product_view.h"

#include <algorithm>
#include <array>

#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

std::optional<std::vector<std::int64_t>> strides_of(const lang::Box& box, const isl::multi_aff& at, int dimensions) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(dimensions), 0);
  std::int64_t stride = 1;
  for (auto o = static_cast<int>(box.size()) - 1; o >= 0; --o) {
    if (at.at(o).involves_locals() || !at.at(o).constant_val().is_int()) return std::nullopt;
    for (int d = 0; d < dimensions; ++d) result[static_cast<std::size_t>(d)] += stride * factor(at, o, d);
    stride *= box[static_cast<std::size_t>(o)].extent;
  }
  return result;
}

namespace {

/// A group of dimensions as one: its stride, nothing where it has no single one.
struct Fused {
  std::int64_t stride = 0, extent = 1;
};

class Viewer {
 public:
  Viewer(const Program& program, const Scope& scope) : program_(program), scope_(scope), ranges_(iterator_box(scope)) {}

  /// One for each order that an operand gives a group of iterators.
  std::vector<ProductView> run() {
    const auto& part = scope_.cases[0];
    const auto times = product_operator(part.body, *scope_.op);
    const auto operands = factors(part.body, times);
    if (operands.size() != 2 || !read_number(operands[0]) || !read_number(operands[1])) return {};
    view_.first.read = *read_number(operands[0]);
    view_.second.read = *read_number(operands[1]);
    if (!group() || view_.m.empty() || view_.n.empty() || view_.k.empty()) return {};
    const auto whole = box_set(*program_.context, ranges_);
    if (!part.domain.is_equal(whole)) {
      if (!part.domain.is_equal(whole.intersect(reads_inside(program_, part)))) return {};
      is_padded_ = {goes_beyond(view_.first.read, whole), goes_beyond(view_.second.read, whole)};
    }
    first_ = strides(view_.first.read), second_ = strides(view_.second.read);
    result_ = strides_of(scope_.box, projection(*program_.context, scope_.dimensions(), left_dimensions(scope_)),
                         scope_.dimensions());
    std::vector<ProductView> views;
    for (const auto* m : {&first_, &result_})
      for (const auto* n : {&second_, &result_})
        for (const auto* k : {&first_, &second_}) {
          auto view = in_order(*m, *n, *k);
          const bool known = std::any_of(views.begin(), views.end(), [&](const ProductView& other) {
            return other.m == view.m && other.n == view.n && other.k == view.k;
          });
          if (!known) views.push_back(std::move(view));
        }
    std::stable_sort(views.begin(), views.end(),
                     [](const ProductView& a, const ProductView& b) { return a.distance() < b.distance(); });
    return views;
  }

 private:
  using Strides = std::optional<std::vector<std::int64_t>>;

  /// The view whose groups lie as these strides say, where there are some.
  ProductView in_order(const Strides& m, const Strides& n, const Strides& k) const {
    auto view = view_;
    if (m) sort(view.m, *m);
    if (n) sort(view.n, *n);
    if (k) sort(view.k, *k);
    view.first.fits = !is_padded_[0] && first_ && is_matrix(*first_, view.m, view.k);
    view.second.fits = !is_padded_[1] && second_ && is_matrix(*second_, view.k, view.n);
    view.result.fits = is_matrix(*result_, view.m, view.n);
    view.first.order = joined_order(view.m, view.k);
    view.second.order = joined_order(view.k, view.n);
    view.result.order = joined_order(view.m, view.n);
    return view;
  }

  /// Is \p read outside of its tensor for some of \p whole, where there is no instance?
  bool goes_beyond(std::size_t read, const isl::set& whole) const {
    const auto box = box_set(*program_.context, program_.box(scope_.cases[0].reads[read].tensor));
    return !whole.is_subset(box.preimage(at(read)));
  }

  const isl::multi_aff& at(std::size_t read) const { return scope_.cases[0].reads[read].at; }
  std::int64_t extent(int d) const { return ranges_[static_cast<std::size_t>(d)].extent; }

  std::optional<std::vector<std::int64_t>> strides(std::size_t read) const {
    return strides_of(program_.box(scope_.cases[0].reads[read].tensor), at(read), scope_.dimensions());
  }

  /// Gives each dimension its group; iterators of one value belong to none.
  bool group() {
    for (int d = 0; d < scope_.dimensions(); ++d) {
      if (extent(d) == 1) continue;
      const bool first = depends(at(view_.first.read), d), second = depends(at(view_.second.read), d),
                 result = d < scope_.left();
      if (first + second + result < 2) return false;
      (first && second && result ? view_.b : !second ? view_.m : !first ? view_.n : view_.k).push_back(d);
    }
    return true;
  }

  /// The outermost first.
  static void sort(std::vector<int>& dimensions, const std::vector<std::int64_t>& strides) {
    std::stable_sort(dimensions.begin(), dimensions.end(), [&](int a, int b) {
      return strides[static_cast<std::size_t>(a)] > strides[static_cast<std::size_t>(b)];
    });
  }

  std::optional<Fused> fused(const std::vector<std::int64_t>& strides, const std::vector<int>& dimensions) const {
    Fused result;
    for (auto d = dimensions.rbegin(); d != dimensions.rend(); ++d) {
      const auto stride = strides[static_cast<std::size_t>(*d)];
      if (d == dimensions.rbegin()) result.stride = stride;
      if (stride != result.stride * result.extent) return std::nullopt;
      result.extent *= extent(*d);
    }
    return result;
  }

  bool is_matrix(const std::vector<std::int64_t>& strides, const std::vector<int>& rows,
                 const std::vector<int>& columns) const {
    const auto a = fused(strides, rows), b = fused(strides, columns);
    if (!a || !b) return false;
    return (b->stride == 1 && a->stride >= b->extent) || (a->stride == 1 && b->stride >= a->extent);
  }

  std::vector<int> joined_order(const std::vector<int>& rows, const std::vector<int>& columns) const {
    auto order = view_.b;
    order.insert(order.end(), rows.begin(), rows.end());
    order.insert(order.end(), columns.begin(), columns.end());
    return order;
  }

  const Program& program_;
  const Scope& scope_;
  lang::Box ranges_;
  Strides first_, second_, result_;
  std::array<bool, 2> is_padded_{};
  ProductView view_;
};

}  // namespace

std::vector<ProductView> product_views(const Program& program, const Scope& scope) {
  if (!scope.op || !scope.uniform || scope.cases.size() != 1 || scope.cases[0].reads.size() != 2) return {};
  return Viewer(program, scope).run();
}

std::optional<ProductView> view_product(const Program& program, const Scope& scope) {
  auto views = product_views(program, scope);
  return views.empty() ? std::nullopt : std::optional(std::move(views.front()));
}

}  // namespace tc::derive
