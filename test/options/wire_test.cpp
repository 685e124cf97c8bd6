#include "tc/options/wire.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::options {
namespace {

/// Bytes written by the library of schema \p version.
std::string written_by(std::uint32_t version, std::uint32_t oldest, proto::MappingOptions message) {
  message.set_schema_version(version);
  message.set_oldest_reader(oldest);
  return message.SerializeAsString();
}

proto::MappingOptions with_unknown_fields() {
  proto::MappingOptions message;
  message.mutable_generic()->set_promote(false);
  message.mutable_cpu()->GetReflection()->MutableUnknownFields(message.mutable_cpu())->AddVarint(57, 4);
  message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(99, "other machine");
  return message;
}

std::string message_of(const std::string& bytes) {
  try {
    MappingOptions::from_bytes(bytes);
  } catch (const OptionsError& error) {
    return error.what();
  }
  return "";
}

TEST(Wire, BytesCarryTheVersionAndNothingThatIsDefault) {
  proto::MappingOptions message;
  ASSERT_TRUE(message.ParseFromString(MappingOptions().to_bytes()));
  EXPECT_EQ(message.schema_version(), schema_version);
  EXPECT_EQ(message.oldest_reader(), oldest_reader);
  EXPECT_FALSE(message.has_generic());
  EXPECT_FALSE(message.has_cpu());
}

TEST(Wire, DefaultsGivenOutrightAreNormalised) {
  proto::MappingOptions message;
  message.mutable_generic()->set_promote(true);
  message.mutable_cpu();
  EXPECT_EQ(MappingOptions::from_bytes(written_by(schema_version, 1, message)), MappingOptions());
}

TEST(Wire, WhatANewerLibraryAddedIsKeptAndIgnored) {
  auto bytes = written_by(schema_version + 1, schema_version, with_unknown_fields());
  auto options = MappingOptions::from_bytes(bytes);
  EXPECT_EQ(options.to_text(), "promote=0");
  EXPECT_EQ(options.to_bytes(), bytes);
  EXPECT_NE(options, MappingOptions().with_promote(false));
  proto::MappingOptions changed;
  ASSERT_TRUE(changed.ParseFromString(options.with_promote(true).with_parallel(false).to_bytes()));
  EXPECT_EQ(changed.schema_version(), schema_version + 1);
  EXPECT_EQ(changed.GetReflection()->GetUnknownFields(changed).field_count(), 1);
  EXPECT_EQ(changed.cpu().GetReflection()->GetUnknownFields(changed.cpu()).field(0).varint(), 4u);
  EXPECT_FALSE(changed.cpu().parallel());
}

TEST(Wire, ANewerLibraryThatAddedNothingWritesTheSameOptions) {
  proto::MappingOptions message;
  message.mutable_generic()->set_quota(5);
  EXPECT_EQ(MappingOptions::from_bytes(written_by(schema_version + 3, 1, message)), MappingOptions().with_quota(5));
}

TEST(Wire, RefusesWhatItCannotUnderstand) {
  auto ours = str("schema ", schema_version);
  EXPECT_EQ(message_of("\x0a"), "these bytes are not mapping options");
  EXPECT_EQ(message_of(""), "these bytes are not mapping options: they have no schema version");
  EXPECT_EQ(message_of(written_by(schema_version, 1, with_unknown_fields())),
            str("these bytes are not mapping options of ", ours, ": it has no field 99"));
  auto inner = with_unknown_fields();
  inner.GetReflection()->MutableUnknownFields(&inner)->Clear();
  EXPECT_EQ(message_of(written_by(schema_version, 1, inner)),
            str("these bytes are not mapping options of ", ours, ": it has no field 57 of cpu"));
  EXPECT_EQ(
      message_of(written_by(9, 8, {})),
      str("these mapping options are of schema 9, which needs a library of schema 8 or newer; this one is of ", ours));
}

TEST(Wire, ValidatesWhatBytesHold) {
  proto::MappingOptions message;
  message.mutable_generic()->add_tile(-3);
  EXPECT_EQ(message_of(written_by(schema_version, 1, message)).substr(0, 34), "mapping option 'tile=-3': must be ");
  message.mutable_generic()->clear_tile();
  message.mutable_generic()->set_quota(-1);
  EXPECT_NE(message_of(written_by(schema_version, 1, message)).find("'quota=-1'"), std::string::npos);
}

}  // namespace
}  // namespace tc::options
