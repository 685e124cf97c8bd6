#pragma once

#include <oneapi/dnnl/dnnl.h>

#include <memory>

#include "tc/library/description/library.h"
#include "tc/library/description/shared_object.h"

namespace tc::library {

/// The functions of oneDNN that are used here, called by their names without "dnnl_".
struct OneDnn {
  SharedObject object;
  Presence presence;
  dnnl_engine_t engine = nullptr;  ///< of the processor

  decltype(&dnnl_version) version = nullptr;
  decltype(&dnnl_engine_create) engine_create = nullptr;
  decltype(&dnnl_stream_create) stream_create = nullptr;
  decltype(&dnnl_stream_wait) stream_wait = nullptr;
  decltype(&dnnl_stream_destroy) stream_destroy = nullptr;
  decltype(&dnnl_memory_desc_init_by_strides) memory_desc_init_by_strides = nullptr;
  decltype(&dnnl_memory_desc_init_by_tag) memory_desc_init_by_tag = nullptr;
  decltype(&dnnl_memory_desc_equal) memory_desc_equal = nullptr;
  decltype(&dnnl_memory_desc_get_size) memory_desc_get_size = nullptr;
  decltype(&dnnl_memory_create) memory_create = nullptr;
  decltype(&dnnl_memory_destroy) memory_destroy = nullptr;
  decltype(&dnnl_primitive_desc_create) primitive_desc_create = nullptr;
  decltype(&dnnl_primitive_desc_destroy) primitive_desc_destroy = nullptr;
  decltype(&dnnl_primitive_desc_query) primitive_desc_query = nullptr;
  decltype(&dnnl_primitive_desc_query_md) primitive_desc_query_md = nullptr;
  decltype(&dnnl_reorder_primitive_desc_create) reorder_primitive_desc_create = nullptr;
  decltype(&dnnl_primitive_create) primitive_create = nullptr;
  decltype(&dnnl_primitive_destroy) primitive_destroy = nullptr;
  decltype(&dnnl_primitive_execute) primitive_execute = nullptr;
  decltype(&dnnl_primitive_attr_create) primitive_attr_create = nullptr;
  decltype(&dnnl_primitive_attr_destroy) primitive_attr_destroy = nullptr;
  decltype(&dnnl_primitive_attr_set_scratchpad_mode) primitive_attr_set_scratchpad_mode = nullptr;
  decltype(&dnnl_primitive_attr_set_post_ops) primitive_attr_set_post_ops = nullptr;
  decltype(&dnnl_post_ops_create) post_ops_create = nullptr;
  decltype(&dnnl_post_ops_destroy) post_ops_destroy = nullptr;
  decltype(&dnnl_post_ops_append_eltwise) post_ops_append_eltwise = nullptr;
  decltype(&dnnl_post_ops_append_sum) post_ops_append_sum = nullptr;
  decltype(&dnnl_post_ops_append_binary) post_ops_append_binary = nullptr;
  decltype(&dnnl_dilated_convolution_forward_desc_init) dilated_convolution_forward_desc_init = nullptr;
  decltype(&dnnl_matmul_desc_init) matmul_desc_init = nullptr;
  decltype(&dnnl_pooling_v2_forward_desc_init) pooling_v2_forward_desc_init = nullptr;
  decltype(&dnnl_softmax_v2_forward_desc_init) softmax_v2_forward_desc_init = nullptr;
  int (*omp_get_max_threads)() = nullptr;
  void (*omp_set_num_threads)(int) = nullptr;

  /// Throws DeviceError that names \p what unless \p status is success.
  void check(dnnl_status_t status, const char* what) const;
};

/// That of this process, opened at the first use.
const OneDnn& shared_onednn();

/// While it lives, parallel regions that this thread begins have \p threads threads. Other threads' numbers stay.
class OmpThreads {
 public:
  explicit OmpThreads(int threads);
  ~OmpThreads();
  OmpThreads(const OmpThreads&) = delete;
  OmpThreads& operator=(const OmpThreads&) = delete;

 private:
  int before_;
};

/// Owners of oneDNN's objects.
template <typename T>
using Owner = std::shared_ptr<T>;
Owner<dnnl_primitive_desc> own(dnnl_primitive_desc_t desc);
Owner<dnnl_primitive> own(dnnl_primitive_t primitive);
Owner<dnnl_memory> own(dnnl_memory_t memory);
Owner<dnnl_primitive_attr> own(dnnl_primitive_attr_t attr);
Owner<dnnl_post_ops> own(dnnl_post_ops_t ops);
Owner<dnnl_stream> own(dnnl_stream_t stream);

}  // namespace tc::library
