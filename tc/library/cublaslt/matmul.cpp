#include <map>
#include <mutex>
#include <utility>

#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"
#include "tc/library/cublaslt/cublaslt.h"
#include "tc/library/cublaslt/seconds.h"
#include "tc/library/cublaslt/shared.h"
#include "tc/library/description/matrix.h"

namespace tc::library {
namespace {

namespace lt = cublaslt_values;

/// Bytes that an algorithm may work in.
constexpr std::uint64_t most_workspace = 32 << 20;

/// Every pointer is a multiple of so many bytes if its operand is: argument begins there, see GridRunner.
constexpr std::uint32_t most_alignment = 16;

/// A batch of matrices by columns, as cuBLASLt stores them.
struct Batch {
  std::size_t operand = 0;  ///< of the call; those of post-ops stand behind its operands
  int type = lt::f32;
  std::int64_t rows = 1, columns = 1, leading = 1, stride = 0;
  bool transposed = false;
  std::uint32_t alignment = most_alignment;  ///< of every pointer, in bytes
};

struct Bias {
  std::size_t operand = 0;
  std::int64_t stride = 0;  ///< from one matrix of the batch to the next
  std::uint32_t alignment = most_alignment;
};

/// D = epilogue(op(A) op(B) + beta C + bias), the bias along the columns of D.
struct Product {
  std::int64_t count = 1;  ///< matrices of the batch
  Batch a, b, c, d;
  bool adds = false;  ///< is beta 1? C is D otherwise, and not read
  std::optional<Bias> bias;
  std::uint32_t function = lt::no_epilogue;
};

int type_of(DType type) {
  return type == DType::Float16    ? lt::f16
         : type == DType::BFloat16 ? lt::bf16
         : type == DType::Float64  ? lt::f64
                                   : lt::f32;
}

/// The greatest power of two up to most_alignment that divides \p offset and all of \p steps, of elements of \p type.
std::uint32_t alignment_of(const Operand& operand) {
  std::uint64_t all = static_cast<std::uint64_t>(operand.offset);
  for (const auto step : operand.steps) all |= static_cast<std::uint64_t>(step);
  all = all * static_cast<std::uint64_t>(byte_size(operand.type)) | most_alignment;
  return static_cast<std::uint32_t>(all & (~all + 1));
}

/// \p operand, of dimensions (batch, rows, columns) or (rows, columns) for all of the batch, with \p exchanged its
/// transpose; nothing if BLAS cannot express it.
std::optional<Batch> batch_of(const Operand& operand, std::size_t index, std::int64_t rows, std::int64_t columns,
                              bool exchanged) {
  const auto& strides = operand.strides;
  auto down = strides[strides.size() - 2], along = strides.back();
  if (exchanged) {
    std::swap(rows, columns);
    std::swap(down, along);
  }
  const auto matrix = matrix_of(rows, columns, down, along, Order::Columns);
  if (!matrix) return std::nullopt;
  if (matrix->transposed) std::swap(rows, columns);
  return Batch{index,
               type_of(operand.type),
               rows,
               columns,
               matrix->leading,
               strides.size() == 3 ? strides[0] : 0,
               matrix->transposed,
               alignment_of(operand)};
}

/// Adds the post-ops of \p call to \p product; false for those that no epilogue does.
bool add_post_ops(const Call& call, bool exchanged, Product& product) {
  const auto m = call.number("M"), n = call.number("N");
  std::size_t index = call.operands.size();
  for (const auto& op : call.post_ops) {
    if (product.function != lt::no_epilogue) return false;
    if (op.kind != PostOp::Kind::Add) {
      product.function = op.kind == PostOp::Kind::Relu ? lt::relu : lt::gelu;
      continue;
    }
    const auto& added = *op.operand;
    const bool is_elsewhere = added.argument == call.result().argument && !(added == call.result());
    if (added.type != call.result().type || is_elsewhere) return false;
    const auto across = added.strides[exchanged ? 1 : 2], along = added.strides[exchanged ? 2 : 1];
    const auto sum = batch_of(added, index, m, n, exchanged);
    if (!product.bias && across == 0 && along == 1) {
      product.bias = Bias{index, added.strides[0], alignment_of(added)};
    } else if (!product.adds && sum && !sum->transposed) {
      product.c = *sum;
      product.adds = true;
    } else {
      return false;
    }
    ++index;
  }
  return true;
}

/// \p call as a product whose result has \p exchanged dimensions; nothing if there is none.
std::optional<Product> product_of(const Call& call, bool exchanged) {
  const auto m = call.number("M"), k = call.number("K"), n = call.number("N");
  auto first = batch_of(call.operands[0], 0, m, k, exchanged), second = batch_of(call.operands[1], 1, k, n, exchanged);
  const auto result = batch_of(call.result(), 2, m, n, exchanged);
  if (!first || !second || !result || result->transposed) return std::nullopt;
  if (exchanged) std::swap(first, second);
  Product product{call.number("B"), *first, *second, *result, *result, false, std::nullopt, lt::no_epilogue};
  if (!add_post_ops(call, exchanged, product)) return std::nullopt;
  return product;
}

std::optional<Product> product_of(const Call& call) {
  for (const char* name : {"B", "M", "K", "N"})
    if (!fits_int(call.number(name))) return std::nullopt;
  const bool has_vectors = call.number("M") == 1 || call.number("N") == 1;
  if (!call.loops.empty() && has_vectors) return std::nullopt;
  if (!call.post_ops.empty() && (has_vectors || call.number("K") == 1)) return std::nullopt;
  for (const bool exchanged : {true, false})
    if (auto product = product_of(call, exchanged)) return product;
  return std::nullopt;
}

/// A descriptor that is destroyed at the end.
class Owned {
 public:
  using Destroy = int (*)(CublasLt::Descriptor);
  using Set = int (*)(CublasLt::Descriptor, int, const void*, std::size_t);
  Owned(CublasLt::Descriptor descriptor, Destroy destroy, Set set) : handle_(descriptor, destroy), set_(set) {}

  CublasLt::Descriptor get() const { return handle_.get(); }
  template <typename T>
  void set(int attribute, const T& value, const char* what) const {
    shared_cublaslt().check(set_(get(), attribute, &value, sizeof value), what);
  }

 private:
  std::unique_ptr<void, Destroy> handle_;
  Set set_;
};

Owned matrix_of(const Batch& batch, std::int64_t count) {
  const auto& api = shared_cublaslt();
  CublasLt::Descriptor made = nullptr;
  api.check(api.matrix_create(&made, batch.type, static_cast<std::uint64_t>(batch.rows),
                              static_cast<std::uint64_t>(batch.columns), batch.leading),
            "describe a matrix");
  Owned result(made, api.matrix_destroy, api.matrix_set);
  if (count > 1) {
    result.set(lt::batch_count, static_cast<std::int32_t>(count), "describe a batch");
    result.set(lt::batch_stride, batch.stride, "describe a batch");
  }
  return result;
}

Owned operation_of(const Product& product) {
  const auto& api = shared_cublaslt();
  const bool is_double = product.a.type == lt::f64;
  CublasLt::Descriptor made = nullptr;
  api.check(api.operation_create(&made, is_double ? lt::compute_f64 : lt::compute_f32, is_double ? lt::f64 : lt::f32),
            "describe a product");
  Owned result(made, api.operation_destroy, api.operation_set);
  if (product.a.transposed) result.set(lt::transpose_a, std::int32_t{lt::transposed}, "transpose a factor");
  if (product.b.transposed) result.set(lt::transpose_b, std::int32_t{lt::transposed}, "transpose a factor");
  const auto function = product.bias ? (product.function & ~lt::no_epilogue) | lt::bias : product.function;
  if (function != lt::no_epilogue) result.set(lt::epilogue, function, "take an epilogue");
  if (product.bias) {
    // The heuristic reads the alignment of the pointer, and no memory.
    result.set(lt::bias_pointer, reinterpret_cast<const void*>(std::uintptr_t{product.bias->alignment}), "take a bias");
    result.set(lt::bias_type, std::int32_t{product.d.type}, "take a bias");
    if (product.count > 1) result.set(lt::bias_batch_stride, product.bias->stride, "take a bias");
  }
  return result;
}

Owned preference_of(const Product& product) {
  const auto& api = shared_cublaslt();
  CublasLt::Descriptor made = nullptr;
  api.check(api.preference_create(&made), "describe preferences");
  Owned result(made, api.preference_destroy, api.preference_set);
  result.set(lt::most_workspace, most_workspace, "limit its workspace");
  result.set(lt::reduction_schemes, lt::in_compute_type, "choose how sums are joined");
  result.set(lt::alignment_a, product.a.alignment, "take an alignment");
  result.set(lt::alignment_b, product.b.alignment, "take an alignment");
  result.set(lt::alignment_c, product.c.alignment, "take an alignment");
  result.set(lt::alignment_d, product.d.alignment, "take an alignment");
  return result;
}

/// A product on a device: the descriptors and the algorithm that the heuristic likes best.
struct Plan {
  Owned operation, a, b, c, d;
  CublasLt::Handle handle = nullptr;
  CublasLt::Proposal best = {};
};

Plan make_plan(const Product& product, int device, const Call& call) {
  const auto& api = shared_cublaslt();
  auto matrix = [&](const Batch& batch) { return matrix_of(batch, product.count); };
  Plan plan{operation_of(product), matrix(product.a), matrix(product.b), matrix(product.c), matrix(product.d)};
  plan.handle = api.handle(device);
  const auto preference = preference_of(product);
  int found = 0;
  const int status = api.propose(plan.handle, plan.operation.get(), plan.a.get(), plan.b.get(), plan.c.get(),
                                 plan.d.get(), preference.get(), 1, &plan.best, &found);
  if (status != 0 || found == 0)
    throw DeviceError("cuBLASLt has no algorithm for " + to_string(call) + ": compile with libraries=none");
  return plan;
}

/// A product that is planned once for each device.
class Matmul : public Invocation {
 public:
  Matmul(Product product, Call call) : product_(std::move(product)), call_(std::move(call)) {}

  std::size_t prepare(int device) const override {
    std::lock_guard lock(mutex_);
    return plan_for(device).best.workspace;
  }

  void enqueue(void* const* operands, const Queue& queue) const override {
    const auto& api = shared_cublaslt();
    const float one = 1, zero = 0;
    const double one_double = 1, zero_double = 0;
    const bool is_double = product_.a.type == lt::f64;
    auto number = [&](bool is_one) {
      return is_double ? static_cast<const void*>(is_one ? &one_double : &zero_double)
                       : static_cast<const void*>(is_one ? &one : &zero);
    };
    std::lock_guard lock(mutex_);
    const auto& plan = plan_for(queue.device);
    if (product_.bias) plan.operation.set(lt::bias_pointer, operands[product_.bias->operand], "take a bias");
    api.check(api.multiply(plan.handle, plan.operation.get(), number(true), operands[product_.a.operand], plan.a.get(),
                           operands[product_.b.operand], plan.b.get(), number(product_.adds),
                           operands[product_.c.operand], plan.c.get(), operands[product_.d.operand], plan.d.get(),
                           &plan.best.algorithm, queue.workspace, plan.best.workspace, queue.stream),
              "multiply");
  }

 private:
  const Plan& plan_for(int device) const {
    auto found = plans_.find(device);
    if (found == plans_.end()) found = plans_.emplace(device, make_plan(product_, device, call_)).first;
    return found->second;
  }

  Product product_;
  Call call_;
  mutable ForkMutex mutex_;  ///< held while a plan is made, and from the bias of a call to the call
  mutable std::map<int, Plan> plans_;
};

}  // namespace

Routine cublaslt_matmul(bool shared) {
  using enum DType;
  const std::string name = shared ? "matmul_shared" : "matmul";
  Routine routine{name,
                  str("def ", name, "(float(B,M,K) X, float(", shared ? "" : "B,",
                      "K,N) W) -> (Y) { Y(b,m,n) +=! X(b,m,k) * W(", shared ? "" : "b,", "k,n) }"),
                  {{Float32, Float32, Float32},
                   {Float16, Float16, Float16},
                   {Float16, Float16, Float32},
                   {BFloat16, BFloat16, BFloat16},
                   {BFloat16, BFloat16, Float32},
                   {Float64, Float64, Float64}},
                  true,
                  true};
  routine.gelu = true;
  routine.accepts = [](const Call& call) { return product_of(call).has_value(); };
  routine.seconds = cublaslt_seconds;
  routine.prepare = [](const Call& call) -> std::unique_ptr<Invocation> {
    return std::make_unique<Matmul>(*product_of(call), call);
  };
  return routine;
}

}  // namespace tc::library
