#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cpu/machine/halide_processor.h"
#include "tc/cpu/machine/instructions.h"

namespace tc::cpu {
namespace {

enum class Level { Plain, Avx2, Avx512 };

Level level(const Target& target) {
  auto number = target.instructions - instruction_sets().data();
  if (number < 0 || number > 2) throw InternalError(str("no instruction set is number ", number));
  return static_cast<Level>(number);
}

}  // namespace

Intrinsic to_half(int lanes) {
  if (lanes == 16)
    return {"x86.avx512.mask.vcvtps2ph.512", 16, {{"i32", "0"}, {"<16 x i16>", "zeroinitializer"}, {"i16", "-1"}}};
  return {lanes == 8 ? "x86.vcvtps2ph.256" : "x86.vcvtps2ph.128", std::max(lanes, 4), {{"i32", "0"}}};
}

std::optional<Intrinsic> scale(const Target& target, int bits, int lanes) {
  if (level(target) != Level::Avx512) return std::nullopt;
  int all = std::max(lanes, 128 / bits), width = all * bits;
  Intrinsic result{str("x86.avx512.mask.scalef.p", bits == 32 ? "s" : "d", ".", width), all};
  result.constants = {{str("<", all, " x ", bits == 32 ? "float" : "double", ">"), "zeroinitializer"},
                      {str("i", std::max(all, 8)), "-1"}};
  if (width == 512) result.constants.push_back({"i32", "4"});
  return result;
}

std::optional<Intrinsic> dot_of_bfloats(const Target& target, int lanes) {
  if (!target.bf16_dot || level(target) != Level::Avx512) return std::nullopt;
  return Intrinsic{str("x86.avx512bf16.dpbf16ps.", lanes * 32), lanes};
}

std::optional<Intrinsic> dot_of_bytes(const Target& target, int lanes) {
  if (!target.int8_dot || level(target) == Level::Plain) return std::nullopt;
  return Intrinsic{str("x86.avx512.vpdpbusd.", lanes * 32), lanes};
}

Intrinsic dot_of_words(int lanes) {
  return {lanes == 16 ? "x86.avx512.pmaddw.d.512" : lanes == 8 ? "x86.avx2.pmadd.wd" : "x86.sse2.pmadd.wd", lanes};
}

const char* data_layout() {
  return "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128\"\n";
}

std::string llvm_features(const Target& target) {
  std::string features;
  bool avx512 = level(target) == Level::Avx512;
  if (target.bf16_dot && avx512) features += ",+avx512bf16";
  if (target.int8_dot && level(target) != Level::Plain) features += avx512 ? ",+avx512vnni" : ",+avxvnni";
  if (target.matrix_tiles && avx512) features += ",+amx-tile,+amx-bf16,+amx-int8";
  return features;
}

Halide::Target halide_processor(const Target& target) {
  using H = Halide::Target;
  std::vector<H::Feature> features = {H::SSE41};
  if (level(target) != Level::Plain) features.insert(features.end(), {H::AVX, H::AVX2, H::FMA, H::F16C});
  if (level(target) == Level::Avx512) features.insert(features.end(), {H::AVX512, H::AVX512_Skylake});
  return {H::Linux, H::X86, 64, features};
}

}  // namespace tc::cpu
