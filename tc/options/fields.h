#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tc/options/mapping_options.h"
#include "tc/proto/mapping_options.pb.h"

/// The options of the schema by name, through protobuf's reflection. Included by sources of this folder only.
namespace tc::options {

/// One option: a field of a part of proto::MappingOptions.
struct Field {
  const google::protobuf::FieldDescriptor* part = nullptr;  ///< of the message: generic, cpu
  const google::protobuf::FieldDescriptor* field = nullptr;

  /// As users write it.
  const std::string& name() const { return field->name(); }
};

/// All options, in the order of the schema.
const std::vector<Field>& fields();
/// Throws OptionsError that lists the options if there is none called \p name.
const Field& find_field(std::string_view name);
/// What \p field may be, for messages.
std::string must_be(const Field& field);

/// The value of \p field, its default where it is not set; an enumeration as text.
OptionValue value_of(const proto::MappingOptions& message, const Field& field);
/// Sets \p field, or clears it for its default. Throws OptionsError for what it may not be.
void set_value(proto::MappingOptions& message, const Field& field, const OptionValue& value);
bool is_set(const proto::MappingOptions& message, const Field& field);

/// \p value in the text form: "1", "32x32", "max".
std::string text_of(const OptionValue& value);

}  // namespace tc::options
