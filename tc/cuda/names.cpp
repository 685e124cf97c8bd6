#include "tc/cuda/names.h"

#include <cctype>

#include "tc/base/str.h"
#include "tc/cuda/prelude.h"

namespace tc::cuda {
namespace {

/// The keywords of C++20 and the types, constants and functions that CUDA declares everywhere; native_functions() are
/// more.
constexpr std::string_view words =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl "
    "concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default "
    "delete "
    "do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast "
    "requires return short signed sizeof static static_assert static_cast struct switch template this thread_local "
    "throw "
    "true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq "
    "abs abort assert ceil clock div exit free isinf isnan isfinite labs ldexp frexp main malloc memcpy memset modf "
    "NULL "
    "printf signbit size_t ptrdiff_t warpSize dim3 char1 char2 char3 char4 uchar1 uchar2 uchar3 uchar4 short1 short2 "
    "short3 short4 ushort1 ushort2 ushort3 ushort4 int1 int2 int3 int4 uint1 uint2 uint3 uint4 long1 long2 ulong1 "
    "ulong2 "
    "longlong1 longlong2 ulonglong1 ulonglong2 float1 float2 float3 float4 double1 double2 linux unix "
    "acosh asinh atanh cbrt copysign cospi cyl_bessel_i0 cyl_bessel_i1 erfc erfcinv erfcx erfinv exp10 exp2 expm1 fabs "
    "fdim "
    "fdivide fma fmax fmin hypot ilogb j0 j1 jn lgamma llmax llmin llrint llround log10 log1p log2 logb lrint lround "
    "max min nan "
    "nearbyint nextafter norm norm3d norm4d normcdf normcdfinv rcbrt remainder remquo rhypot rint rnorm rnorm3d "
    "rnorm4d round "
    "scalbln scalbn sincos sincospi sinpi tgamma trunc ullmax ullmin umax umin y0 y1 yn mul24 mulhi mul64hi umul24 "
    "umulhi "
    "umul64hi saturate clock64 llabs div_t ldiv_t time clock_t atomicAdd atomicSub atomicExch atomicMin atomicMax "
    "atomicInc "
    "atomicDec atomicCAS atomicAnd atomicOr atomicXor";

std::set<std::string> make_reserved() {
  std::set<std::string> result;
  for (std::size_t at = 0; at < words.size();) {
    auto end = std::min(words.find(' ', at), words.size());
    result.emplace(words.substr(at, end - at));
    at = end + 1;
  }
  for (auto word : native_words()) result.emplace(word);
  for (auto function : native_functions()) {
    result.emplace(function);
    result.insert(str(function, "f"));
  }
  return result;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

/// \p base as an identifier that stays one, and none that is reserved, with an underscore and a number behind it.
std::string numbered_stem(std::string base) {
  while (base.ends_with('_')) base.pop_back();
  if (base.empty()) return "v";
  return is_reserved(base + "_1") ? "v_" + base : base;
}

}  // namespace

std::string identifier_like(std::string_view name) {
  if (auto dollar = name.find('$'); dollar != std::string_view::npos) name = name.substr(0, dollar);
  if (name.size() > 6 && name.ends_with(".value")) name.remove_suffix(6);
  std::string result;
  for (char c : name) {
    bool legal = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    result += legal ? c : '_';
  }
  return result.empty() || is_digit(result[0]) ? "v" + result : result;
}

bool is_reserved(const std::string& identifier) {
  static const auto& reserved = *new auto(make_reserved());
  return reserved.count(identifier) || identifier.rfind("tc_", 0) == 0 || identifier.rfind("TC_", 0) == 0 ||
         identifier.find("__") != std::string::npos || (identifier[0] == '_' && identifier.size() > 1);
}

std::string Names::fresh(const std::string& wish) {
  auto base = identifier_like(wish);
  auto identifier = base;
  if (is_reserved(identifier)) {
    for (std::size_t at; (at = base.find("__")) != std::string::npos;) base.erase(at, 1);
    if (base[0] == '_') base = "v" + base;
    if (base.rfind("tc_", 0) == 0 || base.rfind("TC_", 0) == 0) base = "v_" + base;
    identifier = is_reserved(base) ? base + "_" : base;
  }
  const auto stem = numbered_stem(identifier);
  for (int number = 1; taken_.count(identifier) || is_reserved(identifier); ++number)
    identifier = str(stem, "_", number);
  taken_.insert(identifier);
  scopes_.back().identifiers.push_back(identifier);
  return identifier;
}

const std::string& Names::declare(const std::string& name) {
  alias(name, fresh(name));
  return identifiers_[name];
}

void Names::alias(const std::string& name, const std::string& identifier) {
  auto& entry = identifiers_[name];
  scopes_.back().outer.emplace_back(name, entry);
  entry = identifier;
}

const std::string* Names::find(const std::string& name) const {
  auto found = identifiers_.find(name);
  return found == identifiers_.end() || found->second.empty() ? nullptr : &found->second;
}

void Names::close_scope() {
  auto& scope = scopes_.back();
  for (auto entry = scope.outer.rbegin(); entry != scope.outer.rend(); ++entry)
    identifiers_[entry->first] = entry->second;
  for (const auto& identifier : scope.identifiers) taken_.erase(identifier);
  scopes_.pop_back();
}

}  // namespace tc::cuda
