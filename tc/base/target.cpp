#include "tc/base/target.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <thread>
#include <vector>

#include "tc/base/cache_size.h"
#include "tc/base/str.h"
#include "tc/base/target_text.h"

namespace tc {
namespace {

/// What the kernel tells of the cache of \p level, else sysconf() as \p name, else \p fallback.
std::int64_t cache_size_here(int level, int name, std::int64_t fallback) {
  if (const auto bytes = cache_size(level)) return *bytes;
  const long bytes = sysconf(name);
  return bytes > 0 ? bytes : fallback;
}

void take_flags_of_machine(Target& target) {
  for (const auto& flag : instruction_flags()) target.*flag.field = flag.on_this_machine(*target.instructions);
}

/// The flags that \p target has, with a minus those the machine's own would add when the text is parsed.
std::string flags_text(const Target& target) {
  std::string result;
  for (const auto& flag : instruction_flags()) {
    if (target.*flag.field)
      result += str(",", flag.name);
    else if (flag.on_this_machine(*target.instructions))
      result += str(",-", flag.name);
  }
  return result;
}

/// Adds the flag \p word names to \p target, or takes it away; false where it names none.
bool apply_flag(Target& target, std::string_view word) {
  bool add = word.substr(0, 1) != "-";
  for (const auto& flag : instruction_flags()) {
    if (word.substr(add ? 0 : 1) != flag.name) continue;
    target.*flag.field = add;
    return true;
  }
  return false;
}

Target detect() {
  Target target;
  __builtin_cpu_init();
  target.instructions = &instruction_set_here();
  target.cores = std::max(1u, std::thread::hardware_concurrency());
  target.l1_bytes = cache_size_here(1, _SC_LEVEL1_DCACHE_SIZE, target.l1_bytes);
  target.l2_bytes = cache_size_here(2, _SC_LEVEL2_CACHE_SIZE, target.l2_bytes);
  target.l3_bytes = cache_size_here(3, _SC_LEVEL3_CACHE_SIZE, target.l3_bytes);
  target.core = processor_core_here();
  take_flags_of_machine(target);
  return target;
}

const Target& detected() {
  static const auto& target = *new Target(detect());
  return target;
}

using target_text::parse_size;
using target_text::reject;
using target_text::size_text;

std::string_view parse_core(std::string_view whole, const std::string& text) {
  std::string known;
  for (auto core : processor_cores()) {
    if (core == text) return core;
    known += str(known.empty() ? "" : ", ", core);
  }
  reject(whole, str("unknown core '", text, "', known are ", known));
}

int parse_vector(std::string_view whole, const std::string& text) {
  auto bytes = parse_size(whole, text);
  if (bytes > 64 || (bytes & (bytes - 1)) != 0) reject(whole, str("'", text, "' is no power of two up to 64"));
  return static_cast<int>(bytes);
}

void apply_field(Target& target, std::string_view whole, const std::string& field) {
  auto equals = field.find('=');
  std::string key = field.substr(0, equals);
  if (equals == std::string::npos) {
    if (const auto* set = find_instruction_set(key)) {
      target.instructions = set;
      target.core = "";
      return take_flags_of_machine(target);
    }
    if (key == "native" || key.empty()) return;
    if (apply_flag(target, key)) return;
    reject(whole, str("unknown word '", key, "'"));
  }
  std::string value = field.substr(equals + 1);
  if (key == "cores")
    target.cores = static_cast<int>(std::min<std::int64_t>(parse_size(whole, value), 1 << 16));
  else if (key == "core")
    target.core = parse_core(whole, value);
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
  if (target.widest_vector >= target.instructions->register_bytes) target.widest_vector = 64;
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
  return str("cpu:", target.instructions->name, target.core.empty() ? "" : ",core=", target.core,
             ",cores=", target.cores, ",l1=", size_text(target.l1_bytes), ",l2=", size_text(target.l2_bytes),
             ",l3=", size_text(target.l3_bytes),
             target.widest_vector < target.instructions->register_bytes ? str(",vectors=", target.widest_vector) : "",
             flags_text(target));
}

Target host_or_override() {
  const char* text = std::getenv("TC_TARGET");
  return text && *text ? Target::parse(text) : detected();
}

}  // namespace

int Target::vector_bytes() const { return std::min(grid ? 16 : instructions->register_bytes, widest_vector); }
int Target::vector_registers() const { return instructions->registers; }

bool Target::runs_here() const {
  auto flags = instruction_flags();
  return instructions->on_this_machine() && std::all_of(flags.begin(), flags.end(), [&](const InstructionFlag& flag) {
           return !(this->*flag.field) || flag.on_this_machine(*instructions);
         });
}

const Target& Target::host() {
  static const auto& target = *new Target(host_or_override());
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
