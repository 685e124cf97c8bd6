// What a C++ program can call, called with anything: texts, tensors, DLPack, options, bytes. Out of each call comes a
// result or a typed error that blames the caller, and no run touches memory outside its tensors.
//
//   TC_FUZZ_SECONDS=600 build-asan/bin/entry_points_test     a long run; 6 s without
//   TC_FUZZ_SEED=123 TC_FUZZ_SECONDS=0 build/bin/...         one call, told first

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <limits>
#include <random>

#include "tc/base/error.h"
#include "tc/cache/entry.h"
#include "tc/engine/engine.h"
#include "test/support/oracle.h"
#include "test/support/random/random_program.h"

namespace tc::test {
namespace {

using engine::ExecutionEngine;

double number_from(const char* variable, double otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atof(text) : otherwise;
}

/// Calls of one seed.
class Caller {
 public:
  explicit Caller(std::uint64_t seed) : random_(seed * 9973 + 11), seed_(seed) {}

  void call() {
    switch (pick(8)) {
      case 0:
        return define_anything();
      case 1:
        return deserialise_anything();
      case 2:
        return read_entries();
      case 3:
        return import_dlpack();
      default:
        return compile_and_run();
    }
  }

 private:
  std::uint64_t pick(std::uint64_t count) { return random_() % count; }
  bool once_in(std::uint64_t count) { return pick(count) == 0; }

  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[pick(values.size())];
  }

  std::int64_t any_number() {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    auto power = std::int64_t(1) << pick(63);
    return one_of<std::int64_t>({0, 1, 2, 3, 7, 64, -1, -3, power, power - 1, -power, most, -most - 1});
  }

  /// \p bytes with a few places changed.
  std::string changed(std::string bytes, const std::string& alphabet) {
    for (auto n = 1 + pick(4); n > 0; --n) {
      std::size_t at = pick(bytes.size() + 1), length = pick(9);
      std::size_t count = 1 + pick(12), from = pick(bytes.size() + 1);
      auto piece = bytes.substr(from, count);
      if (once_in(3))
        bytes.erase(at, length);
      else if (once_in(2))
        bytes.insert(at, piece);
      else if (at < bytes.size())
        bytes[at] = alphabet.empty() ? static_cast<char>(pick(256)) : alphabet[pick(alphabet.size())];
    }
    return bytes;
  }

  RandomProgram program() {
    RandomOptions options;
    options.max_statements = 3;
    options.max_points = 500;
    options.contractions = 5;
    return random_program(seed_, options);
  }

  void define_anything() {
    auto text = changed(program().text(), "abcdefghijklmnopqrstuvwxyzABXY0123456789()[]{},.:;=+-*/%<>!&|? \n\xff");
    ExecutionEngine().define(text);
  }

  TensorSpec any_spec(TensorSpec spec) {
    if (once_in(8)) spec.dtype = static_cast<DType>(pick(20));
    for (auto* list : {&spec.shape, &spec.strides})
      if (!list->empty() && once_in(6)) (*list)[pick(list->size())] = any_number();
    if (once_in(12)) spec.strides.push_back(any_number());
    if (once_in(12) && !spec.strides.empty()) spec.strides.pop_back();
    if (once_in(12)) spec.shape.push_back(any_number());
    return spec;
  }

  std::vector<TensorSpec> any_specs(const std::vector<TensorSpec>& specs) {
    auto result = specs;
    if (once_in(3))
      for (auto& spec : result) spec = any_spec(spec);
    if (once_in(20) && !result.empty()) result.pop_back();
    return result;
  }

  engine::CompileOptions any_options() {
    engine::CompileOptions options;
    options.time_limit = one_of(
        {0.01, 0.1, 0.3, std::numeric_limits<double>::infinity(), 0.0, -1.0, std::numeric_limits<double>::quiet_NaN()});
    options.interpret = once_in(4);
    std::string text = one_of({"", "", "fusion=max", "tile=3x5,vectorise=0", "parallel=0", "tile=1000000000000",
                               "register_tile=4x2,unroll=1", "vector_bytes=16,pack=0"});
    options.mapping = options::MappingOptions::parse(once_in(5) ? changed(text, "0123456789x=,-_abcdefz") : text);
    std::string target = one_of({"cpu", "cpu:avx2", "cpu:plain", "cpu:plain,cores=2,l1=1k"});
    options.target = Target::parse(once_in(10) ? changed(target, "0123456789:=,-_acpuvx") : target);
    if (!options.target.instructions->on_this_machine()) options.target = Target::host();
    return options;
  }

  TensorView any_view(const TensorView& view) {
    TensorView result = view;
    if (once_in(4)) static_cast<TensorSpec&>(result) = any_spec(result);
    if (once_in(8)) result.data = nullptr;
    return result;
  }

  std::vector<TensorView> any_views(const std::vector<TensorView>& views) {
    auto result = views;
    if (once_in(2))
      for (auto& view : result) view = any_view(view);
    if (once_in(20)) result.push_back({});
    return result;
  }

  void compile_and_run() {
    auto random = program();
    ExecutionEngine engine;
    engine.define(random.text());
    const auto& name = random.def().name;
    Arguments arguments;
    auto tensors = arguments_of(random, once_in(2));
    for (const auto& param : random.def().params) arguments.inputs.push_back(tensors.at(param.name));
    auto inputs = any_specs(arguments.input_specs());
    std::vector<TensorSpec> outputs;
    for (const auto& info : engine.infer_output_tensor_info(name, inputs)) outputs.push_back(info);
    auto handle =
        engine.compile(name, inputs, once_in(3) ? any_specs(outputs) : std::vector<TensorSpec>(), any_options());
    const auto& compiled = engine.executable(handle)->image().arguments;
    for (const auto& argument : compiled) {
      if (element_span(argument.spec).high - element_span(argument.spec).low > 1 << 20) return;
      if (argument.output) arguments.outputs.emplace_back(argument.spec);
    }
    engine.run(once_in(20) ? handle + 1 : handle, any_views(arguments.input_views()),
               any_views(arguments.output_views()));
    for (const auto& output : arguments.outputs) EXPECT_TRUE(output.guards_intact());
  }

  void import_dlpack() {
    ExecutionEngine engine;
    engine.define("def f(float(M,N) X) -> (Y) { Y(i,j) = X(i,j) * 2 }");
    float data[64] = {};
    std::int64_t shape[4], strides[4];
    for (int i = 0; i < 4; ++i) shape[i] = one_of<std::int64_t>({2, 3, 4, any_number()});
    for (int i = 0; i < 4; ++i) strides[i] = one_of<std::int64_t>({1, 4, 0, -1, any_number()});
    DLTensor tensor{};
    tensor.data = once_in(4) ? nullptr : data + 32;
    tensor.device = {static_cast<DLDeviceType>(once_in(6) ? pick(40) : std::uint64_t(kDLCPU)),
                     static_cast<int>(pick(3))};
    tensor.ndim = one_of<int>({2, 2, 2, 2, 0, 1, 4, -1, -1000000, 65, std::numeric_limits<int>::max()});
    tensor.dtype = {static_cast<std::uint8_t>(once_in(4) ? pick(256) : std::uint64_t(kDLFloat)),
                    static_cast<std::uint8_t>(once_in(4) ? pick(256) : 32),
                    static_cast<std::uint16_t>(once_in(6) ? pick(9) : 1)};
    tensor.shape = once_in(6) ? nullptr : shape;
    tensor.strides = once_in(2) ? nullptr : strides;
    tensor.byte_offset = once_in(6) && tensor.data ? 4 : 0;
    const DLTensor* given = once_in(10) ? nullptr : &tensor;
    engine.infer_output_tensor_info("f", {given});
    engine.compile("f", std::vector<const DLTensor*>{given}, {}, any_options());
  }

  static const engine::Executable& sample() {
    static const auto executable = [] {
      auto module = engine::define("def f(float(M,K) A, int32(N) I) -> (C) { C(m,n) = A(m,I(n)) + 1 }");
      return engine::compile(module.functions[0], {contiguous(DType::Float32, {5, 6}), contiguous(DType::Int32, {7})});
    }();
    return *executable;
  }

  void deserialise_anything() {
    static const auto bytes = sample().image().serialise();
    static const auto code = sample().image().functions.back().serialise();
    if (once_in(2))
      engine::Image::deserialise(changed(bytes, ""));
    else
      cpu::ObjectCode::deserialise(changed(code, ""));
  }

  void read_entries() {
    cache::CodeEntry code;
    cache::OptionsEntry options;
    code.key.program = options.key.program = "def f";
    code.key.tensors = options.key.tensors = {{contiguous(DType::Float32, {5, 6}), false}};
    code.image = "bytes";
    const cache::Secret secret{};
    for (const auto& [kind, whole] : {std::pair{cache::Kind::Code, cache::to_bytes(code, secret)},
                                      std::pair{cache::Kind::Options, cache::to_bytes(options)}}) {
      auto payload = std::string(cache::unseal(kind, whole).payload);
      auto bytes = once_in(3) ? changed(whole, "") : cache::seal(kind, changed(payload, ""));
      cache::parse(bytes, secret, code);
      cache::parse(bytes, options);
    }
  }

  std::mt19937_64 random_;
  std::uint64_t seed_;
};

TEST(EntryPoints, GiveResultsOrTypedErrors) {
  auto first = static_cast<std::uint64_t>(number_from("TC_FUZZ_SEED", 1));
  double seconds = number_from("TC_FUZZ_SECONDS", 6);
  // Of the processor: on a busy machine as many calls are made as on another.
  const auto end = std::clock() + static_cast<std::clock_t>(seconds * CLOCKS_PER_SEC);
  std::uint64_t seed = first;
  int done = 0, refused = 0;
  do {
    if (seconds == 0) std::cout << "seed " << seed << std::endl;
    try {
      Caller(seed).call();
      ++done;
    } catch (const InternalError& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what();
    } catch (const Error&) {
      ++refused;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << seed << ": an exception that is none of ours: " << error.what();
    }
    ++seed;
  } while (std::clock() < end && !testing::Test::HasFatalFailure());
  std::cout << "seeds " << first << " to " << seed - 1 << ": " << done << " calls done, " << refused << " refused\n";
  if (seconds >= 5) {
    EXPECT_GT(done, 5);
    EXPECT_GT(refused, 5);
  }
}

}  // namespace
}  // namespace tc::test
