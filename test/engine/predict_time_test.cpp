#include "tc/engine/describe/predict_time.h"

#include <gtest/gtest.h>

#include "test/engine/engine_fixture.h"

namespace tc::engine {
namespace {

constexpr const char* machine = "cpu:avx2,cores=4,l1=32k,l2=1m,l3=8m";

double predicted(const std::string& options, int threads = 1, const std::string& target = machine) {
  auto function = define(mm).functions.back();
  CompileOptions how;
  how.target = Target::parse(target);
  how.mapping = options::MappingOptions::parse(options);
  auto square = contiguous(DType::Float32, {256, 256});
  return predict_seconds(describe_work(function, make_arguments(*function, {square, square}, {}), how), how.target,
                         threads);
}

TEST(PredictTime, PrefersWhatIsFaster) {
  const double usual = predicted("");
  EXPECT_GT(usual, 0);
  for (const char* slower : {"vectorise=0", "register_tile=1x1", "vector_bytes=16"})
    EXPECT_GT(predicted(slower), 1.1 * usual) << slower;
}

TEST(PredictTime, ThreadsDivideWhatRunsInParallel) {
  EXPECT_NEAR(predicted("", 1) / predicted("", 2), 2, 0.1);
  EXPECT_EQ(predicted("parallel=0", 1), predicted("parallel=0", 4));
}

TEST(PredictTime, SaysNothingOfNothing) { EXPECT_EQ(predict_seconds(WorkReport(), Target::parse(machine), 1), 0); }

}  // namespace
}  // namespace tc::engine
