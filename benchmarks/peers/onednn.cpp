// Products and convolutions by plain oneDNN, float32, for suite/native.py.

#include <omp.h>

#include <cstdint>
#include <dnnl.hpp>

namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

dnnl::engine& engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

/// A tensor of the caller and, where the primitive wants another layout, the copy in that layout.
struct Operand {
  memory user, own;
  bool reordered = false;

  Operand(const memory::desc& theirs, const memory::desc& ours)
      : user(theirs, engine(), nullptr), own(user), reordered(theirs != ours) {
    if (reordered) own = memory(ours, engine());
  }
};

/// A primitive between two inputs and an output. Every run pays for the reorders of all three; a blocked one reorders
/// the inputs of its first run only.
struct Operation {
  dnnl::primitive primitive;
  Operand left, right, result;
  dnnl::stream stream;
  int threads;
  bool blocked;
  bool filled = false;

  void run(void* a, void* b, void* c) {
    omp_set_num_threads(threads);
    left.user.set_data_handle(a);
    right.user.set_data_handle(b);
    result.user.set_data_handle(c);
    bool copies = !blocked || !filled;
    if (copies && left.reordered) dnnl::reorder(left.user, left.own).execute(stream, left.user, left.own);
    if (copies && right.reordered) dnnl::reorder(right.user, right.own).execute(stream, right.user, right.own);
    filled = true;
    primitive.execute(stream, {{DNNL_ARG_SRC, left.own}, {DNNL_ARG_WEIGHTS, right.own}, {DNNL_ARG_DST, result.own}});
    if (!blocked && result.reordered) dnnl::reorder(result.own, result.user).execute(stream, result.own, result.user);
    stream.wait();
  }
};

}  // namespace

#define TC_EXPORT extern "C" __attribute__((visibility("default")))

/// C(m,n) = A * B, row-major; a transposed operand is stored the other way round. Null where oneDNN has no such
/// primitive.
TC_EXPORT void* tc_onednn_matmul(int64_t m, int64_t n, int64_t k, int transposed_a, int transposed_b, int threads) try {
  omp_set_num_threads(threads);
  memory::desc a({m, k}, Type::f32, transposed_a ? Tag::ba : Tag::ab),
      b({k, n}, Type::f32, transposed_b ? Tag::ba : Tag::ab);
  memory::desc c({m, n}, Type::f32, Tag::ab);
  dnnl::matmul::primitive_desc chosen(dnnl::matmul::desc(a, b, c), engine());
  return new Operation{dnnl::matmul(chosen), {a, a}, {b, b}, {c, c}, dnnl::stream(engine()), threads, false};
} catch (const dnnl::error&) {
  return nullptr;
}

/// A valid convolution of NCHW images with g groups of c channels into f. With \p blocked the primitive alone, in
/// layouts of its choice; else the reorders from and to plain layouts are part of it.
TC_EXPORT void* tc_onednn_conv(int64_t n, int64_t g, int64_t c, int64_t f, int64_t height, int64_t width,
                               int64_t kernel, int64_t stride, int blocked, int threads) try {
  omp_set_num_threads(threads);
  int64_t out_height = (height - kernel) / stride + 1, out_width = (width - kernel) / stride + 1;
  memory::dims source{n, g * c, height, width}, target{n, g * f, out_height, out_width};
  memory::dims weights = g == 1 ? memory::dims{f, c, kernel, kernel} : memory::dims{g, f, c, kernel, kernel};
  auto any = [](const memory::dims& dims) { return memory::desc(dims, Type::f32, Tag::any); };
  dnnl::convolution_forward::desc wanted(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
                                         any(source), any(weights), any(target), {stride, stride}, {0, 0}, {0, 0});
  dnnl::convolution_forward::primitive_desc chosen(wanted, engine());
  memory::desc plain_source(source, Type::f32, Tag::nchw), plain_target(target, Type::f32, Tag::nchw);
  memory::desc plain_weights(weights, Type::f32, g == 1 ? Tag::oihw : Tag::goihw);
  return new Operation{dnnl::convolution_forward(chosen),
                       {plain_source, chosen.src_desc()},
                       {plain_weights, chosen.weights_desc()},
                       {plain_target, chosen.dst_desc()},
                       dnnl::stream(engine()),
                       threads,
                       blocked != 0};
} catch (const dnnl::error&) {
  return nullptr;
}

/// Runs an operation on dense tensors.
TC_EXPORT void tc_onednn_run(void* operation, void* a, void* b, void* c) {
  static_cast<Operation*>(operation)->run(a, b, c);
}

/// The version, as 10000 * major + 100 * minor + patch.
TC_EXPORT int tc_onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return 10000 * version->major + 100 * version->minor + version->patch;
}
