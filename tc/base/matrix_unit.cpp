#include "tc/base/matrix_unit.h"

#include <algorithm>

namespace tc {
namespace {

constexpr MatrixUnit units[] = {
    {"m16n8k16", "tc_multiply_m16n8k16_bf16", DType::BFloat16, DType::Float32, 16, 8, 16},
    {"m16n8k16", "tc_multiply_m16n8k16_f16", DType::Float16, DType::Float32, 16, 8, 16},
    {"m64n64k16", "tc_multiply_m64n64k16_bf16", DType::BFloat16, DType::Float32, 64, 64, 16, 4, true},
    {"m64n128k16", "tc_multiply_m64n128k16_bf16", DType::BFloat16, DType::Float32, 64, 128, 16, 4, true},
    {"m64n192k16", "tc_multiply_m64n192k16_bf16", DType::BFloat16, DType::Float32, 64, 192, 16, 4, true},
    {"m64n256k16", "tc_multiply_m64n256k16_bf16", DType::BFloat16, DType::Float32, 64, 256, 16, 4, true},
    {"m64n64k16", "tc_multiply_m64n64k16_f16", DType::Float16, DType::Float32, 64, 64, 16, 4, true},
    {"m64n128k16", "tc_multiply_m64n128k16_f16", DType::Float16, DType::Float32, 64, 128, 16, 4, true},
    {"m64n192k16", "tc_multiply_m64n192k16_f16", DType::Float16, DType::Float32, 64, 192, 16, 4, true},
    {"m64n256k16", "tc_multiply_m64n256k16_f16", DType::Float16, DType::Float32, 64, 256, 16, 4, true},
};

template <typename Holds>
const MatrixUnit* find(Holds holds) {
  const auto* found = std::find_if(std::begin(units), std::end(units), holds);
  return found == std::end(units) ? nullptr : found;
}

}  // namespace

std::span<const MatrixUnit> matrix_units() { return units; }

const MatrixUnit* matrix_unit(std::string_view name, DType operand) {
  return find([&](const MatrixUnit& unit) { return unit.name == name && unit.operand == operand; });
}

const MatrixUnit* matrix_unit_for(DType operand, DType sum) {
  return find([&](const MatrixUnit& unit) { return unit.operand == operand && unit.sum == sum; });
}

}  // namespace tc
