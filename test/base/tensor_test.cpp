#include "tc/base/tensor.h"

#include <gtest/gtest.h>

#include "tc/base/dlpack.h"
#include "tc/base/error.h"
#include "tc/base/str.h"

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
  EXPECT_THROW(view_of(tensor), ArgumentError);
  tensor.device.device_type = kDLCPU;
  tensor.dtype.lanes = 4;
  EXPECT_THROW(view_of(tensor), ArgumentError);
  tensor.dtype = {kDLOpaqueHandle, 64, 1};
  EXPECT_THROW(view_of(tensor), ArgumentError);
}

}  // namespace
}  // namespace tc
