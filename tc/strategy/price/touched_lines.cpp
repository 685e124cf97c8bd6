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

TouchedLines touched_lines(const PricedCluster& cluster, const PricedStatement& statement, const PricedAccess& access,
                           const std::vector<double>& spans) {
  const auto& tensor = cluster.tensors[static_cast<std::size_t>(access.tensor)];
  auto most = std::max(tensor.bytes, line);
  std::array<LineStep, most_steps> steps;
  std::size_t count = 0;
  TouchedLines result;
  Multiple begins(line);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (!access.used[i]) continue;
    const bool all = spans[i] >= statement.extent[i];
    if (count + 1 >= most_steps) return {most, 1};
    auto add = [&](std::int64_t stride, double trips, bool moves) {
      const auto step = static_cast<double>(std::abs(stride)) * tensor.element;
      if (moves) begins.add(step * trips);
      if (stride != 0 && trips > 1) steps[count++] = {step, trips};
    };
    if (access.strides[i] == polyhedral::unknown_stride) {
      result.scattered *= spans[i];
    } else if (auto size = static_cast<double>(access.blocks[i].size); size > 0) {
      add(access.strides[i], std::min(spans[i], size), spans[i] < size);
      add(access.blocks[i].between, std::ceil(spans[i] / size), !all);
    } else {
      add(access.strides[i], spans[i], !all);
    }
  }
  std::sort(steps.begin(), steps.begin() + static_cast<long>(count),
            [](const LineStep& a, const LineStep& b) { return a.bytes < b.bytes; });
  double run = tensor.element;
  bool gaps = false;  ///< of less than a line
  result.runs = result.scattered;
  for (std::size_t i = 0; i < count; ++i) {
    if (steps[i].bytes < run + line) {
      gaps |= steps[i].bytes > run;
      run += (steps[i].count - 1) * steps[i].bytes;
    } else if (auto rows = rows_of_windows(result, steps[i]); rows > 0) {
      auto& last = result.rows[result.row_steps - 1];
      result.runs *= rows / last.count;
      last.count = rows;
    } else {
      if (result.row_steps < TouchedLines::most_rows) result.rows[result.row_steps++] = steps[i];
      result.runs *= steps[i].count;
      begins.add(steps[i].bytes);
    }
  }
  result.torn = gaps ? lines_of_run(run, begins.value()) : (line - begins.value()) / line;
  result.bytes = std::min(result.runs * lines_of_run(run, begins.value()) * line, most);
  return result;
}

TouchedLines copied_lines(const PricedAccess& access, double element, const std::vector<double>& spans) {
  TouchedLines result{element, 1};
  for (std::size_t i = 0; i < spans.size(); ++i)
    if (access.used[i]) result.bytes *= spans[i];
  return result;
}

}  // namespace tc::strategy
