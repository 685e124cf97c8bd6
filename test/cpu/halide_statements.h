#pragma once

#include <Halide.h>

#include <regex>
#include <sstream>
#include <string>

/// Small Halide statements for tests of passes over them.
namespace tc::cpu {

inline Halide::Expr variable(const char* name) { return Halide::Internal::Variable::make(Halide::Int(32), name); }

/// The floats of \p buffer at \p index.
inline Halide::Expr load(const char* buffer, const Halide::Expr& index) {
  auto type = Halide::Float(32).with_lanes(index.type().lanes());
  return Halide::Internal::Load::make(type, buffer, index, Halide::Buffer<>(), Halide::Internal::Parameter(),
                                      Halide::Internal::const_true(type.lanes()), Halide::Internal::ModulusRemainder());
}

/// The int32 of \p buffer at \p index.
inline Halide::Expr load_int(const std::string& buffer, const Halide::Expr& index) {
  return Halide::Internal::Load::make(Halide::Int(32), buffer, index, Halide::Buffer<>(), Halide::Internal::Parameter(),
                                      Halide::Internal::const_true(), {});
}

/// condition ? value : 0, of int32.
inline Halide::Expr value_if(const Halide::Expr& condition, const Halide::Expr& value) {
  return Halide::Internal::Call::make(Halide::Int(32), Halide::Internal::Call::if_then_else,
                                      {condition, value, Halide::Expr(0)}, Halide::Internal::Call::PureIntrinsic);
}

/// The indices of \p lanes elements from \p base on.
inline Halide::Expr vector(const Halide::Expr& base, int lanes = 16) {
  return Halide::Internal::Ramp::make(base, 1, lanes);
}

inline Halide::Internal::Stmt store(const char* buffer, const Halide::Expr& index, const Halide::Expr& value) {
  return Halide::Internal::Store::make(buffer, value, index, Halide::Internal::Parameter(),
                                       Halide::Internal::const_true(value.type().lanes()),
                                       Halide::Internal::ModulusRemainder());
}

inline Halide::Internal::Stmt loop(const char* name, const Halide::Expr& extent, const Halide::Internal::Stmt& body) {
  return Halide::Internal::For::make(name, 0, extent, Halide::Internal::ForType::Serial, Halide::DeviceAPI::None, body);
}

/// The arguments of the prefetches in \p body, in order; "L2: " before those into the second cache.
inline std::string prefetches(const Halide::Internal::Stmt& body) {
  std::ostringstream text;
  text << body;
  std::string all = text.str(), result;
  const std::regex call("tc_prefetch(_l2)?\\((.*)\\)\n");
  for (std::sregex_iterator it(all.begin(), all.end(), call), end; it != end; ++it)
    result += ((*it)[1].matched ? "L2: " : "") + (*it)[2].str() + "; ";
  return result;
}

}  // namespace tc::cpu
