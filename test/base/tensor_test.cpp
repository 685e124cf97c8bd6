#include "tc/base/tensor.h"

#include <gtest/gtest.h>

#include <limits>

#include "tc/base/check_tensor.h"
#include "tc/base/dlpack.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "test/support/expect_error.h"

namespace tc {
namespace {

TEST(Tensor, SpanFollowsTheSignsOfStrides) {
  auto span = element_span({DType::Float32, {3, 4}, {-4, 1}});
  EXPECT_EQ(span.low, -8);
  EXPECT_EQ(span.high, 3);
  EXPECT_EQ(element_span({DType::Float32, {3, 0}, {1, 1}}).high, -1);
}

TEST(Tensor, ExpandedAndSlidingViewsOverlapThemselves) {
  EXPECT_FALSE(may_overlap_itself(contiguous(DType::Int8, {2, 3, 4})));
  EXPECT_FALSE(may_overlap_itself({DType::Int8, {4, 3}, {1, 4}}));
  EXPECT_FALSE(may_overlap_itself({DType::Int8, {1, 3}, {0, 1}}));
  EXPECT_TRUE(may_overlap_itself({DType::Int8, {2, 3}, {0, 1}}));
  EXPECT_TRUE(may_overlap_itself({DType::Int8, {4, 3}, {1, 1}}));
}

TEST(Tensor, PrintsStridesOnlyWhenTheyAreNotDense) {
  EXPECT_EQ(str(contiguous(DType::Float32, {3, 4})), "float32(3, 4)");
  EXPECT_EQ(str(TensorSpec{DType::Float32, {3, 4}, {1, 3}}), "float32(3, 4) strides (1, 3)");
}

TEST(Tensor, DLPackViewsCarryOffsetAndStrides) {
  float data[6] = {0, 1, 2, 3, 4, 5};
  std::int64_t shape[2] = {2, 2}, strides[2] = {3, 1};
  DLTensor tensor{};
  tensor.data = data;
  tensor.device = {kDLCPU, 0};
  tensor.ndim = 2;
  tensor.dtype = {kDLFloat, 32, 1};
  tensor.shape = shape;
  tensor.strides = strides;
  tensor.byte_offset = 4;
  TensorView view = view_of(tensor);
  EXPECT_EQ(static_cast<float*>(view.data)[0], 1);
  EXPECT_EQ(view.strides, (std::vector<std::int64_t>{3, 1}));
  tensor.strides = nullptr;
  EXPECT_EQ(view_of(tensor).strides, (std::vector<std::int64_t>{2, 1}));
  tensor.device.device_type = kDLCUDA;
  EXPECT_ERROR(view_of(tensor), ArgumentError,
               "a tensor on a GPU was given; this target needs tensors in CPU memory: copy it to the CPU first");
  tensor.device.device_type = kDLCPU;
  tensor.dtype.lanes = 4;
  EXPECT_ERROR(view_of(tensor), ArgumentError, "tensors of 4-lane vectors are not supported");
  tensor.dtype = {kDLOpaqueHandle, 64, 1};
  EXPECT_ERROR(view_of(tensor), ArgumentError, "the DLPack type with code 3 and 64 bits is not supported");
}

DLTensor dl_tensor(void* data, std::vector<std::int64_t>& shape, std::int64_t* strides = nullptr) {
  DLTensor tensor{};
  tensor.data = data;
  tensor.device = {kDLCPU, 0};
  tensor.ndim = static_cast<int>(shape.size());
  tensor.dtype = {kDLFloat, 32, 1};
  tensor.shape = shape.data();
  tensor.strides = strides;
  return tensor;
}

TEST(Tensor, DLPackTensorsThatAreNoneAreRefused) {
  float data[4] = {};
  std::vector<std::int64_t> shape{2, 2}, empty{0, 2}, negative{2, -2}, huge{1 << 30, 1 << 30};
  EXPECT_NO_THROW(view_of(dl_tensor(data, shape)));
  EXPECT_ERROR(view_of(dl_tensor(nullptr, shape)), ArgumentError,
               "the DLPack tensor has elements but no memory: its data pointer is null");
  EXPECT_ERROR(view_of(dl_tensor(data, negative)), ArgumentError, "the DLPack tensor has a negative size: (2, -2)");
  EXPECT_ERROR(view_of(dl_tensor(data, huge)), ArgumentError,
               "the DLPack tensor of shape (1073741824, 1073741824) has more than 2^47 elements");
  auto offset = dl_tensor(nullptr, shape);
  offset.byte_offset = 64;
  EXPECT_ERROR(view_of(offset), ArgumentError,
               "the DLPack tensor has elements but no memory: its data pointer is null");
  auto nowhere = dl_tensor(nullptr, empty);
  nowhere.byte_offset = 64;
  EXPECT_EQ(view_of(nowhere).data, nullptr);
  for (int rank : {-1, 65, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    auto tensor = dl_tensor(data, shape);
    tensor.ndim = rank;
    EXPECT_ERROR(view_of(tensor), ArgumentError, "the DLPack tensor has ") << rank;
  }
  auto shapeless = dl_tensor(data, shape);
  shapeless.shape = nullptr;
  EXPECT_ERROR(view_of(shapeless), ArgumentError, "the DLPack tensor has 2 dimensions and no shape");
  std::int64_t far[2] = {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  EXPECT_ERROR(view_of(dl_tensor(data, shape, far)), ArgumentError,
               "the DLPack tensor with the strides (9223372036854775807, -9223372036854775808) reaches over more than "
               "2^47 elements of memory");
}

TEST(Tensor, SpecsThatAreNoneAreRefused) {
  auto check = [](TensorSpec spec) { check_tensor(spec, "it"); };
  EXPECT_NO_THROW(check({DType::Int8, {3, 4}, {-1, 0}}));
  EXPECT_NO_THROW(check({DType::Int8, {std::int64_t(1) << 47}, {1}}));
  EXPECT_NO_THROW(check({DType::Int8, {1, 2}, {std::numeric_limits<std::int64_t>::max(), 1}}));
  EXPECT_ERROR(check({DType::Int8, {3, 4}, {1}}), ArgumentError,
               "it has 2 sizes and 1 strides: give one stride for each dimension");
  EXPECT_ERROR(check({DType::Int8, {3, 4}, {4, 1, 1}}), ArgumentError,
               "it has 2 sizes and 3 strides: give one stride for each dimension");
  EXPECT_ERROR(check({DType::Int8, {(std::int64_t(1) << 47) + 1}, {1}}), ArgumentError,
               "it of shape (140737488355329) has more than 2^47 elements");
  EXPECT_ERROR(check({DType::Int8, {0, std::int64_t(1) << 48}, {1, 1}}), ArgumentError,
               "it of shape (0, 281474976710656) has more than 2^47 elements");
  EXPECT_ERROR(check({DType::Int8, {3}, {std::int64_t(1) << 46}}), ArgumentError,
               "it with the strides (70368744177664) reaches over more than 2^47 elements of memory");
  EXPECT_ERROR(check({static_cast<DType>(77), {3}, {1}}), ArgumentError, "it has the element type 77, which is none");
}

TEST(Tensor, ProductsOfSizesDoNotWrap) {
  auto spec = contiguous(DType::Int8, {std::int64_t(1) << 32, std::int64_t(1) << 32, 2});
  EXPECT_EQ(spec.element_count(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(spec.strides[0], std::int64_t(1) << 33);
}

}  // namespace
}  // namespace tc
