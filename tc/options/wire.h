#pragma once

#include <string>
#include <string_view>

#include "tc/options/mapping_options.h"
#include "tc/proto/mapping_options.pb.h"

/// Bytes and messages. Included by sources of this folder only.
namespace tc::options {

/// Of tc/proto/mapping_options.proto, and the oldest version whose library understands what this one writes.
constexpr std::uint32_t schema_version = 5;
constexpr std::uint32_t oldest_reader = 1;

/// The bytes of \p message. Its version is this library's, or the newer one it was read with where it has fields that
/// only the newer one knows.
std::string write(const proto::MappingOptions& message);

/// The inverse of write, in normal form: nothing that equals its default is present. Throws OptionsError for bytes
/// that are no options, that need a newer library, or that hold what a field may not be.
proto::MappingOptions read(std::string_view bytes);

/// The options as the passes take them.
polyhedral::MappingOptions to_plain(const proto::MappingOptions& message);

}  // namespace tc::options
