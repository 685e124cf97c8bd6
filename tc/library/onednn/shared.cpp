#include "tc/library/onednn/shared.h"

#include <cstdlib>

#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"

namespace tc::library {
namespace {

std::vector<std::string> files() {
  if (const char* file = std::getenv("TC_ONEDNN")) return {file};
  return {str("libdnnl.so.", DNNL_VERSION_MAJOR)};
}

/// Are all functions there?
bool bind_all(OneDnn& dnn) {
  bool good = true;
  auto bind = [&](const char* name, auto& pointer) { good = dnn.object.bind(name, pointer) && good; };
  bind("dnnl_version", dnn.version);
  bind("dnnl_engine_create", dnn.engine_create);
  bind("dnnl_stream_create", dnn.stream_create);
  bind("dnnl_stream_wait", dnn.stream_wait);
  bind("dnnl_stream_destroy", dnn.stream_destroy);
  bind("dnnl_memory_desc_init_by_strides", dnn.memory_desc_init_by_strides);
  bind("dnnl_memory_desc_init_by_tag", dnn.memory_desc_init_by_tag);
  bind("dnnl_memory_desc_equal", dnn.memory_desc_equal);
  bind("dnnl_memory_desc_get_size", dnn.memory_desc_get_size);
  bind("dnnl_memory_create", dnn.memory_create);
  bind("dnnl_memory_destroy", dnn.memory_destroy);
  bind("dnnl_primitive_desc_create", dnn.primitive_desc_create);
  bind("dnnl_primitive_desc_destroy", dnn.primitive_desc_destroy);
  bind("dnnl_primitive_desc_query", dnn.primitive_desc_query);
  bind("dnnl_primitive_desc_query_md", dnn.primitive_desc_query_md);
  bind("dnnl_reorder_primitive_desc_create", dnn.reorder_primitive_desc_create);
  bind("dnnl_primitive_create", dnn.primitive_create);
  bind("dnnl_primitive_destroy", dnn.primitive_destroy);
  bind("dnnl_primitive_execute", dnn.primitive_execute);
  bind("dnnl_primitive_attr_create", dnn.primitive_attr_create);
  bind("dnnl_primitive_attr_destroy", dnn.primitive_attr_destroy);
  bind("dnnl_primitive_attr_set_scratchpad_mode", dnn.primitive_attr_set_scratchpad_mode);
  bind("dnnl_primitive_attr_set_post_ops", dnn.primitive_attr_set_post_ops);
  bind("dnnl_post_ops_create", dnn.post_ops_create);
  bind("dnnl_post_ops_destroy", dnn.post_ops_destroy);
  bind("dnnl_post_ops_append_eltwise", dnn.post_ops_append_eltwise);
  bind("dnnl_post_ops_append_sum", dnn.post_ops_append_sum);
  bind("dnnl_post_ops_append_binary", dnn.post_ops_append_binary);
  bind("dnnl_dilated_convolution_forward_desc_init", dnn.dilated_convolution_forward_desc_init);
  bind("dnnl_matmul_desc_init", dnn.matmul_desc_init);
  bind("dnnl_pooling_v2_forward_desc_init", dnn.pooling_v2_forward_desc_init);
  bind("dnnl_softmax_v2_forward_desc_init", dnn.softmax_v2_forward_desc_init);
  bind("omp_get_max_threads", dnn.omp_get_max_threads);
  bind("omp_set_num_threads", dnn.omp_set_num_threads);
  return good;
}

OneDnn load() {
  OneDnn result{SharedObject(files()), {}};
  if (!result.object) {
    result.presence.reason = result.object.reason();
    return result;
  }
  if (!bind_all(result)) {
    result.presence.reason = "it lacks functions of oneDNN 2 on OpenMP";
    return result;
  }
  const auto& version = *result.version();
  const auto text = str(version.major, ".", version.minor, ".", version.patch);
  if (version.major != DNNL_VERSION_MAJOR)
    result.presence.reason = str("it is version ", text, ", this was built for ", DNNL_VERSION_MAJOR);
  else if (result.engine_create(&result.engine, dnnl_cpu, 0) != dnnl_success)
    result.presence.reason = "it has no engine for this processor";
  else
    result.presence.version = text;
  return result;
}

}  // namespace

void OneDnn::check(dnnl_status_t status, const char* what) const {
  if (status == dnnl_success) return;
  throw DeviceError(str("oneDNN ", presence.version, " failed to ", what, ": ", "status ", status));
}

const OneDnn& shared_onednn() {
  const NoFork loading;
  static const auto& instance = *new OneDnn(load());
  return instance;
}

OmpThreads::OmpThreads(int threads) : before_(shared_onednn().omp_get_max_threads()) {
  shared_onednn().omp_set_num_threads(threads);
}

OmpThreads::~OmpThreads() { shared_onednn().omp_set_num_threads(before_); }

Owner<dnnl_primitive_desc> own(dnnl_primitive_desc_t desc) {
  return {desc, [](auto* p) { shared_onednn().primitive_desc_destroy(p); }};
}
Owner<dnnl_primitive> own(dnnl_primitive_t primitive) {
  return {primitive, [](auto* p) { shared_onednn().primitive_destroy(p); }};
}
Owner<dnnl_memory> own(dnnl_memory_t memory) {
  return {memory, [](auto* p) { shared_onednn().memory_destroy(p); }};
}
Owner<dnnl_primitive_attr> own(dnnl_primitive_attr_t attr) {
  return {attr, [](auto* p) { shared_onednn().primitive_attr_destroy(p); }};
}
Owner<dnnl_post_ops> own(dnnl_post_ops_t ops) {
  return {ops, [](auto* p) { shared_onednn().post_ops_destroy(p); }};
}
Owner<dnnl_stream> own(dnnl_stream_t stream) {
  return {stream, [](auto* p) { shared_onednn().stream_destroy(p); }};
}

}  // namespace tc::library
