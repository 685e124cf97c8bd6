// Products, convolutions and softmax written in Halide and scheduled by Adams2019, for suite/native.py.

#include <Halide.h>

#include <cstdint>
#include <exception>
#include <vector>

namespace {

using Halide::Buffer;
using Halide::Expr;
using Halide::Func;
using Halide::ImageParam;
using Halide::RDom;
using Halide::Var;

/// A pipeline compiled for one size; inputs are bound at each run.
struct Operation {
  Halide::Pipeline pipeline;
  std::vector<ImageParam> inputs;
  std::vector<std::vector<int>> shapes;
  std::vector<int> result;

  void run(float* const* tensors, float* output) {
    for (size_t i = 0; i < inputs.size(); ++i) inputs[i].set(Buffer<float>(tensors[i], shapes[i]));
    Buffer<float> target(output, result);
    pipeline.realize(target);
  }
};

/// Estimates and exact shapes for all tensors, Adams2019's schedule, machine code. Shapes begin with the innermost
/// dimension. The output is a copy of \p computed, so that the scheduler may keep sums in registers.
Operation* scheduled(Func computed, std::vector<ImageParam> inputs, std::vector<std::vector<int>> shapes,
                     std::vector<int> result, int threads, int64_t cache) {
  static bool loaded = (Halide::load_plugin(TC_ADAMS2019), true);
  (void)loaded;
  Func output("output");
  const std::vector<Var> at = computed.args();
  output(at) = computed(std::vector<Expr>(at.begin(), at.end()));
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t d = 0; d < shapes[i].size(); ++d) {
      inputs[i].dim(d).set_bounds(0, shapes[i][d]).set_estimate(0, shapes[i][d]);
      if (d > 0) inputs[i].dim(d).set_stride(inputs[i].dim(d - 1).stride() * shapes[i][d - 1]);
    }
  for (size_t d = 0; d < result.size(); ++d) {
    output.set_estimate(at[d], 0, result[d]);
    output.output_buffer().dim(d).set_bounds(0, result[d]);
  }
  Halide::Pipeline pipeline(output);
  pipeline.auto_schedule("Adams2019", Halide::get_jit_target_from_environment(),
                         Halide::MachineParams(threads, cache, 40));
  pipeline.compile_jit();
  return new Operation{pipeline, std::move(inputs), std::move(shapes), std::move(result)};
}

Operation* matmul(int m, int n, int k, bool transposed_a, bool transposed_b, int threads, int64_t cache) {
  ImageParam a(Halide::Float(32), 2), b(Halide::Float(32), 2);
  Var i("i"), j("j");
  RDom r(0, k);
  Func c("c");
  c(j, i) += (transposed_a ? a(i, r) : a(r, i)) * (transposed_b ? b(r, j) : b(j, r));
  return scheduled(c, {a, b},
                   {transposed_a ? std::vector<int>{m, k} : std::vector<int>{k, m},
                    transposed_b ? std::vector<int>{k, n} : std::vector<int>{n, k}},
                   {n, m}, threads, cache);
}

Operation* conv(int n, int g, int c, int f, int height, int width, int kernel, int stride, int threads, int64_t cache) {
  ImageParam image(Halide::Float(32), 4), weights(Halide::Float(32), 4);
  Var x("x"), y("y"), channel("channel"), batch("batch");
  RDom r(0, kernel, 0, kernel, 0, c);
  Func o("o");
  o(x, y, channel, batch) +=
      image(stride * x + r.x, stride * y + r.y, channel / f * c + r.z, batch) * weights(r.x, r.y, r.z, channel);
  return scheduled(o, {image, weights}, {{width, height, g * c, n}, {kernel, kernel, c, g * f}},
                   {(width - kernel) / stride + 1, (height - kernel) / stride + 1, g * f, n}, threads, cache);
}

Operation* softmax(int rows, int columns, int threads, int64_t cache) {
  ImageParam x(Halide::Float(32), 2);
  Var c("c"), n("n");
  RDom r(0, columns);
  Func top("top"), e("e"), total("total"), y("y");
  top(n) = x.type().min();
  top(n) = max(top(n), x(r, n));
  e(c, n) = exp(x(c, n) - top(n));
  total(n) += e(r, n);
  y(c, n) = e(c, n) / total(n);
  return scheduled(y, {x}, {{columns, rows}}, {columns, rows}, threads, cache);
}

/// What \p make makes, null where Halide refuses.
template <typename Make>
void* or_null(Make make) {
  try {
    return make();
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace

#define TC_EXPORT extern "C" __attribute__((visibility("default")))

/// C(m,n) = A * B, row-major; \p cache is the last cache in bytes.
TC_EXPORT void* tc_halide_matmul(int64_t m, int64_t n, int64_t k, int ta, int tb, int threads, int64_t cache) {
  return or_null([&] { return matmul(m, n, k, ta, tb, threads, cache); });
}

/// A valid convolution of NCHW images with g groups of c channels into f.
TC_EXPORT void* tc_halide_conv(int64_t n, int64_t g, int64_t c, int64_t f, int64_t height, int64_t width,
                               int64_t kernel, int64_t stride, int threads, int64_t cache) {
  return or_null([&] { return conv(n, g, c, f, height, width, kernel, stride, threads, cache); });
}

/// Softmax of rows.
TC_EXPORT void* tc_halide_softmax(int64_t rows, int64_t columns, int threads, int64_t cache) {
  return or_null([&] { return softmax(rows, columns, threads, cache); });
}

/// Runs an operation on dense tensors; 0 where Halide reports an error.
TC_EXPORT int tc_halide_run(void* operation, float* const* inputs, float* output) {
  return or_null([&] {
           static_cast<Operation*>(operation)->run(inputs, output);
           return operation;
         }) != nullptr;
}
