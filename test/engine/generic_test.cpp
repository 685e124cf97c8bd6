#include "tc/engine/define/generic.h"

#include <gtest/gtest.h>

#include <random>

#include "tc/engine/engine.h"
#include "test/support/oracle.h"

namespace tc::engine {
namespace {

/// One text for several types and ranks; a def that calls it has its instances too.
TEST(Generic, OneTextForTypesAndRanks) {
  const auto module = define(R"(
    def scaled(T(...,N) X, T(N) g, T a) -> (Y) { Y(...,i) = a * X(...,i) * g(i) }
    def twice(T(...,N) X, T(N) g, T a) -> (Y) { Z = scaled(X, g, a)  Y = scaled(Z, g, a) })");
  using Shape = std::vector<std::int64_t>;
  std::mt19937_64 random(1);
  for (const auto& function : module.functions)
    for (auto type : {DType::Int8, DType::Int64, DType::Float32, DType::Float64})
      for (const auto& leading : {Shape{}, Shape{3}, Shape{2, 3}}) {
        auto shape = leading;
        shape.push_back(5);
        test::Arguments arguments;
        for (const auto& dims : {shape, Shape{5}, Shape{}})
          arguments.inputs.push_back(test::random_integers(contiguous(type, dims), -2, 3, random));
        arguments.outputs.emplace_back(contiguous(type, shape));
        const auto infos = infer_output_tensor_info(*function, arguments.input_specs());
        EXPECT_EQ(infos.at(0).shape, shape);
        EXPECT_EQ(infos.at(0).dtype, type);
        const auto instance = instance_for(function, arguments.input_specs());
        EXPECT_EQ(instance, instance_for(function, arguments.input_specs()));
        EXPECT_EQ(test::mismatch(instance, arguments, {}), std::nullopt) << function->name() << " " << type;
        ExecutionEngine engine;
        engine.define(module.file->text);
        auto got = arguments;
        engine.run(engine.compile(function->name(), got.input_specs()), got.input_views(), got.output_views());
        EXPECT_EQ(test::first_difference(*instance, got.outputs, test::interpreted(*instance, arguments), {}),
                  std::nullopt);
      }
}

}  // namespace
}  // namespace tc::engine
