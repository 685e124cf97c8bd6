#include "test/autodiff/random_differentiable.h"

#include <random>
#include <vector>

#include "tc/base/str.h"

namespace tc::test {
namespace {

struct Tensor {
  std::string name;
  std::vector<std::string> dims;  ///< names of sizes
};

/// Writes one program.
class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {
    if (seed % 3 == 0) names_ = {"d_A", "d_T3", "n_T3", "s_A"};
    tensors_ = {{"A", {"N"}}, {"B", {"N", "M"}}, {"w", {"K"}}};
    result_.sizes = {{"N", 3 + below(4)}, {"M", 2 + below(3)}, {"K", 1 + below(3)}};
  }

  RandomDifferentiable run() {
    const int statements = 1 + below(4);
    for (int i = 0; i < statements; ++i) statement();
    result_.text = str("def f(double(N) A, double(N,M) B, double(K) w) -> (", returns(), ") {\n", body_, "}\n");
    return result_;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& pick(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
  }

  /// The last tensor, and another one now and then.
  std::string returns() {
    std::string names = tensors_.back().name;
    for (std::size_t i = 3; i + 1 < tensors_.size(); ++i)
      if (chance(30)) names += ", " + tensors_[i].name;
    return names;
  }

  std::string iterator_of(const std::string& size) {
    std::vector<std::string> fitting;
    for (const auto& [name, range] : iterators_)
      if (range == size) fitting.push_back(name);
    return fitting.empty() ? "" : pick(fitting);
  }

  /// An index expression over the iterators of the statement.
  std::string index() {
    const std::string i = pick(iterators_).first, k = pick(iterators_).first;
    switch (below(9)) {
      case 0:
        return str(i, " + ", below(3));
      case 1:
        return str(i, " - ", k);
      case 2:
        return str(2 + below(2), "*", i, " + ", k);
      case 3:
        return str(i, " + ", 2 + below(2), "*", k);
      case 4:
        return str(i, "/", 2 + below(2));
      case 5:
        return str("(", i, " + ", below(2), ")%", 2 + below(2));
      case 6:
        return str("N - 1 - ", i);
      case 7:
        return str("2*", i, " + 3*", k, " - ", below(3));
      default:
        return str(below(3));
    }
  }

  std::string read(const Tensor& tensor) {
    std::vector<std::string> subscripts, guards;
    for (const auto& size : tensor.dims) {
      const std::string lone = iterator_of(size);
      const bool plain = !lone.empty() && chance(55);
      subscripts.push_back(plain ? lone : index());
      if (!plain) guards.push_back(str(subscripts.back(), " >= 0 && ", subscripts.back(), " < ", size));
    }
    const std::string element = str(tensor.name, "(", join(subscripts, ","), ")");
    return guards.empty() ? element : str("(", join(guards, " && "), " ? ", element, " : ", below(2), ")");
  }

  std::string value(int depth) {
    if (depth == 0 || chance(15)) return chance(15) ? str("0.", 1 + below(9)) : read(pick(tensors_));
    switch (below(11)) {
      case 0:
      case 1:
        return str(value(depth - 1), " + ", value(depth - 1));
      case 2:
        return str("(", value(depth - 1), " - ", value(depth - 1), ")");
      case 3:
      case 4:
        return str("(", value(depth - 1), ") * ", value(depth - 1));
      case 5:
        return str(pick(functions_), "(", value(depth - 1), ")");
      case 6:
        return str("(", value(depth - 1), ") / (2 + sin(", value(depth - 1), "))");
      case 7:
        return str(pick(pairs_), "(", value(depth - 1), ", ", value(depth - 1), ")");
      case 8:
        return str("(", read(pick(tensors_)), " > 0.1 ? ", value(depth - 1), " : ", value(depth - 1), ")");
      case 9:
        return str("(", pick(iterators_).first, " < 2 ? ", value(depth - 1), " : ", value(depth - 1), ")");
      default:
        return read(pick(tensors_));
    }
  }

  void statement() {
    const bool again = tensors_.size() > 3 && chance(45);
    const Tensor target = again ? tensors_.back() : Tensor{str("T", tensors_.size()), dims()};
    iterators_.clear();
    std::vector<std::string> left, clauses;
    for (const auto& size : target.dims) {
      left.push_back(names_[left.size()]);
      iterators_.emplace_back(left.back(), size);
      const bool part = again && chance(40);
      clauses.push_back(part ? str(left.back(), " in 1:", size) : str(left.back(), " in 0:", size));
    }
    std::string op = again && chance(40) ? "+=" : "=";
    if (chance(45)) {
      iterators_.emplace_back(names_.back(), "K");
      clauses.push_back(str(names_.back(), " in 0:K"));
      op = again ? pick(joins_) : pick(reductions_);
    }
    const std::string rhs = value(3);
    body_ += str("  ", target.name, "(", join(left, ","), ") ", op, " ", rhs, " where ", join(clauses, ", "), "\n");
    if (!again) tensors_.push_back(target);
  }

  std::vector<std::string> dims() {
    static const std::vector<std::vector<std::string>> shapes = {{"N"}, {"N", "M"}, {"M"}, {"N", "N"}};
    return pick(shapes);
  }

  std::mt19937_64 random_;
  std::vector<std::string> names_ = {"i", "j", "l",
                                     "k"};  ///< of iterators; some are those that a gradient gives to tensors
  std::vector<Tensor> tensors_;
  std::vector<std::pair<std::string, std::string>> iterators_;  ///< with their sizes
  const std::vector<std::string> functions_ = {"sin", "cos", "tanh", "sigmoid", "relu", "abs", "erf", "softplus"};
  const std::vector<std::string> pairs_ = {"max", "min", "fmax", "fmin"};
  const std::vector<std::string> reductions_ = {"+=!", "+=!", "+=!", "max=!", "min=!", "*=!"};
  const std::vector<std::string> joins_ = {"+=", "+=", "max=", "min=", "*="};
  std::string body_;
  RandomDifferentiable result_;
};

}  // namespace

RandomDifferentiable random_differentiable(std::uint64_t seed) { return Writer(seed).run(); }

}  // namespace tc::test
