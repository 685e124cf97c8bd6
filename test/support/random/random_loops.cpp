#include "test/support/random/random_loops.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "test/support/random/random_value.h"

namespace tc::test {
namespace {

/// A dimension: its index, its size and its position among them.
struct Dimension {
  const char* index;
  const char* size;
};
constexpr Dimension dimensions[] = {{"t", "T"}, {"n", "N"}, {"m", "M"}};

/// A tensor that loops write: which dimensions it has, in which order, and in which type.
struct Made {
  std::string name, type;
  std::vector<int> dims;
};

using Indices = std::vector<int>;  ///< the dimensions whose index a value may use

class LoopGenerator {
 public:
  explicit LoopGenerator(std::uint64_t seed) : random_(seed) {}

  ProgramFile run() {
    const int loops = static_cast<int>(random_.between(1, 2));
    for (int loop = 0; loop < loops; ++loop) {
      if (!made_.empty() && random_.chance(40)) reduce();
      make_loop();
    }
    if (random_.chance(60)) reduce();
    std::string returns;
    for (const auto& made : made_) returns += str(returns.empty() ? "" : ", ", declared(made));
    ProgramFile program;
    program.text = str("def loops(int32(T,N) X, int32(N,M) B, int32(T,M) C, int32(T) S, int32(N) V) -> (", returns,
                       ") {\n", body_, "}\n");
    program.runs = {{{"T", random_.pick(lengths)}, {"N", random_.pick(widths)}, {"M", random_.pick(depths)}}};
    return program;
  }

 private:
  static inline const std::vector<std::int64_t> lengths = {1, 2, 3, 5, 9, 17}, widths = {1, 3, 7, 16, 17, 33},
                                                depths = {1, 2, 5, 8};
  static inline const std::vector<std::string> types = {"int32", "int32", "int32", "int64", "uint8"};

  static std::string declared(const Made& made) {
    std::vector<std::string> sizes;
    for (int d : made.dims) sizes.emplace_back(dimensions[d].size);
    return str(made.type, sizes.empty() ? " " : str("(", join(sizes), ") "), made.name);
  }

  void line(int depth, const std::string& text) {
    body_ += std::string(static_cast<std::size_t>(2 * depth), ' ') + text + "\n";
  }

  /// A loop over t of some statements, some of them in a loop over n.
  void make_loop() {
    before_ = made_.size();
    line(1, "for t in 0:T {");
    const auto statements = random_.between(1, 3);
    plan(statements);
    for (std::size_t s = before_; s < made_.size(); ++s) {
      const bool inner = contains(made_[s].dims, 1) && random_.chance(25);
      ordered_ = inner ? Indices{0, 1} : Indices{0};
      if (inner) line(2, "for n in 0:N {");
      assign(s, inner ? 3 : 2);
      if (random_.chance(30)) assign_again(s, inner ? 3 : 2);
      if (inner) line(2, "}");
    }
    line(1, "}");
  }

  /// The tensors that the statements of the next loop write: all are known before, as they may read each other.
  void plan(std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) {
      Made made{str("A", made_.size()), random_.pick(types), {0}};
      for (int d = 1; d < 3; ++d)
        if (random_.chance(d == 1 ? 80 : 35))
          made.dims.insert(made.dims.begin() + random_.between(0, static_cast<std::int64_t>(made.dims.size())), d);
      made_.push_back(std::move(made));
    }
  }

  std::string target(const Made& made) const {
    std::vector<std::string> indices;
    for (int d : made.dims) indices.emplace_back(dimensions[d].index);
    return str(made.name, "(", join(indices), ")");
  }

  void assign(std::size_t s, int depth) {
    current_ = s;
    const Made& made = made_[s];
    Indices usable = made.dims;
    std::string op = "=", ranges;
    for (int d = 1; d < 3; ++d)
      if (!contains(usable, d) && random_.chance(50)) {
        usable.push_back(d);
        op = random_.pick(std::vector<std::string>{"+=!", "max=!", "min=!"});
      }
    for (int d : usable)
      if (!contains(ordered_, d))
        ranges += str(ranges.empty() ? " where " : ", ", dimensions[d].index, " in 0:", dimensions[d].size);
    line(depth, str(target(made), " ", op, " ", made.type, "(", value(usable, 3), ")", ranges));
  }

  /// Another statement on tensor \p s, over some of its elements.
  void assign_again(std::size_t s, int depth) {
    current_ = s;
    const Made& made = made_[s];
    std::string ranges;
    for (int d : made.dims)
      if (!contains(ordered_, d)) {
        const bool part = random_.chance(30);
        ranges +=
            str(ranges.empty() ? " where " : ", ", dimensions[d].index, part ? " in 1:" : " in 0:", dimensions[d].size);
      }
    const std::string own = random_.chance(50) ? target(made) + " - " : "";
    line(depth, str(target(made), " = ", made.type, "(", own, "int64(", value(made.dims, 2), "))", ranges));
  }

  /// A sum without t over tensors that earlier loops made.
  void reduce() {
    current_ = before_ = made_.size();
    ordered_ = {};
    Made made{str("A", made_.size()), "int32", {1}};
    const std::string term = value({0, 1, 2}, 2);
    made_.push_back(made);
    line(1, str(target(made), " +=! int32(", term, ") where t in 0:T, n in 0:N, m in 0:M"));
  }

  std::string value(const Indices& usable, int depth) {
    if (depth == 0 || random_.chance(15)) return leaf(usable);
    if (random_.chance(55)) return read(usable);
    static const std::vector<std::string> operators = {" + ", " - ", " * "};
    if (random_.chance(20)) return str("max(", value(usable, depth - 1), ", int64(", value(usable, depth - 1), "))");
    return str("(int64(", value(usable, depth - 1), ")", random_.pick(operators), value(usable, depth - 1), ")");
  }

  std::string leaf(const Indices& usable) {
    const bool n = contains(usable, 1), m = contains(usable, 2), t = contains(usable, 0);
    std::vector<std::string> leaves = {str("int32(", random_.between(-3, 3), ")")};
    if (t) leaves.insert(leaves.end(), {"S(t)", "int32(t)"});
    if (n) leaves.emplace_back("V(n)");
    if (n && m) leaves.emplace_back("B(n,m)");
    if (t && n) leaves.emplace_back("X(t,n)");
    if (t && m) leaves.emplace_back("C(t,m)");
    return random_.pick(leaves);
  }

  /// An index of dimension \p d that is inside for all values of the usable ones.
  std::string anywhere(int d, const Indices& usable) {
    const auto& [index, size] = dimensions[d];
    if (!contains(usable, d)) return random_.chance(50) ? "0" : str(size, " - 1");
    const auto kind = random_.between(0, 5);
    if (kind == 0) return str(size, " - 1 - ", index);
    if (kind == 1) return str("(", index, " + 1) % ", size);
    return index;
  }

  /// An element of a tensor that a loop made, or makes: of an earlier iteration, of the same one, or any where it is done.
  std::string read(const Indices& usable) {
    std::vector<std::size_t> known;
    for (std::size_t k = 0; k < made_.size(); ++k)
      if (k < before_ || !ordered_.empty()) known.push_back(k);
    if (known.empty()) return leaf(usable);
    const std::size_t k = random_.pick(known);
    const Made& made = made_[k];
    if (k < before_) return element(made, usable, {});
    const bool same = k < current_ && random_.chance(50);
    if (same) return element(made, usable, {{0, "t"}});
    const bool inner = ordered_.size() == 2 && k == current_ && random_.chance(60);
    const auto back = random_.between(1, 2);
    const char* index = inner ? "n" : "t";
    std::map<int, std::string> fixed = {{0, inner ? std::string("t") : str("t - ", back)}};
    if (inner) fixed[1] = str("n - ", back);
    return str("(", index, " >= ", back, " ? ", element(made, usable, fixed), " : ", made.type, "(", leaf(usable),
               "))");
  }

  std::string element(const Made& made, const Indices& usable, const std::map<int, std::string>& fixed) {
    std::vector<std::string> subscripts;
    for (int d : made.dims) subscripts.push_back(fixed.count(d) ? fixed.at(d) : anywhere(d, usable));
    return str(made.name, "(", join(subscripts), ")");
  }

  Random random_;
  std::vector<Made> made_;
  std::size_t before_ = 0;   ///< tensors that are made before the loop at hand
  std::size_t current_ = 0;  ///< the tensor that the statement at hand writes
  Indices ordered_;          ///< dimensions that loops around the statement run
  std::string body_;
};

}  // namespace

ProgramFile random_loops(std::uint64_t seed) { return LoopGenerator(seed).run(); }

}  // namespace tc::test
