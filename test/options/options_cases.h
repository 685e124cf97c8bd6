#pragma once

#include <limits>
#include <random>
#include <string>

#include "tc/options/fields.h"
#include "tc/options/mapping_options.h"

namespace tc::options {

/// A value that \p field may be; often its default.
inline OptionValue random_value(const Field& field, std::mt19937& random) {
  const auto& rule = field.field->options().GetExtension(proto::rule);
  auto most = rule.has_most() ? rule.most() : std::numeric_limits<std::int64_t>::max();
  auto number = [&] {
    auto low = std::uniform_int_distribution<std::int64_t>(rule.least(), std::min<std::int64_t>(most, 100))(random);
    if (!rule.power_of_two()) return random() % 4 ? low : most;
    return std::min<std::int64_t>(std::int64_t{1} << random() % 5, most);
  };
  if (field.field->is_repeated()) {
    auto count = random() % 4;
    if (field.field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_STRING) {
      std::vector<std::string> names(count);
      for (auto& name : names)
        name = std::string(1, static_cast<char>('a' + random() % 26)) + (random() % 2 ? "_7" : "");
      return names;
    }
    std::vector<std::int64_t> numbers(rule.has_values() && count > 0 ? rule.values() : count);
    for (auto& n : numbers) n = number();
    return numbers;
  }
  if (field.field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_STRING)
    return random() % 3 ? "nest of S0|S0: i" + std::to_string(random() % 10) : std::string();
  if (field.field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_BOOL) return random() % 2 == 0;
  if (field.field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_ENUM) return number();
  const auto* type = field.field->enum_type();
  return type->value(static_cast<int>(random() % type->value_count()))->options().GetExtension(proto::text);
}

inline MappingOptions random_options(std::mt19937& random) {
  MappingOptions options;
  for (const auto& field : fields())
    if (random() % 2) options = options.with(field.name(), random_value(field, random));
  return options;
}

}  // namespace tc::options
