#include "tc/derive/search/window_view.h"

#include <algorithm>

#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/rules/rewrite.h"
#include "tc/derive/search/product_view.h"

namespace tc::derive {

namespace {

using WindowStrides = std::vector<std::int64_t>;

class WindowViewer {
 public:
  WindowViewer(const Program& program, const Scope& scope)
      : program_(program), scope_(scope), ranges_(iterator_box(scope)) {}

  std::optional<WindowView> run() {
    const auto operands = factors(part().body, "*");
    if (operands.size() != 2 || !read_number(operands[0]) || !read_number(operands[1])) return std::nullopt;
    std::optional<WindowView> best;
    for (const auto image : {0, 1}) {
      view_ = WindowView();
      view_.image = *read_number(operands[static_cast<std::size_t>(image)]);
      view_.weights = *read_number(operands[static_cast<std::size_t>(1 - image)]);
      if (group() && are_windows() && lay_out() && (!best || view_.distance() < best->distance())) best = view_;
    }
    return best;
  }

 private:
  const Case& part() const { return scope_.cases[0]; }
  const isl::multi_aff& at(std::size_t read) const { return part().reads[read].at; }
  std::int64_t extent(int d) const { return ranges_[static_cast<std::size_t>(d)].extent; }

  /// Does \p d share a subscript of the image with an iterator of the other side, which the result has or not?
  bool shares(int d) const {
    for (int o = 0; o < static_cast<int>(at(view_.image).size()); ++o)
      for (int other = 0; other < scope_.dimensions(); ++other)
        if ((other < scope_.left()) != (d < scope_.left()) && extent(other) > 1 && depends(at(view_.image), o, d) &&
            depends(at(view_.image), o, other))
          return true;
    return false;
  }

  /// Gives each dimension its group; iterators of one value belong to none.
  bool group() {
    for (int d = 0; d < scope_.dimensions(); ++d) {
      if (extent(d) == 1) continue;
      const bool image = depends(at(view_.image), d), weights = depends(at(view_.weights), d),
                 result = d < scope_.left();
      if (image + weights + result < 2) return false;
      auto& own = image && weights && result ? view_.groups
                  : !weights                 ? (shares(d) ? view_.spatial : view_.images)
                  : !image                   ? view_.filters
                  : shares(d)                ? view_.windows
                                             : view_.channels;
      own.push_back(d);
    }
    return !view_.windows.empty();
  }

  /// Has each subscript of the image at most one spatial iterator and one window, and do guards only keep reads inside?
  bool are_windows() const {
    const auto& image = at(view_.image);
    for (int o = 0; o < static_cast<int>(image.size()); ++o) {
      if (image.at(o).involves_locals()) return false;
      const auto in = [&](const std::vector<int>& dimensions) {
        return std::count_if(dimensions.begin(), dimensions.end(), [&](int d) { return depends(image, o, d); });
      };
      const auto spatial = in(view_.spatial), windows = in(view_.windows);
      const auto others = in(view_.images) + in(view_.channels) + in(view_.groups);
      if (spatial > 1 || windows > 1 || (spatial + windows > 0 && others > 0)) return false;
    }
    if (size(view_.windows) > size(view_.spatial)) return false;
    const auto whole = box_set(*program_.context, ranges_);
    return part().domain.is_equal(whole.intersect(reads_inside(program_, part())));
  }

  bool lay_out() {
    const auto image = strides(view_.image);
    if (!image) return false;
    sort(view_.images, *image);
    sort(view_.channels, *image);
    if (!fused(*image, view_.images) || !fused(*image, view_.channels)) return false;
    const auto weights = strides(view_.weights);
    const auto result = *strides_of(
        scope_.box, projection(*program_.context, scope_.dimensions(), left_dimensions(scope_)), scope_.dimensions());
    const auto with_order = [&](const WindowStrides& filters) {
      auto view = view_;
      sort(view.filters, filters);
      view.weights_fit =
          weights && is_inside(view.weights) && fused(*weights, view.filters) && fused(*weights, view.channels);
      view.result_fits = is_image(result, view);
      view.weights_order = joined({view.groups, view.filters, view.channels, view.windows});
      view.result_order = joined({view.images, view.groups, view.filters, view.spatial});
      return view;
    };
    auto best = with_order(result);
    if (weights)
      if (auto other = with_order(*weights); other.distance() < best.distance()) best = std::move(other);
    view_ = std::move(best);
    return true;
  }

  std::optional<WindowStrides> strides(std::size_t read) const {
    return strides_of(program_.box(part().reads[read].tensor), at(read), scope_.dimensions());
  }

  bool is_inside(std::size_t read) const {
    const auto box = box_set(*program_.context, program_.box(part().reads[read].tensor));
    return box_set(*program_.context, ranges_).is_subset(box.preimage(at(read)));
  }

  /// Do \p strides hold one image behind another?
  bool is_image(const WindowStrides& strides, const WindowView& view) const {
    const auto filters = fused(strides, view.filters), images = fused(strides, view.images);
    if (!filters || !images) return false;
    return view.images.empty() || view.filters.empty() || *images >= *filters * size(view.filters);
  }

  std::int64_t size(const std::vector<int>& dimensions) const {
    std::int64_t result = 1;
    for (int d : dimensions) result *= extent(d);
    return result;
  }

  /// The outermost first.
  static void sort(std::vector<int>& dimensions, const WindowStrides& strides) {
    std::stable_sort(dimensions.begin(), dimensions.end(), [&](int a, int b) {
      return strides[static_cast<std::size_t>(a)] > strides[static_cast<std::size_t>(b)];
    });
  }

  /// The stride of \p dimensions as one; nothing where they have none.
  std::optional<std::int64_t> fused(const WindowStrides& strides, const std::vector<int>& dimensions) const {
    std::int64_t stride = 1, count = 1;
    for (auto d = dimensions.rbegin(); d != dimensions.rend(); ++d) {
      const auto own = strides[static_cast<std::size_t>(*d)];
      if (d == dimensions.rbegin()) stride = own;
      if (own != stride * count) return std::nullopt;
      count *= extent(*d);
    }
    return stride;
  }

  static std::vector<int> joined(const std::vector<std::vector<int>>& all) {
    std::vector<int> result;
    for (const auto& each : all) result.insert(result.end(), each.begin(), each.end());
    return result;
  }

  const Program& program_;
  const Scope& scope_;
  lang::Box ranges_;
  WindowView view_;
};

}  // namespace

std::optional<WindowView> view_windows(const Program& program, const Scope& scope) {
  if (scope.op != ReductionOp::Sum || !scope.uniform || scope.cases.size() != 1 || scope.cases[0].reads.size() != 2)
    return std::nullopt;
  return WindowViewer(program, scope).run();
}

}  // namespace tc::derive
