#include "tc/options/fields.h"

#include <google/protobuf/reflection.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::options {
namespace {

using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

const proto::FieldRule& rule(const Field& field) { return field.field->options().GetExtension(proto::rule); }
const std::string& enum_text(const EnumValueDescriptor& value) { return value.options().GetExtension(proto::text); }

/// \p text with every byte that is no printable ASCII as \xNN: it may be damaged bytes.
std::string printable(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string result;
  for (unsigned char c : text) {
    if (c >= 0x20 && c < 0x7f) {
      result += static_cast<char>(c);
    } else {
      result += str("\\x", digits[c >> 4], digits[c & 15]);
    }
  }
  return result;
}

[[noreturn]] void reject(const Field& field, std::string_view value) {
  throw OptionsError(str("mapping option '", field.name(), "=", printable(value), "': must be ", must_be(field)));
}

const Message& part_of(const proto::MappingOptions& message, const Field& field) {
  return message.GetReflection()->GetMessage(message, field.part);
}
Message& mutable_part_of(proto::MappingOptions& message, const Field& field) {
  return *message.GetReflection()->MutableMessage(&message, field.part);
}

/// Forgets a part without content, so that equal options are equal messages.
void clear_if_empty(proto::MappingOptions& message, const Field& field) {
  const auto& part = part_of(message, field);
  std::vector<const FieldDescriptor*> present;
  part.GetReflection()->ListFields(part, &present);
  if (present.empty() && part.GetReflection()->GetUnknownFields(part).empty())
    message.GetReflection()->ClearField(&message, field.part);
}

std::optional<std::int64_t> parse_number(std::string_view digits) {
  std::int64_t result = 0;
  auto end = digits.data() + digits.size();
  auto parsed = std::from_chars(digits.data(), end, result);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return result;
}

std::int64_t parse_number(const Field& field, std::string_view text) {
  auto number = parse_number(text);
  if (!number) reject(field, text);
  return *number;
}

std::vector<std::int64_t> parse_numbers(const Field& field, std::string_view text) {
  std::vector<std::int64_t> result;
  if (text.empty()) return result;
  for (std::size_t begin = 0; begin <= text.size();) {
    auto end = std::min(text.find('x', begin), text.size());
    auto number = parse_number(text.substr(begin, end - begin));
    if (!number) reject(field, text);
    result.push_back(*number);
    begin = end + 1;
  }
  return result;
}

std::vector<std::string> parse_names(std::string_view text) {
  std::vector<std::string> result;
  for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
    auto end = std::min(text.find('/', begin), text.size());
    result.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

/// Is \p field text: names if it is repeated, else one line?
bool holds_text(const Field& field) { return field.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING; }

/// \p text as the value of \p field.
OptionValue parse_value(const Field& field, const std::string& text) {
  if (field.field->is_repeated()) {
    if (holds_text(field)) return parse_names(text);
    return parse_numbers(field, text);
  }
  switch (field.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      if (text != "0" && text != "1") reject(field, text);
      return text == "1";
    case FieldDescriptor::CPPTYPE_ENUM:
    case FieldDescriptor::CPPTYPE_STRING:
      return text;
    default:
      return parse_number(field, text);
  }
}

const EnumValueDescriptor* find_enum_value(const Field& field, const std::string& text) {
  const auto* type = field.field->enum_type();
  for (int i = 0; i < type->value_count(); ++i)
    if (enum_text(*type->value(i)) == text) return type->value(i);
  return nullptr;
}

bool obeys(const proto::FieldRule& rule, std::int64_t number) {
  if (rule.has_least() && number < rule.least()) return false;
  if (rule.has_most() && number > rule.most()) return false;
  return !rule.power_of_two() || (number & (number - 1)) == 0;
}

bool obeys(const Field& field, const std::vector<std::int64_t>& numbers) {
  const auto& limits = rule(field);
  if (limits.has_most_values() && numbers.size() > static_cast<std::size_t>(limits.most_values())) return false;
  if (limits.has_values() && !numbers.empty() && numbers.size() != static_cast<std::size_t>(limits.values()))
    return false;
  return std::all_of(numbers.begin(), numbers.end(), [&](std::int64_t number) { return obeys(limits, number); });
}

void set_flag(Message& part, const Field& field, const OptionValue& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  const auto* flag = std::get_if<bool>(&value);
  if (!flag && !(number && (*number == 0 || *number == 1))) reject(field, text_of(value));
  part.GetReflection()->SetBool(&part, field.field, flag ? *flag : *number == 1);
}

void set_enum(Message& part, const Field& field, const OptionValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  const auto* found = text ? find_enum_value(field, *text) : nullptr;
  if (!found) reject(field, text_of(value));
  part.GetReflection()->SetEnum(&part, field.field, found);
}

void set_number(Message& part, const Field& field, const OptionValue& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  if (!number || !obeys(rule(field), *number)) reject(field, text_of(value));
  part.GetReflection()->SetInt64(&part, field.field, *number);
}

void set_numbers(Message& part, const Field& field, const OptionValue& value) {
  const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value);
  if (!numbers || !obeys(field, *numbers)) reject(field, text_of(value));
  part.GetReflection()->ClearField(&part, field.field);
  for (auto number : *numbers) part.GetReflection()->AddInt64(&part, field.field, number);
}

bool is_identifier(const std::string& name) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  auto inside = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && letter(name[0]) && std::all_of(name.begin(), name.end(), inside);
}

void set_names(Message& part, const Field& field, const OptionValue& value) {
  const auto* names = std::get_if<std::vector<std::string>>(&value);
  const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value);
  if (numbers && numbers->empty()) return part.GetReflection()->ClearField(&part, field.field);
  if (!names || names->size() > static_cast<std::size_t>(rule(field).most_values()) ||
      !std::all_of(names->begin(), names->end(), is_identifier))
    reject(field, text_of(value));
  part.GetReflection()->ClearField(&part, field.field);
  for (const auto& name : *names) part.GetReflection()->AddString(&part, field.field, name);
}

/// Sets a line: printable, and without the comma that ends an option in the text form.
void set_line(Message& part, const Field& field, const OptionValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  const auto fits = [](unsigned char c) { return c >= 0x20 && c < 0x7f && c != ','; };
  if (!text || !std::all_of(text->begin(), text->end(), fits)) reject(field, text_of(value));
  part.GetReflection()->SetString(&part, field.field, *text);
}

void set_in_part(Message& part, const Field& field, const OptionValue& value) {
  if (field.field->is_repeated())
    return holds_text(field) ? set_names(part, field, value) : set_numbers(part, field, value);
  switch (field.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return set_flag(part, field, value);
    case FieldDescriptor::CPPTYPE_ENUM:
      return set_enum(part, field, value);
    case FieldDescriptor::CPPTYPE_STRING:
      return set_line(part, field, value);
    default:
      return set_number(part, field, value);
  }
}

std::vector<Field> list_fields() {
  std::vector<Field> result;
  const auto* message = proto::MappingOptions::descriptor();
  for (int i = 0; i < message->field_count(); ++i) {
    const auto* part = message->field(i);
    if (part->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const auto* type = part->message_type();
    for (int k = 0; k < type->field_count(); ++k) result.push_back({part, type->field(k)});
  }
  return result;
}

}  // namespace

const std::vector<Field>& fields() {
  static const auto& result = *new std::vector<Field>(list_fields());
  return result;
}

const Field& find_field(std::string_view name) {
  for (const auto& field : fields())
    if (field.name() == name) return field;
  throw OptionsError(str("no mapping option '", printable(name), "'; the options are ", join(MappingOptions::names())));
}

std::string must_be(const Field& field) {
  if (field.field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) return "0 or 1";
  if (field.field->cpp_type() != FieldDescriptor::CPPTYPE_ENUM) return rule(field).must_be();
  const auto* type = field.field->enum_type();
  std::vector<std::string> names;
  for (int i = 0; i + 1 < type->value_count(); ++i) names.push_back(enum_text(*type->value(i)));
  return str(join(names), " or ", enum_text(*type->value(type->value_count() - 1)));
}

OptionValue value_of(const proto::MappingOptions& message, const Field& field) {
  const auto& part = part_of(message, field);
  const auto& reflection = *part.GetReflection();
  if (field.field->is_repeated() && holds_text(field)) {
    const auto& names = reflection.GetRepeatedFieldRef<std::string>(part, field.field);
    return std::vector<std::string>(names.begin(), names.end());
  }
  if (field.field->is_repeated()) {
    const auto& numbers = reflection.GetRepeatedFieldRef<std::int64_t>(part, field.field);
    return std::vector<std::int64_t>(numbers.begin(), numbers.end());
  }
  switch (field.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(part, field.field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return enum_text(*reflection.GetEnum(part, field.field));
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.GetString(part, field.field);
    default:
      return reflection.GetInt64(part, field.field);
  }
}

void set_value(proto::MappingOptions& message, const Field& field, const OptionValue& value) {
  auto& part = mutable_part_of(message, field);
  const auto* text = std::get_if<std::string>(&value);
  set_in_part(part, field, text ? parse_value(field, *text) : value);
  if (value_of(message, field) == value_of(proto::MappingOptions::default_instance(), field))
    part.GetReflection()->ClearField(&part, field.field);
  clear_if_empty(message, field);
}

bool is_set(const proto::MappingOptions& message, const Field& field) {
  const auto& part = part_of(message, field);
  if (field.field->is_repeated()) return part.GetReflection()->FieldSize(part, field.field) > 0;
  return part.GetReflection()->HasField(part, field.field);
}

std::string text_of(const OptionValue& value) {
  return std::visit(overloaded{[](bool flag) { return std::string(flag ? "1" : "0"); },
                               [](const std::vector<std::int64_t>& numbers) { return join(numbers, "x"); },
                               [](const std::vector<std::string>& names) { return join(names, "/"); },
                               [](const auto& other) { return str(other); }},
                    value);
}

}  // namespace tc::options
