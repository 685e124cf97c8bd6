#include "test/autodiff/gradient_fixture.h"

#include <cmath>

#include "tc/base/str.h"
#include "tc/halide_bridge/infer/infer_ranges.h"
#include "tc/lang/check/check.h"
#include "tc/lang/interpret/interpret.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"

namespace tc::test {

using namespace lang;

UnderstoodDef understand_def(const std::string& text) {
  UnderstoodDef result;
  result.file = check(parse(text));
  std::map<std::string, InlinedDef> done;
  InlineContext context;
  context.callee = [&](const std::string& name) -> const InlinedDef& { return done.at(name); };
  context.start_ranges = [&](const Def& head) {
    return std::make_unique<halide_bridge::RangeInference>(head, result.file.text, result.file.name, Cancellation{});
  };
  for (const Def& def : result.file.defs) {
    InlinedDef inlined{inline_calls(def, result.file, context), {}};
    inlined.ranges = halide_bridge::infer_ranges(inlined.def, result.file.text);
    done[def.name] = inlined;
    result.function = std::move(inlined);
  }
  return result;
}

autodiff::Gradient gradient_of(const std::string& text, const autodiff::Options& options) {
  const UnderstoodDef def = understand_def(text);
  return autodiff::differentiate(def.function, text, options);
}

std::string gradient_text(const std::string& text, const autodiff::Options& options) {
  const autodiff::Gradient gradient = gradient_of(text, options);
  std::string lines;
  for (const auto& statement : gradient.def().statements) lines += print(statement) + "\n";
  return lines;
}

namespace {

/// Tensors of a def's parameters and returns, made by need.
class Run {
 public:
  Run(const Def& def, const Ranges& ranges, const SizeMap& sizes) : def_(def), ranges_(ranges), sizes_(sizes) {}

  std::vector<std::int64_t> shape(const std::string& tensor) const {
    std::vector<std::int64_t> result;
    for (const auto& interval : evaluate_box(ranges_.tensors.at(tensor), sizes_)) result.push_back(interval.extent);
    return result;
  }

  HostTensor make(const std::string& tensor) const { return dense(def_.tensors.at(tensor).type, shape(tensor)); }

  /// The returns for \p arguments.
  Tensors operator()(Tensors& arguments) const {
    Tensors returns;
    std::map<std::string, TensorView> views;
    for (const auto& param : def_.params) views.emplace(param.name, arguments.at(param.name).view());
    for (const auto& decl : def_.returns)
      views.emplace(decl.name, returns.emplace(decl.name, make(decl.name)).first->second.view());
    interpret(def_, ranges_, sizes_, views);
    return returns;
  }

 private:
  const Def& def_;
  const Ranges& ranges_;
  const SizeMap& sizes_;
};

std::int64_t elements(const HostTensor& tensor) {
  std::int64_t count = 1;
  for (const auto extent : tensor.spec().shape) count *= extent;
  return count;
}

void fill(HostTensor& tensor, const ValueRule& rule, std::mt19937_64& random) {
  std::uniform_real_distribution<double> number(rule.low, rule.high);
  for (std::int64_t i = 0; i < elements(tensor); ++i) {
    const double value = number(random);
    tensor.set(i, is_float(tensor.spec().dtype) ? value : std::floor(value));
  }
}

/// Σ returns * seeds.
double weighted(Tensors& returns, Tensors& seeds) {
  double sum = 0;
  for (auto& [name, seed] : seeds)
    for (std::int64_t i = 0; i < elements(seed); ++i) sum += returns.at(name).at(i) * seed.at(i);
  return sum;
}

class Comparison {
 public:
  Comparison(const UnderstoodDef& def, const autodiff::Gradient& gradient, const SizeMap& sizes, const GradCheck& how)
      : def_(def.function.def),
        gradient_(gradient),
        how_(how),
        forward_(def_, def.function.ranges, sizes),
        backward_(gradient.def(), gradient.ranges, sizes),
        random_(how.seed) {}

  std::string run() {
    for (const auto& param : def_.params) {
      const auto rule = how_.values.find(param.name);
      const bool number = is_float(def_.tensors.at(param.name).type);
      HostTensor tensor = forward_.make(param.name);
      fill(tensor, rule != how_.values.end() ? rule->second : number ? ValueRule{} : ValueRule{0, 2}, random_);
      arguments_.emplace(param.name, std::move(tensor));
    }
    Tensors returns = forward_(arguments_), given = arguments_;
    std::size_t at = 0;
    for (const auto& decl : def_.returns) {
      if (!is_float(def_.tensors.at(decl.name).type)) continue;
      HostTensor seed = forward_.make(decl.name);
      fill(seed, {-1, 1}, random_);
      given.emplace(seed_names().at(at++), seed);
      seeds_.emplace(decl.name, std::move(seed));
    }
    for (const auto& saved : gradient_.saved) given.emplace(saved, returns.at(saved));
    Tensors got = backward_(given);
    for (const auto& param : gradient_.wrt)
      if (std::string text = compare(param, got.at(gradient_.def().returns.at(place_of(param)).name)); !text.empty())
        return text;
    return {};
  }

 private:
  /// In the order of returns.
  std::vector<std::string> seed_names() const { return gradient_.seeds; }

  std::size_t place_of(const std::string& param) const {
    return std::find(gradient_.wrt.begin(), gradient_.wrt.end(), param) - gradient_.wrt.begin();
  }

  std::string compare(const std::string& param, const HostTensor& got) {
    HostTensor& tensor = arguments_.at(param);
    for (std::int64_t i = 0; i < elements(tensor); ++i) {
      const double value = tensor.at(i);
      const auto at = [&](double moved) {
        tensor.set(i, moved);
        Tensors returns = forward_(arguments_);
        return weighted(returns, seeds_);
      };
      const double want = (at(value + how_.step) - at(value - how_.step)) / (2 * how_.step);
      tensor.set(i, value);
      if (!(std::fabs(got.at(i) - want) <= how_.tolerance * (1 + std::fabs(want))))
        return str("d_", param, "[", i, "] is ", got.at(i), ", differences give ", want, " (seed ", how_.seed, ")\n",
                   print(gradient_.def()));
    }
    return {};
  }

  const Def& def_;
  const autodiff::Gradient& gradient_;
  const GradCheck& how_;
  Run forward_, backward_;
  std::mt19937_64 random_;
  Tensors arguments_, seeds_;
};

}  // namespace

std::string compare_with_differences(const UnderstoodDef& def, const autodiff::Gradient& gradient, const SizeMap& sizes,
                                     const GradCheck& how) {
  return Comparison(def, gradient, sizes, how).run();
}

std::string gradcheck(const std::string& text, const SizeMap& sizes, const GradCheck& how) {
  const UnderstoodDef def = understand_def(text);
  const autodiff::Gradient gradient = autodiff::differentiate(def.function, text, how.options);
  for (const auto& read : gradient.reads)
    if (how.certified && read.certificate != autodiff::CertificateKind::Parametric)
      return str("no certificate of ", read.read, ":\n  ", join(read.inverse, "\n  "), "\n", print(gradient.def()));
  return compare_with_differences(def, gradient, sizes, how);
}

}  // namespace tc::test
