#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/halide_bridge/infer/infer_ranges.h"
#include "test/halide_bridge/affine_programs.h"
#include "test/halide_bridge/checked_def.h"

/// Ranges of random programs are inferred and, for every vector of small sizes, found by enumeration.
namespace tc::halide_bridge {
namespace {

using namespace affine_programs;

constexpr int reach = 70;  ///< iterators are searched in [-reach, reach]

struct Span {
  int low = 0, high = -1;
};

/// The rule of LANGUAGE 5 to 7 by enumeration, for all vectors of sizes in lockstep.
class Reference {
 public:
  Reference(const Program& program, std::vector<Sizes> grid)
      : program_(program), grid_(std::move(grid)), ranges_(grid_.size()), empty_(grid_.size()) {}

  void run() {
    for (const auto& [i, range] : program_.where)
      settle(i, [&, r = range](std::size_t v) { return Span{r.first.at(grid_[v]), r.second.at(grid_[v]) - 1}; });
    for (const Access& a : program_.accesses)
      for (std::size_t d = 0; d < a.subscripts.size(); ++d) {
        const Affine& s = a.subscripts[d];
        const bool waits = a.guard && !(s.bare() && !program_.where.count(s.only()));
        (waits ? guarded_ : pending_).push_back({&a, d});
      }
    rounds();
    std::vector<Use> joining;
    for (const Use& use : guarded_)
      if (!proved(use, true, true)) joining.push_back(use);
    pending_.insert(pending_.end(), joining.begin(), joining.end());
    rounds();
  }

  bool solved() const {
    for (int i : program_.iterators)
      if (!known_.count(i)) return false;
    return true;
  }
  bool empty(std::size_t v) const { return empty_[v]; }
  const Span& range(std::size_t v, int i) const { return ranges_[v][i]; }

  /// All accesses in bounds at the sizes of \p v, where their guards hold.
  std::vector<bool> accepted() {
    std::vector<bool> ok(grid_.size(), true);
    auto check = [&](const Use& use) {
      for (std::size_t v = 0; v < grid_.size(); ++v)
        if (ok[v] && !empty_[v]) ok[v] = inside(use, v, true, true, use.access->guard.has_value());
    };
    for (const Access& a : program_.accesses)
      for (std::size_t d = 0; d < a.subscripts.size(); ++d) check({&a, d});
    return ok;
  }

 private:
  struct Use {
    const Access* access;
    std::size_t dimension;
    const Affine& value() const { return access->subscripts[dimension]; }
  };

  int extent(const Use& use, std::size_t v) const {
    return program_.tensors[use.access->tensor][use.dimension].at(grid_[v]);
  }

  void settle(int i, const std::function<Span(std::size_t)>& span) {
    known_.insert(i);
    for (std::size_t v = 0; v < grid_.size(); ++v) {
      ranges_[v][i] = span(v);
      empty_[v] = empty_[v] || ranges_[v][i].high < ranges_[v][i].low;
    }
  }

  /// Calls \p visit for every point of the iterators in \p which; unknown ones take all values within half the reach.
  template <typename F>
  void points(std::size_t v, const std::set<int>& which, F&& visit) const {
    Point p{};
    auto descend = [&](auto& self, std::set<int>::const_iterator at) -> void {
      if (at == which.end()) return visit(p);
      const Span span = known_.count(*at) ? ranges_[v][*at] : Span{-reach / 2, reach / 2};
      for (p[*at] = span.low; p[*at] <= span.high; ++p[*at]) self(self, std::next(at));
    };
    descend(descend, which.begin());
  }

  bool inside(const Use& use, std::size_t v, bool low, bool high, bool guarded) const {
    std::set<int> which;
    for (int i = 0; i < iterator_count; ++i) {
      bool used = use.value().uses(i);
      if (guarded)
        for (const auto& c : use.access->guard->conditions) used = used || c.left.uses(i);
      if (used) which.insert(i);
    }
    bool ok = true;
    points(v, which, [&](const Point& p) {
      if (!ok || (guarded && !use.access->guard->at(p, grid_[v]))) return;
      const int value = use.value().at(p, grid_[v]);
      ok = !(low && value < 0) && !(high && value >= extent(use, v));
    });
    return ok;
  }

  bool proved(const Use& use, bool low, bool high) const {
    for (std::size_t v = 0; v < grid_.size(); ++v)
      if (!empty_[v] && !inside(use, v, low, high, true)) return false;
    return true;
  }

  /// The values of \p unknown that keep the subscript inside for all values of the others.
  Span solve(const Use& use, int unknown, std::size_t v) const {
    std::set<int> others;
    for (int i = 0; i < iterator_count; ++i)
      if (i != unknown && use.value().uses(i)) others.insert(i);
    std::vector<Point> extremes;
    auto sum = [&](Point p) {
      p[unknown] = 0;
      int total = 0;
      for (int i = 0; i < iterator_count; ++i) total += use.value().coefficients[i] * p[i];
      return total;
    };
    points(v, others, [&](const Point& p) {
      if (extremes.empty()) extremes = {p, p};
      if (sum(p) < sum(extremes[0])) extremes[0] = p;
      if (sum(p) > sum(extremes[1])) extremes[1] = p;
    });
    Span span{reach + 1, -reach - 1};
    for (int x = -reach; x <= reach; ++x) {
      bool ok = true;
      for (Point p : extremes) {
        p[unknown] = x;
        const int value = use.value().at(p, grid_[v]);
        ok = ok && value >= 0 && value < extent(use, v);
      }
      if (ok) span = {std::min(span.low, x), std::max(span.high, x)};
    }
    return span;
  }

  void rounds() {
    for (bool progress = true; progress;) {
      progress = false;
      std::map<int, std::vector<Use>> found;
      for (const Use& use : pending_) {
        int unknowns = 0, unknown = -1;
        for (int i = 0; i < iterator_count; ++i)
          if (use.value().uses(i) && !known_.count(i)) ++unknowns, unknown = i;
        if (unknowns == 1) found[unknown].push_back(use);
      }
      std::vector<std::pair<int, std::vector<Span>>> round;
      for (const auto& [i, uses] : found) {
        std::vector<Span> spans(grid_.size(), Span{-reach, reach});
        for (std::size_t v = 0; v < grid_.size(); ++v)
          for (const Use& use : uses) {
            if (empty_[v]) continue;
            const Span s = solve(use, i, v);
            spans[v] = {std::max(spans[v].low, s.low), std::min(spans[v].high, s.high)};
          }
        round.emplace_back(i, std::move(spans));
      }
      for (const auto& [i, spans] : round) {
        settle(i, [&, &spans = spans](std::size_t v) { return spans[v]; });
        progress = true;
      }
    }
  }

  const Program& program_;
  std::vector<Sizes> grid_;
  std::set<int> known_;
  std::vector<std::array<Span, iterator_count>> ranges_;
  std::vector<bool> empty_;
  std::vector<Use> pending_, guarded_;
};

std::vector<Sizes> grid(bool symbolic) {
  std::vector<Sizes> all;
  for (int a = 0; a <= (symbolic ? largest_size : 0); ++a)
    for (int b = 0; b <= (symbolic ? largest_size : 0); ++b) all.push_back({a, b});
  return all;
}

struct Tally {
  int compared = 0, refused = 0, rejected = 0, unsolved = 0;
};

/// Compares ranges and acceptance of one program; the difference as text, or nothing.
std::string compare(const Program& program, bool symbolic, Tally& tally) {
  const auto sizes = grid(symbolic);
  Reference reference(program, sizes);
  reference.run();
  const lang::Def def = checked_def(program.text());
  std::optional<lang::Ranges> ranges;
  std::set<std::string> codes;
  std::string message;
  try {
    ranges = infer_ranges(def, program.text());
  } catch (const SemanticError& error) {
    message = error.what();
    for (const auto& d : error.diagnostics()) codes.insert(d.code);
  }
  const bool no_range = codes.count("TC201") || codes.count("TC202");
  if (no_range != !reference.solved())
    return str("enumeration ", reference.solved() ? "solves all" : "leaves indices open", "\n", message);
  if (no_range) return ++tally.unsolved, "";
  const std::vector<bool> accepted = reference.accepted();
  bool rejected = false;
  for (std::size_t v = 0; v < sizes.size(); ++v) {
    if (reference.empty(v)) continue;
    if (!ranges) {
      if (accepted[v]) return str("accepted by enumeration for N0=", sizes[v][0], " N1=", sizes[v][1], "\n", message);
      rejected = true;
      continue;
    }
    const lang::SizeMap values{{"N0", sizes[v][0]}, {"N1", sizes[v][1]}};
    for (int i : program.iterators) {
      const auto& found = ranges->statements[0].at(std::string(1, "ijk"[i]));
      const auto min = evaluate_size(found.min, values), extent = evaluate_size(found.extent, values);
      const Span expected = reference.range(v, i);
      if (min != expected.low || extent != expected.high - expected.low + 1)
        return str("ijk"[i], " is [", min, ", ", min + extent, "), by enumeration [", expected.low, ", ",
                   expected.high + 1, ") for N0=", sizes[v][0], " N1=", sizes[v][1]);
    }
    bool holds = true;
    for (const auto& p : ranges->preconditions) holds = holds && evaluate_size(p.condition, values);
    if (holds != accepted[v]) return str(holds ? "accepted" : "refused", " for N0=", sizes[v][0], " N1=", sizes[v][1]);
    ++(holds ? tally.compared : tally.refused);
  }
  tally.rejected += rejected;
  return "";
}

void run(unsigned first_seed, int count, bool symbolic) {
  Tally tally;
  for (int n = 0; n < count; ++n) {
    const unsigned seed = first_seed + static_cast<unsigned>(n);
    const Program program = Generator(seed, symbolic).program();
    const std::string difference = compare(program, symbolic, tally);
    ASSERT_EQ(difference, "") << "seed " << seed << (symbolic ? ", sizes are names\n" : ", sizes are constants\n")
                              << program.text();
  }
  EXPECT_GT(tally.compared, count / 4);
  EXPECT_GT(tally.rejected + tally.refused, count / 20);
  EXPECT_GT(tally.unsolved, count / 50);
}

TEST(InferRangesBruteForce, ConstantSizes) { run(1, 1000, false); }
TEST(InferRangesBruteForce, NamedSizes) { run(100001, 1000, true); }

}  // namespace
}  // namespace tc::halide_bridge
