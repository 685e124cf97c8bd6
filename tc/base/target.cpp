#include "tc/base/target.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <thread>
#include <vector>

#include "tc/base/str.h"
#include "tc/base/target_text.h"

namespace tc {
namespace {

std::string_view isa_name(Target::Isa isa) {
  switch (isa) {
    case Target::Isa::Plain:
      return "plain";
    case Target::Isa::Avx2:
      return "avx2";
    case Target::Isa::Avx512:
      return "avx512";
  }
  return "?";
}

std::int64_t cache_size(int name, std::int64_t fallback) {
  long bytes = sysconf(name);
  return bytes > 0 ? bytes : fallback;
}

/// AVX-VNNI, which the compiler's own test does not know.
bool has_avx_vnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & 1u << 4);
}

/// May this process use registers for matrices? The kernel saves them only for processes that ask.
bool may_use_matrix_tiles() {
  constexpr long request_permission = 0x1023, tile_data = 18;
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned bf16 = 1u << 22, tile = 1u << 24, int8 = 1u << 25, all = bf16 | tile | int8;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & all) != all) return false;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

/// A word of a target's text that stands for instructions.
struct Flag {
  const char* name;
  bool Target::* field;
  bool (*machine_has)(Target::Isa);
};

constexpr std::array<Flag, 3> flags = {{{"bf16_dot", &Target::bf16_dot, Target::machine_has_bf16_dot},
                                        {"int8_dot", &Target::int8_dot, Target::machine_has_int8_dot},
                                        {"amx", &Target::matrix_tiles, Target::machine_has_matrix_tiles}}};

void take_flags_of_machine(Target& target) {
  for (const auto& flag : flags) target.*flag.field = flag.machine_has(target.isa);
}

/// The flags that \p target has, with a minus those the machine's own would add when the text is parsed.
std::string flags_text(const Target& target) {
  std::string result;
  for (const auto& flag : flags) {
    if (target.*flag.field)
      result += str(",", flag.name);
    else if (flag.machine_has(target.isa))
      result += str(",-", flag.name);
  }
  return result;
}

/// Adds the flag \p word names to \p target, or takes it away; false where it names none.
bool apply_flag(Target& target, std::string_view word) {
  bool add = word.substr(0, 1) != "-";
  for (const auto& flag : flags) {
    if (word.substr(add ? 0 : 1) != flag.name) continue;
    target.*flag.field = add;
    return true;
  }
  return false;
}

Target detect() {
  Target target;
  __builtin_cpu_init();
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512cd");
  target.isa = avx512 ? Target::Isa::Avx512 : avx2 ? Target::Isa::Avx2 : Target::Isa::Plain;
  target.cores = std::max(1u, std::thread::hardware_concurrency());
  target.l1_bytes = cache_size(_SC_LEVEL1_DCACHE_SIZE, target.l1_bytes);
  target.l2_bytes = cache_size(_SC_LEVEL2_CACHE_SIZE, target.l2_bytes);
  target.l3_bytes = cache_size(_SC_LEVEL3_CACHE_SIZE, target.l3_bytes);
  take_flags_of_machine(target);
  return target;
}

const Target& detected() {
  static const Target target = detect();
  return target;
}

using target_text::parse_size;
using target_text::reject;
using target_text::size_text;

int parse_vector(std::string_view whole, const std::string& text) {
  auto bytes = parse_size(whole, text);
  if (bytes > 64 || (bytes & (bytes - 1)) != 0) reject(whole, str("'", text, "' is no power of two up to 64"));
  return static_cast<int>(bytes);
}

int register_bytes(Target::Isa isa) { return isa == Target::Isa::Avx512 ? 64 : isa == Target::Isa::Avx2 ? 32 : 16; }

void apply_field(Target& target, std::string_view whole, const std::string& field) {
  auto equals = field.find('=');
  std::string key = field.substr(0, equals);
  if (equals == std::string::npos) {
    if (key == "plain" || key == "avx2" || key == "avx512") {
      target.isa = key == "plain" ? Target::Isa::Plain : key == "avx2" ? Target::Isa::Avx2 : Target::Isa::Avx512;
      return take_flags_of_machine(target);
    }
    if (key == "native" || key.empty()) return;
    if (apply_flag(target, key)) return;
    reject(whole, str("unknown word '", key, "'"));
  }
  std::string value = field.substr(equals + 1);
  if (key == "cores")
    target.cores = static_cast<int>(std::min<std::int64_t>(parse_size(whole, value), 1 << 16));
  else if (key == "vectors")
    target.widest_vector = parse_vector(whole, value);
  else if (key == "l1")
    target.l1_bytes = parse_size(whole, value);
  else if (key == "l2")
    target.l2_bytes = parse_size(whole, value);
  else if (key == "l3")
    target.l3_bytes = parse_size(whole, value);
  else
    reject(whole, str("unknown field '", key, "'"));
}

Target parse_cpu(std::string_view text, const std::vector<std::string>& fields) {
  Target target = detected();
  for (const auto& field : fields) apply_field(target, text, field);
  if (target.widest_vector >= register_bytes(target.isa)) target.widest_vector = 64;
  return target;
}

std::vector<std::string> split_fields(const std::string& text) {
  std::vector<std::string> fields;
  for (std::size_t begin = 0; begin <= text.size();) {
    auto end = std::min(text.find(',', begin), text.size());
    fields.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

std::string print_cpu(const Target& target) {
  return str("cpu:", isa_name(target.isa), ",cores=", target.cores, ",l1=", size_text(target.l1_bytes),
             ",l2=", size_text(target.l2_bytes), ",l3=", size_text(target.l3_bytes),
             target.widest_vector < register_bytes(target.isa) ? str(",vectors=", target.widest_vector) : "",
             flags_text(target));
}

Target host_or_override() {
  const char* text = std::getenv("TC_TARGET");
  return text && *text ? Target::parse(text) : detected();
}

}  // namespace

int Target::vector_bytes() const { return std::min(grid ? 16 : register_bytes(isa), widest_vector); }
int Target::vector_registers() const { return isa == Isa::Avx512 ? 32 : 16; }

bool Target::machine_has_bf16_dot(Isa isa) { return isa == Isa::Avx512 && __builtin_cpu_supports("avx512bf16"); }
bool Target::machine_has_int8_dot(Isa isa) {
  return isa == Isa::Avx512 ? __builtin_cpu_supports("avx512vnni") : isa == Isa::Avx2 && has_avx_vnni();
}
bool Target::machine_has_matrix_tiles(Isa isa) {
  static const bool allowed = may_use_matrix_tiles();
  return isa == Isa::Avx512 && allowed;
}

const Target& Target::host() {
  static const Target target = host_or_override();
  return target;
}

Target Target::parse(std::string_view text) {
  std::string rest(text);
  auto colon = rest.find(':');
  std::string back_end = colon == std::string::npos ? rest : rest.substr(0, colon);
  if (back_end == "cuda")
    return target_text::parse_cuda(text, split_fields(colon == std::string::npos ? "" : rest.substr(colon + 1)));
  if (rest == "cpu") rest.clear();
  if (rest.rfind("cpu:", 0) == 0) rest = rest.substr(4);
  if (rest.find(':') != std::string::npos) reject(text, str("no back end '", back_end, "'"));
  return parse_cpu(text, split_fields(rest));
}

std::string to_string(const Target& target) {
  return target.is_cuda() ? target_text::print_cuda(target) : print_cpu(target);
}

std::ostream& operator<<(std::ostream& out, const Target& target) { return out << to_string(target); }

}  // namespace tc
