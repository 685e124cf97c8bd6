#pragma once

#include <Halide.h>

#include <optional>
#include <string>

/// How CUDA C++ spells types, numbers and functions.
namespace tc::cuda {

/// "unsigned short" for UInt(16); the element's type for a vector.
std::string type_name(const Halide::Type& type);

/// Literals of that type and exactly that value: "5u", "(short)-3", "0.1f", "tc_bits<float>(0x7f800000u)".
std::string literal(const Halide::Type& type, std::int64_t value);
std::string literal(const Halide::Type& type, std::uint64_t value);
std::string literal(const Halide::Type& type, double value);

/// What a call of the function \p name, of the language (tc_exp_f32), of Halide (sqrt_f32) or of the prelude, is in
/// text: expf, sqrtf. Nothing for an unknown function.
std::optional<std::string> function_name(const std::string& name);

/// Is argument number \p index of a prelude function a pointer? It is a Load then, of the element pointed at.
bool takes_pointer(const std::string& function, int index);
/// Does the prelude function \p function write through its pointer \p index?
bool writes_through(const std::string& function, int index);
/// Does it store 16 bytes there at once?
bool stores_at_once(const std::string& function, int index);
/// How many arguments of a prelude function behind those that are pointers to write to are template arguments:
/// tc_copy_wait<2>(), tc_multiply_m64n64k16_bf16<16, 0, 0>(sums, a, b).
int template_arguments(const std::string& function);
/// Is it a product of matrices by a group of warps, tc_multiply_m64...?
bool is_group_product(const std::string& function);

}  // namespace tc::cuda
