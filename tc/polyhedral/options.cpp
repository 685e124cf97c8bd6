#include "tc/polyhedral/options.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::polyhedral {
namespace {

[[noreturn]] void reject(std::string_view field, std::string_view value, const std::string& expected) {
  throw OptionsError(str("mapping option '", field, "=", value, "': must be ", expected));
}

template <typename Integer>
Integer parse_integer(std::string_view field, std::string_view value, std::string_view digits, const char* expected) {
  Integer result = 0;
  auto end = digits.data() + digits.size();
  auto parsed = std::from_chars(digits.data(), end, result);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != end) reject(field, value, expected);
  return result;
}

bool parse_bool(std::string_view field, std::string_view value) {
  if (value != "0" && value != "1") reject(field, value, "0 or 1");
  return value == "1";
}

FusionStrategy parse_fusion(std::string_view field, std::string_view value) {
  if (value == "max") return FusionStrategy::Max;
  if (value == "preserve3") return FusionStrategy::Preserve3Coincident;
  if (value == "min") return FusionStrategy::Min;
  reject(field, value, "max, preserve3 or min");
}

std::string fusion_name(FusionStrategy fusion) {
  switch (fusion) {
    case FusionStrategy::Max:
      return "max";
    case FusionStrategy::Preserve3Coincident:
      return "preserve3";
    case FusionStrategy::Min:
      return "min";
  }
  return "?";
}

std::vector<std::int64_t> parse_tile(std::string_view field, std::string_view value) {
  std::vector<std::int64_t> sizes;
  for (std::size_t begin = 0; begin <= value.size();) {
    auto end = std::min(value.find('x', begin), value.size());
    sizes.push_back(parse_integer<std::int64_t>(field, value, value.substr(begin, end - begin),
                                                "sizes joined by 'x', for example 32x64, where 0 leaves a loop whole"));
    begin = end + 1;
  }
  return sizes;
}

/// One option as text: both directions, so that a field is spelled once.
struct Field {
  std::string_view name;
  std::function<std::string(const MappingOptions&)> print;
  std::function<void(MappingOptions&, std::string_view name, std::string_view value)> parse;
};

Field flag(std::string_view name, bool MappingOptions::*member) {
  return {
      name, [=](const MappingOptions& o) { return std::string(o.*member ? "1" : "0"); },
      [=](MappingOptions& o, std::string_view field, std::string_view value) { o.*member = parse_bool(field, value); }};
}

const std::vector<Field>& fields() {
  static const std::vector<Field> result = {
      {"fusion", [](const MappingOptions& o) { return fusion_name(o.fusion); },
       [](MappingOptions& o, std::string_view field, std::string_view value) {
         o.fusion = parse_fusion(field, value);
       }},
      flag("allow_skewing", &MappingOptions::allow_skewing),
      flag("positive_orthant", &MappingOptions::positive_orthant),
      {"tile", [](const MappingOptions& o) { return join(o.tile, "x"); },
       [](MappingOptions& o, std::string_view field, std::string_view value) { o.tile = parse_tile(field, value); }},
      flag("parallel", &MappingOptions::parallel),
      flag("vectorise", &MappingOptions::vectorise),
      flag("promote", &MappingOptions::promote),
      {"quota", [](const MappingOptions& o) { return str(o.quota); },
       [](MappingOptions& o, std::string_view field, std::string_view value) {
         o.quota = parse_integer<unsigned long>(field, value, value, "a number of isl operations, 0 for no limit");
       }},
  };
  return result;
}

void parse_field(MappingOptions& options, std::string_view text) {
  auto equals = std::min(text.find('='), text.size());
  auto name = text.substr(0, equals);
  std::vector<std::string_view> names;
  for (const auto& field : fields()) {
    if (field.name == name && equals < text.size()) return field.parse(options, name, text.substr(equals + 1));
    names.push_back(field.name);
  }
  if (std::find(names.begin(), names.end(), name) != names.end()) reject(name, "", "given a value");
  throw OptionsError(str("no mapping option '", name, "'; the options are ", join(names), ", each written name=value"));
}

}  // namespace

std::string to_string(const MappingOptions& options) {
  const MappingOptions defaults;
  std::vector<std::string> parts;
  for (const auto& field : fields()) {
    auto value = field.print(options);
    if (value != field.print(defaults)) parts.push_back(str(field.name, "=", value));
  }
  return join(parts, ",");
}

MappingOptions parse_mapping_options(std::string_view text) {
  MappingOptions options;
  for (std::size_t begin = 0; begin < text.size();) {
    auto end = std::min(text.find(',', begin), text.size());
    parse_field(options, text.substr(begin, end - begin));
    begin = end + 1;
  }
  validate(options);
  return options;
}

void validate(const MappingOptions& options) {
  for (auto size : options.tile)
    if (size < 0) reject("tile", join(options.tile, "x"), "sizes of at least 0, where 0 leaves a loop whole");
}

}  // namespace tc::polyhedral
