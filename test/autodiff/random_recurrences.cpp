#include "test/autodiff/random_recurrences.h"

#include <algorithm>
#include <vector>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "test/support/random/random_value.h"

namespace tc::test {
namespace {

/// Dimensions t, n, m by their numbers.
using Places = std::vector<int>;
constexpr const char* indices[] = {"t", "n", "m"};
constexpr const char* extents[] = {"T", "N", "M"};

struct Sequence {
  std::string name;
  Places places;
};

class RecurrenceWriter {
 public:
  explicit RecurrenceWriter(std::uint64_t seed) : random_(seed) {}

  RandomDifferentiable run() {
    const auto loops = random_.between(1, 2);
    for (int i = 0; i < loops; ++i) {
      if (random_.chance(30)) outside();
      loop();
    }
    if (random_.chance(60)) outside();
    std::vector<std::string> returns;
    for (const auto& made : made_) returns.push_back(declared(made));
    RandomDifferentiable result;
    result.text =
        str("def f(double(T,N) X, double(N,M) B, double(T) S, double(N) V) -> (", join(returns), ") {\n", body_, "}\n");
    result.sizes = {{"T", random_.between(1, 5)}, {"N", random_.between(1, 4)}, {"M", random_.between(1, 3)}};
    return result;
  }

 private:
  static std::string element(const std::string& name, const std::vector<std::string>& subscripts) {
    return subscripts.empty() ? name : str(name, "(", join(subscripts), ")");
  }
  static std::string declared(const Sequence& made) {
    std::vector<std::string> sizes;
    for (int d : made.places) sizes.emplace_back(extents[d]);
    return str("double", sizes.empty() ? "" : str("(", join(sizes), ")"), " ", made.name);
  }
  static std::string target(const Sequence& made) {
    std::vector<std::string> subscripts;
    for (int d : made.places) subscripts.emplace_back(indices[d]);
    return element(made.name, subscripts);
  }

  void line(std::size_t depth, const std::string& text) { body_ += std::string(2 * depth, ' ') + text + "\n"; }

  /// Some tensors over t, planned first as they may read each other, then written in a loop.
  void loop() {
    finished_ = made_.size();
    const auto statements = random_.between(1, 3);
    for (int i = 0; i < statements; ++i) {
      Sequence made{str("H", made_.size()), {0}};
      for (int d = 1; d < 3; ++d)
        if (random_.chance(d == 1 ? 85 : 30))
          made.places.insert(made.places.begin() + random_.between(0, static_cast<std::int64_t>(made.places.size())),
                             d);
      made_.push_back(std::move(made));
    }
    first_ = random_.chance(25) ? 1 : 0;
    if (first_ > 0)
      for (std::size_t s = finished_; s < made_.size(); ++s) first_values(made_[s]);
    line(1, str("for t in ", first_, ":T {"));
    for (std::size_t s = finished_; s < made_.size(); ++s) {
      current_ = s;
      const bool inner = contains(made_[s].places, 1) && random_.chance(25);
      ordered_ = inner ? Places{0, 1} : Places{0};
      if (inner) line(2, "for n in 0:N {");
      assign(made_[s], inner ? 3 : 2, false);
      if (random_.chance(35)) assign(made_[s], inner ? 3 : 2, true);
      if (inner) line(2, "}");
    }
    line(1, "}");
    ordered_ = {};
    finished_ = made_.size();
  }

  /// Elements that the loop does not write.
  void first_values(const Sequence& made) {
    Places others = made.places;
    std::erase(others, 0);
    line(1, str(target(made), " = double(", leaf(others), ") where t in 0:T", ranges(others)));
  }

  std::string ranges(const Places& places) {
    std::string text;
    for (int d : places)
      if (!contains(ordered_, d)) text += str(", ", indices[d], " in 0:", extents[d]);
    return text;
  }

  void assign(const Sequence& made, std::size_t depth, bool again) {
    Places usable = made.places;
    std::string op = again && random_.chance(30) ? "+=" : "=";
    for (int d = 1; d < 3; ++d)
      if (!contains(usable, d) && random_.chance(50)) {
        usable.push_back(d);
        op = again ? "+=" : random_.pick(std::vector<std::string>{"+=!", "+=!", "+=!", "max=!"});
      }
    const std::string own = again && op == "=" ? str(target(made), " * ") : "";
    std::string where = ranges(usable);
    if (again && op == "=" && random_.chance(30))
      if (const auto part = where.find("n in 0:"); part != std::string::npos) where[part + 5] = '1';
    if (!where.empty()) where = " where " + where.substr(2);
    line(depth, str(target(made), " ", op, " double(", own, value(usable, 3), ")", where));
  }

  /// A statement that no loop is around, over tensors that loops made.
  void outside() {
    if (made_.empty()) return;
    finished_ = current_ = made_.size();
    Sequence made{str("H", made_.size()), random_.chance(50) ? Places{1} : Places{0, 1}};
    const bool sums = random_.chance(70);
    Places usable = made.places;
    for (int d : {0, 1, 2})
      if (sums && !contains(usable, d)) usable.push_back(d);
    const std::string term = value(usable, 2);
    made_.push_back(made);
    line(1, str(target(made), sums ? " +=! " : " = ", "double(", term, ") where ", ranges(usable).substr(2)));
  }

  std::string value(const Places& usable, int depth) {
    if (depth == 0 || random_.chance(10)) return leaf(usable);
    if (random_.chance(45)) return read(usable);
    const std::string a = value(usable, depth - 1), b = value(usable, depth - 1);
    switch (random_.between(0, 6)) {
      case 0:
        return str("(", a, " - ", b, ")");
      case 1:
        return str("sin(", a, ")");
      case 2:
        return str("tanh(", a, ")");
      case 3:
        return str("0.5 * ", a, " / (2 + cos(", b, "))");
      case 4:
        return str("(", leaf(usable), " > 0.1 ? ", a, " : ", b, ")");
      case 5:
        return str("0.3 * ", a, " * ", b);
      default:
        return str("(", a, " + 0.7 * ", b, ")");
    }
  }

  std::string leaf(const Places& usable) {
    const bool t = contains(usable, 0), n = contains(usable, 1), m = contains(usable, 2);
    std::vector<std::string> leaves = {"double(0.4)"};
    if (t) leaves.insert(leaves.end(), {"S(t)", "S(T - 1 - t)"});
    if (n) leaves.insert(leaves.end(), {"V(n)", "V(N - 1 - n)"});
    if (n && m) leaves.insert(leaves.end(), {"B(n,m)", "B(n,m)"});
    if (t && n) leaves.insert(leaves.end(), {"X(t,n)", "X(t,n)"});
    return random_.pick(leaves);
  }

  std::string anywhere(int d, const Places& usable) {
    if (!contains(usable, d)) return random_.chance(50) ? "0" : str(extents[d], " - 1");
    if (random_.chance(15)) return str(extents[d], " - 1 - ", indices[d]);
    if (random_.chance(15)) return str("(", indices[d], " + 1) % ", extents[d]);
    return indices[d];
  }

  std::string read(const Places& usable) {
    const std::size_t known = ordered_.empty() ? finished_ : made_.size();
    if (known == 0) return leaf(usable);
    const auto k = static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(known) - 1));
    const Sequence& made = made_[k];
    if (k < finished_) return element(made.name, subscripts(made, usable, {}));
    if (k < current_ && random_.chance(50)) return element(made.name, subscripts(made, usable, {{0, "t"}}));
    const bool inner = ordered_.size() == 2 && k == current_ && random_.chance(60);
    const auto back = random_.between(1, 2);
    const char* index = inner ? "n" : "t";
    std::map<int, std::string> fixed = {{0, inner ? std::string("t") : str("t - ", back)}};
    if (inner) fixed[1] = str("n - ", back);
    return str("(", index, " >= ", back, " ? ", element(made.name, subscripts(made, usable, fixed)), " : ",
               leaf(usable), ")");
  }

  std::vector<std::string> subscripts(const Sequence& made, const Places& usable,
                                      const std::map<int, std::string>& fixed) {
    std::vector<std::string> result;
    for (int d : made.places) result.push_back(fixed.count(d) ? fixed.at(d) : anywhere(d, usable));
    return result;
  }

  Random random_;
  std::vector<Sequence> made_;
  std::size_t finished_ = 0, current_ = 0;  ///< tensors made before the loop at hand; the one at hand
  Places ordered_;                          ///< dimensions of the loops around the statement at hand
  int first_ = 0;
  std::string body_;
};

}  // namespace

RandomDifferentiable random_recurrence(std::uint64_t seed) { return RecurrenceWriter(seed).run(); }

}  // namespace tc::test
