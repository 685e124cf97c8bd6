#include "tc/strategy/price/touched_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace tc::strategy {
namespace {

constexpr double line = Target::cache_line;

/// Steps of an access, at most: one for each iterator that moves it, two where it does so in blocks.
constexpr std::size_t most_steps = 12;

/// The greatest number of bytes, a power of two, of which all that were added are multiples.
class Multiple {
 public:
  explicit Multiple(double most) : bits_(static_cast<std::int64_t>(most)) {}
  void add(double bytes) { bits_ |= static_cast<std::int64_t>(bytes); }
  double value() const { return static_cast<double>(bits_ & -bits_); }

 private:
  std::int64_t bits_;
};

/// Lines that a run of \p bytes touches, in the mean over all places in a line that are multiples of \p begins.
double lines_of_run(double bytes, double begins) { return (std::ceil(bytes / begins) * begins + line - begins) / line; }

/// Where the last rows of \p touched, repeated by \p step, overlap, as those of windows do, or follow one another: how many there are
/// then; else 0.
double rows_of_windows(const TouchedLines& touched, const LineStep& step) {
  if (touched.row_steps == 0) return 0;
  const auto& last = touched.rows[touched.row_steps - 1];
  const auto apart = step.bytes / last.bytes;
  return apart == std::floor(apart) && apart <= last.count ? last.count + (step.count - 1) * apart : 0;
}

}  // namespace

double TouchedLines::lines_of_a_set(double period) const {
  if (row_steps == 0) return bytes / period;
  return std::max(bytes / period, strategy::lines_of_a_set({rows.data(), row_steps}, period));
}

double TouchedLines::share_sent_away(double period, double ways) const {
  return std::max(0.0, 1 - ways / std::max(lines_of_a_set(period), 1.0));
}

double TouchedLines::sets(double period) const {
  auto of_a_run = std::max(bytes / std::max(runs, 1.0) / line, 1.0);
  return std::min(of_a_run * scattered * sets_of({rows.data(), row_steps}, period), period / line);
}

namespace {

/// The steps of an access from one element to the next, and where its runs may begin.
struct Steps {
  std::array<LineStep, most_steps> steps;
  std::size_t count = 0;
  Multiple begins{line};

  /// One of \p bytes, \p times; \p moves: other iterations begin elsewhere along it.
  void add(double bytes, double times, bool moves) {
    if (moves) begins.add(bytes * times);
    if (bytes != 0 && times > 1) steps[count++] = {bytes, times};
  }
};

/// What \p all touches from each of \p scattered places, \p most bytes at most.
TouchedLines lines_of(Steps all, double element, double scattered, double most) {
  std::sort(all.steps.begin(), all.steps.begin() + static_cast<long>(all.count),
            [](const LineStep& a, const LineStep& b) { return a.bytes < b.bytes; });
  TouchedLines result;
  result.scattered = result.runs = scattered;
  double run = element;
  bool gaps = false;  ///< of less than a line
  for (std::size_t i = 0; i < all.count; ++i) {
    const auto& step = all.steps[i];
    if (step.bytes < run + line) {
      gaps |= step.bytes > run;
      run += (step.count - 1) * step.bytes;
    } else if (auto rows = rows_of_windows(result, step); rows > 0) {
      auto& last = result.rows[result.row_steps - 1];
      result.runs *= rows / last.count;
      last.count = rows;
    } else {
      if (result.row_steps < TouchedLines::most_rows) result.rows[result.row_steps++] = step;
      result.runs *= step.count;
      all.begins.add(step.bytes);
    }
  }
  const auto begins = all.begins.value();
  result.torn = gaps ? lines_of_run(run, begins) : (line - begins) / line;
  result.bytes = std::min(result.runs * lines_of_run(run, begins) * line, most);
  return result;
}

}  // namespace

TouchedLines touched_lines(const PricedCluster& cluster, const PricedStatement& statement, const PricedAccess& access,
                           const std::vector<double>& spans) {
  const auto& tensor = cluster.tensors[static_cast<std::size_t>(access.tensor)];
  const auto most = std::max(tensor.bytes, line);
  double scattered = 1;
  Steps steps;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (!access.used[i]) continue;
    const bool all = spans[i] >= statement.extent[i];
    if (steps.count + 1 >= most_steps) return {most, 1};
    auto add = [&](std::int64_t stride, double times, bool moves) {
      steps.add(static_cast<double>(std::abs(stride)) * tensor.element, times, moves);
    };
    if (access.strides[i] == polyhedral::unknown_stride) {
      scattered *= spans[i];
    } else if (auto size = static_cast<double>(access.blocks[i].size); size > 0) {
      add(access.strides[i], std::min(spans[i], size), spans[i] < size);
      add(access.blocks[i].between, std::ceil(spans[i] / size), !all);
    } else {
      add(access.strides[i], spans[i], !all);
    }
  }
  return lines_of(steps, tensor.element, scattered, most);
}

TouchedLines copied_lines(const PricedStatement& statement, const PricedAccess& access,
                          const polyhedral::NestCopy& copy, double element, const std::vector<double>& copied,
                          const std::vector<double>& spans) {
  const auto panel = static_cast<std::size_t>(copy.panel);
  const auto size = static_cast<double>(copy.size);
  Steps steps;
  double bytes = element;
  auto add = [&](double extent, double span, double lanes = 1) {
    if (steps.count + 1 < most_steps) steps.add(bytes, std::min(span, extent), span < extent);
    bytes *= std::ceil(extent / lanes) * lanes;
  };
  auto is_row = [&](std::size_t i) { return i != panel && access.used[i] && !statement.write.used[i]; };
  auto lies_along = [&](std::size_t i) { return is_row(i) && !copy.panel_last && access.strides[i] == 1; };
  auto add_panel = [&] { add(std::min(size, copied[panel]), spans[panel]); };
  if (copy.panel_last) add_panel();
  for (std::size_t i = spans.size(); i-- > 0;)
    if (lies_along(i)) add(copied[i], spans[i], copy.lanes);
  for (std::size_t i = spans.size(); i-- > 0;)
    if (is_row(i) && !lies_along(i)) add(copied[i], spans[i]);
  if (!copy.panel_last) add_panel();
  add(std::ceil(copied[panel] / size), std::ceil(spans[panel] / size));
  for (std::size_t i = spans.size(); i-- > 0;)
    if (i != panel && access.used[i] && statement.write.used[i]) add(copied[i], spans[i]);
  return lines_of(steps, element, 1, std::max(bytes, line));
}

}  // namespace tc::strategy
