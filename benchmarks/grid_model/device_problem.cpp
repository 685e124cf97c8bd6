#include "device_problem.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace tc;

namespace {

/// Seconds of runs one behind the other, and how many such groups are measured.
constexpr double group_seconds = 1.5e-3;
constexpr int groups = 4, most_runs = 200;
/// Elements at the beginning and at the end of an output that are compared.
constexpr std::size_t compared = 1 << 18;

void fill(const TensorSpec& spec, cuda::Driver::Pointer block, const std::byte* first) {
  const auto& api = cuda::driver();
  auto bytes = static_cast<std::size_t>(spec.element_count() * byte_size(spec.dtype));
  api.check(api.copy_to_device(block, first, bytes, nullptr), "copy a tensor to the device");
}

}  // namespace

Target device_target() { return Target::parse(cuda::device_target(0)); }

DeviceProblem::DeviceProblem(const PricedProgram& program) {
  auto function = engine::define(program.text).functions.back();
  std::uint64_t seed = 1;
  for (const auto& input : program.inputs)
    tensors_.emplace_back(input, seed++, input.dtype == DType::Int64 ? program.inputs.front().shape.front() : 4);
  first_output_ = tensors_.size();
  for (const auto& output : engine::infer_output_tensor_info(*function, program.inputs))
    tensors_.emplace_back(contiguous(output.dtype, output.shape), seed++, 4);
  cuda::InContext context(0);
  const auto& api = cuda::driver();
  for (const auto& tensor : tensors_) {
    blocks_.push_back(0);
    auto bytes = static_cast<std::size_t>(tensor.spec.element_count() * byte_size(tensor.spec.dtype));
    api.check(api.allocate(&blocks_.back(), bytes), "allocate a tensor");
    fill(tensor.spec, blocks_.back(), tensor.first);
    pointers_.push_back(reinterpret_cast<void*>(blocks_.back()));
  }
  cuda::synchronise({});
}

DeviceProblem::~DeviceProblem() {
  for (auto block : blocks_) cuda::driver().release(block);
}

double DeviceProblem::difference(const engine::Executable& code) {
  cuda::InContext context(0);
  const auto& api = cuda::driver();
  for (std::size_t i = first_output_; i < tensors_.size(); ++i)
    api.check(api.fill(blocks_[i], 0x7f, static_cast<std::size_t>(tensors_[i].spec.element_count()) * 4, nullptr),
              "spoil an output");
  code.run_unchecked(pointers_.data());
  double most = 0, largest = 1e-30;
  std::vector<std::vector<float>> outputs;
  for (std::size_t i = first_output_; i < tensors_.size(); ++i) {
    auto count = static_cast<std::size_t>(tensors_[i].spec.element_count()), part = std::min(count, compared);
    for (auto from : {std::size_t{0}, count - part}) {
      outputs.emplace_back(part);
      api.check(api.copy_to_host(outputs.back().data(), blocks_[i] + 4 * from, 4 * part, nullptr),
                "copy a tensor to the host");
    }
  }
  cuda::synchronise({});
  if (first_.empty()) first_ = outputs;
  for (std::size_t o = 0; o < outputs.size(); ++o)
    for (std::size_t k = 0; k < outputs[o].size(); ++k) {
      auto off = static_cast<double>(std::abs(outputs[o][k] - first_[o][k]));
      most = off <= 1e30 ? std::max(most, off) : 1e30;
      largest = std::max(largest, static_cast<double>(std::abs(first_[o][k])));
    }
  return most / largest;
}

double DeviceProblem::measure(const engine::Executable& code) {
  cuda::InContext context(0);
  auto time = [&](int runs) {
    cuda::Timer timer({});
    for (int i = 0; i < runs; ++i) code.run_unchecked(pointers_.data());
    return static_cast<double>(timer.stop()) * 1e-9 / runs;
  };
  auto one = std::min(time(2), time(2));
  auto runs = std::clamp(static_cast<int>(group_seconds / one), 2, most_runs);
  auto best = one;
  for (int i = 0; i < groups && (i == 0 || one < 0.02); ++i) best = std::min(best, time(runs));
  return best;
}
