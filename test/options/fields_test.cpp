#include "tc/options/fields.h"

#include <gtest/gtest.h>

#include <set>

#include "test/options/options_cases.h"

namespace tc::options {
namespace {

using google::protobuf::FieldDescriptor;

TEST(Fields, NamesOfAllPartsDiffer) {
  std::set<std::string> names(MappingOptions::names().begin(), MappingOptions::names().end());
  EXPECT_EQ(names.size(), fields().size());
  EXPECT_EQ(MappingOptions::names().size(), fields().size());
}

TEST(Fields, AreOfKindsWithATextForm) {
  for (const auto& field : fields()) {
    auto kind = field.field->cpp_type();
    bool number = kind == FieldDescriptor::CPPTYPE_INT64;
    bool text = kind == FieldDescriptor::CPPTYPE_STRING;
    bool known = number || text || kind == FieldDescriptor::CPPTYPE_BOOL || kind == FieldDescriptor::CPPTYPE_ENUM;
    EXPECT_TRUE(known && (number || text || !field.field->is_repeated())) << field.name();
    EXPECT_FALSE(must_be(field).empty()) << field.name();
    EXPECT_NE(must_be(field), " or ") << field.name();
  }
}

TEST(Fields, DefaultsObeyTheirRules) {
  for (const auto& field : fields()) {
    proto::MappingOptions message;
    EXPECT_NO_THROW(set_value(message, field, value_of(message, field))) << field.name();
  }
}

TEST(Fields, OfDefaultValueAreNotPresent) {
  std::mt19937 random(3);
  for (const auto& field : fields()) {
    proto::MappingOptions message;
    auto usual = value_of(message, field);
    for (int i = 0; i < 20; ++i) set_value(message, field, random_value(field, random));
    set_value(message, field, usual);
    EXPECT_FALSE(is_set(message, field)) << field.name();
    EXPECT_EQ(message.ByteSizeLong(), 0u) << field.name();
  }
}

}  // namespace
}  // namespace tc::options
