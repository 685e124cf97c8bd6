#include <gflags/gflags.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cpu/thread_pool.h"
#include "tc/engine/compile/bind_constants.h"
#include "tc/engine/compile/library_call.h"
#include "tc/engine/describe/roofline.h"
#include "tc/engine/environment.h"
#include "tc/engine/graph/compile.h"
#include "tc/library/registry.h"
#include "tools/flag_help.h"

/// tc_libraries: which libraries this machine has, and what their routines cost on it. --help says all.

DEFINE_bool(measure, false,
            "measure the routines of all libraries on this machine and keep their prices, for libraries=auto");
DEFINE_string(dir, "", "the cache's folder; without it the environment's");
DEFINE_int32(threads, 0,
             "measure: in how many threads, 0: as many as there are cores; prices of other numbers are kept");
DEFINE_string(share, "1/1",
              "measure: the i-th of n shares of the programs, i/n, 1 to n; prices of the other shares are kept");
DEFINE_int32(rounds, 3, "measure: how often own code and a routine are measured in turns; the least of each counts");

namespace {

using namespace tc;

constexpr const char* help =
    R"(tc_libraries lists the libraries whose routines may take the place of compiled code (libraries=...), and with --measure finds
out what they cost here, some minutes on an idle machine.

flags:
)";

/// A routine that took so many times as long as own code is not measured again: no noise makes it faster.
constexpr double hopeless = 2;

/// A def that some routine computes, and the shapes it is measured with.
struct Case {
  std::string text;
  std::vector<std::vector<std::int64_t>> shapes;
  std::optional<std::size_t> weights = {};  ///< the input that is measured as a constant, too
};

constexpr const char* product = "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
constexpr const char* linear = "def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }";
constexpr const char* vector_product = "def f(float(M,K) A, float(K) x) -> (y) { y(m) +=! A(m,k) * x(k) }";
constexpr const char* batched = "def f(float(B,M,K) A, float(B,K,N) W) -> (C) { C(b,m,n) +=! A(b,m,k) * W(b,k,n) }";
constexpr const char* plain =
    "def f(float(N,C,H,W) X, float(K,C,R,S) F) -> (Y) { Y(n,k,h,w) +=! X(n,c,h + r,w + s) * F(k,c,r,s) }";
constexpr const char* padded =
    "def f(float(N,C,H,W) X, float(K,C,R,S) F) -> (Y) { Y(n,k,h,w) +=! (h + r >= 1 && h + r < H + 1 && w + s >= 1 && "
    "w + s < W + 1) ? X(n,c,h + r - 1,w + s - 1) * F(k,c,r,s) : 0 where h in 0:H, w in 0:W }";
constexpr const char* strided =
    "def f(float(N,C,H,W) X, float(K,C,R,S) F) -> (Y) { Y(n,k,h,w) +=! X(n,c,2*h + r,2*w + s) * F(k,c,r,s) }";
constexpr const char* depthwise =
    "def f(float(N,C,H,W) X, float(C,R,S) F) -> (Y) { Y(n,c,h,w) +=! X(n,c,h + r,w + s) * F(c,r,s) }";
constexpr const char* pooling =
    "def f(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) max=! X(n,c,2*h + r,2*w + s) where r in 0:2, s in 0:2 }";
constexpr const char* softmax =
    "def f(float(N,C) X) -> (Y) { M(n) max=! X(n,c) E(n,c) = exp(X(n,c) - M(n)) S(n) +=! E(n,c) Y(n,c) = E(n,c) / S(n) "
    "}";

/// The same convolution with what a residual block does to its result.
std::string with_residual(std::string convolution, const char* result) {
  const std::string first = ") -> (Y) { Y(";
  convolution.replace(convolution.find(first), first.size(), ", float(N,K,P,Q) A) -> (Y) { Z(");
  convolution.replace(convolution.rfind('}'), 1,
                      str(" Y(", result, ") = fmax(Z(", result, ") + A(", result, "), 0) }"));
  return convolution;
}

/// Convolutions of \p channels by \p size x \p size elements, as residual and inverted residual networks have them.
void add_convolutions(std::int64_t channels, std::int64_t size, std::vector<Case>& result) {
  const std::vector<std::int64_t> image{1, channels, size, size}, more{1, channels, size + 1, size + 1},
      most{1, channels, size + 2, size + 2};
  result.push_back({plain, {image, {channels, channels, 1, 1}}, 1});
  result.push_back({plain, {image, {4 * channels, channels, 1, 1}}, 1});
  result.push_back({plain, {{1, 4 * channels, size, size}, {channels, 4 * channels, 1, 1}}, 1});
  result.push_back({plain, {most, {channels, channels, 3, 3}}, 1});
  result.push_back({padded, {image, {channels, channels, 3, 3}}, 1});
  result.push_back({with_residual(padded, "n,k,h,w"), {image, {channels, channels, 3, 3}, image}, 1});
  result.push_back({with_residual(plain, "n,k,h,w"), {image, {channels, channels, 1, 1}, image}, 1});
  result.push_back({strided, {more, {channels, channels, 3, 3}}, 1});
  result.push_back({depthwise, {most, {channels, 3, 3}}, 1});
  result.push_back({pooling, {image}});
}

std::vector<Case> cases() {
  std::vector<Case> result;
  for (std::int64_t n : {32, 128, 512, 1024}) result.push_back({product, {{n, n}, {n, n}}, 1});
  for (std::int64_t m : {1, 16, 128})
    for (std::int64_t n : {256, 1024, 4096}) result.push_back({linear, {{m, 1024}, {n, 1024}}, 1});
  for (std::int64_t k : {768, 3072}) result.push_back({linear, {{128, k}, {k == 768 ? 3072 : 768, k}}, 1});
  for (std::int64_t n : {256, 1024, 4096}) result.push_back({vector_product, {{n, n}, {n}}, 0});
  for (std::int64_t n : {16, 64}) result.push_back({batched, {{64, n, n}, {64, n, n}}});
  for (auto [channels, size] : {std::pair(64, 56), std::pair(128, 28), std::pair(256, 14), std::pair(512, 7)})
    add_convolutions(channels, size, result);
  result.push_back({strided, {{1, 3, 229, 229}, {64, 3, 7, 7}}, 1});
  for (std::int64_t n : {128, 1024, 8192}) result.push_back({softmax, {{1024, n}}});
  return result;
}

std::vector<TensorSpec> specs_of(const Case& test) {
  std::vector<TensorSpec> result;
  for (const auto& shape : test.shapes) result.push_back(contiguous(DType::Float32, shape));
  return result;
}

/// The input \p weights of \p arguments, all ones; nothing without one.
std::vector<engine::Constant> constants_of(const std::vector<engine::Argument>& arguments,
                                           std::optional<std::size_t> weights) {
  if (!weights) return {};
  const auto& argument = arguments[*weights];
  auto constant = engine::allocate_constant(argument.name, argument.spec);
  std::fill_n(static_cast<float*>(constant.data.get()), argument.spec.element_count(), 1.0F);
  constant.parameter = weights;
  return {constant};
}

/// Memory as float32 that begins at a cache line.
class Memory {
 public:
  explicit Memory(const TensorSpec& spec) : elements_(static_cast<std::size_t>(spec.element_count()) + line, 1.0F) {
    first_ = elements_.data() + line - reinterpret_cast<std::uintptr_t>(elements_.data()) / sizeof(float) % line;
  }
  float* data() const { return first_; }
  /// Reads all of it.
  float sum() const { return std::accumulate(elements_.begin(), elements_.end(), 0.0F); }

 private:
  static constexpr std::size_t line = Target::cache_line / sizeof(float);
  std::vector<float> elements_;
  float* first_ = nullptr;
};

/// Runs of which the least counts.
constexpr int cold_runs = 5;

/// Seconds of a run of \p executable as in a network, whose other layers have driven its weights out of the caches since the
/// last run: neither the argument \p weights nor constants are there, the other arguments are.
double measure_with_cold_weights(const engine::Executable& executable, std::optional<std::size_t> weights) {
  static std::vector<char> flood(static_cast<std::size_t>(2 * Target::host().l3_bytes));
  static volatile float seen = 0;
  std::vector<Memory> tensors;
  std::vector<void*> pointers;
  for (const auto& argument : executable.image().arguments) tensors.emplace_back(argument.spec);
  for (const auto& tensor : tensors) pointers.push_back(tensor.data());
  executable.run_unchecked(pointers.data());
  std::vector<double> times;
  for (int run = 0; run < cold_runs; ++run) {
    std::fill(flood.begin(), flood.end(), static_cast<char>(run));
    for (std::size_t a = 0; a < tensors.size(); ++a)
      if (a != weights) seen = seen + tensors[a].sum();
    const auto begin = std::chrono::steady_clock::now();
    executable.run_unchecked(pointers.data());
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return *std::min_element(times.begin(), times.end());
}

/// Puts \p price in the place of that of the same call in \p table, or behind the others.
void set_price(library::PriceTable& table, library::Price price) {
  std::erase_if(table.prices, [&](const auto& known) { return library::is_of_same_call(known, price); });
  table.prices.push_back(std::move(price));
}

/// The prices of all calls that compute \p test, of which the input \p weights never changes, and its lines for people. Own
/// code is what a compile makes with that constant, in the layouts it gives it.
void measure(const Case& test, std::optional<std::size_t> weights, engine::CompileOptions options,
             library::PriceTable& table) {
  const auto function = engine::inlined(engine::define(test.text).functions.back());
  const auto arguments = engine::make_arguments(*function, specs_of(test), {});
  options.constants = constants_of(arguments, weights);
  const auto own = engine::compile(function, specs_of(test), {}, options);
  std::vector<TensorSpec> all;
  for (const auto& argument : arguments) all.push_back(argument.spec);
  const bool finite = true;  // routines that take all values to be finite have prices too
  const auto given = library::understand({function->def, function->ranges}, all, finite);
  const auto seconds = [&](const engine::Executable& executable) {
    if (!test.weights) return engine::measure_seconds(executable);
    return measure_with_cold_weights(executable, weights ? std::nullopt : test.weights);
  };
  for (const auto* library : library::libraries()) {
    if (library->machine != library::Machine::Cpu) continue;
    for (const auto& match : library::matches(*given, *library)) {
      const auto call = match.with_constants([&](std::size_t argument) { return argument == weights; });
      const auto theirs =
          engine::bind_constants(engine::call_executable(*function, arguments, options, call), options.constants);
      auto price = library::price_of(call, cpu::num_threads());
      for (int round = 0; round < std::max(FLAGS_rounds, 1); ++round) {
        if (round > 0 && price.library_seconds > hopeless * price.own_seconds) break;
        const auto ours = seconds(*own), other = seconds(*theirs);
        price.own_seconds = round == 0 ? ours : std::min(price.own_seconds, ours);
        price.library_seconds = round == 0 ? other : std::min(price.library_seconds, other);
      }
      std::cout << std::fixed << std::setprecision(1) << std::setw(10) << price.own_seconds * 1e6 << " us own "
                << std::setw(10) << price.library_seconds * 1e6 << " us " << to_string(call) << std::endl;
      set_price(table, std::move(price));
    }
  }
}

void list() {
  for (const auto* library : library::libraries()) {
    const auto& presence = library->find();
    std::cout << library->name << (library->machine == library::Machine::Cuda ? " on GPUs: " : ": ")
              << (presence.version.empty() ? "absent, " + presence.reason : presence.version) << "\n";
    for (const auto& routine : library->routines) std::cout << "  " << routine.name << "  " << routine.def << "\n";
  }
}

/// The programs of the share that --share names. Throws OptionsError.
std::vector<Case> shared_cases() {
  std::size_t which = 0, shares = 0;
  if (std::sscanf(FLAGS_share.c_str(), "%zu/%zu", &which, &shares) != 2 || which < 1 || which > shares)
    throw OptionsError(str("--share is i/n, i from 1 to n, not '", FLAGS_share, "'"));
  std::vector<Case> result;
  const auto all = cases();
  for (std::size_t i = which - 1; i < all.size(); i += shares) result.push_back(all[i]);
  return result;
}

void run() {
  list();
  if (!FLAGS_measure) return;
  if (FLAGS_threads > 0) cpu::set_num_threads(FLAGS_threads);
  auto options = engine::options_from_environment();
  if (!FLAGS_dir.empty()) options.cache = std::make_shared<cache::Cache>(cache::CacheSettings{FLAGS_dir});
  if (!options.cache) throw OptionsError("there is no cache to keep prices in: name a folder with --dir");
  auto table = engine::library_prices(options).value_or(library::PriceTable{cache::measurement_here().machine, {}});
  const auto measured = shared_cases();
  if (measured.size() == cases().size())
    std::erase_if(table.prices, [](const auto& price) { return price.threads == cpu::num_threads(); });
  for (const auto& test : measured) {
    measure(test, std::nullopt, options, table);
    if (test.weights) measure(test, test.weights, options, table);
  }
  const auto file = engine::library_prices_file(*options.cache);
  std::filesystem::create_directories(options.cache->settings().folder);
  std::ofstream out(file + ".new");
  out << to_string(table);
  out.close();
  if (!out || std::rename((file + ".new").c_str(), file.c_str()) != 0)
    throw ResourceError(str("the prices could not be written to ", file));
  std::cout << table.prices.size() << " prices are in " << file << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "--help") {
      std::cout << help << tools::flags_of(__FILE__);
      return 0;
    }
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  try {
    run();
    return 0;
  } catch (const Error& error) {
    std::cerr << "tc_libraries: " << error.what() << "\n";
    return 2;
  }
}
