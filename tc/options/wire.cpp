#include "tc/options/wire.h"

#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <limits>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/options/fields.h"

namespace tc::options {
namespace {

const google::protobuf::UnknownFieldSet& unknown_fields(const google::protobuf::Message& message) {
  return message.GetReflection()->GetUnknownFields(message);
}

/// The first number in \p message or its parts that this schema does not know, "" for none: "57 of cpu".
std::string unknown_field(const proto::MappingOptions& message) {
  auto first = [](const google::protobuf::Message& part, const char* where) {
    const auto& fields = unknown_fields(part);
    return fields.empty() ? std::string() : str(fields.field(0).number(), where);
  };
  auto found = first(message, "");
  if (found.empty()) found = first(message.generic(), " of generic");
  if (found.empty()) found = first(message.cpu(), " of cpu");
  return found.empty() ? first(message.grid_of_threads(), " of grid_of_threads") : found;
}

void check_version(const proto::MappingOptions& message) {
  if (!message.has_schema_version())
    throw OptionsError("these bytes are not mapping options: they have no schema version");
  if (message.oldest_reader() > schema_version)
    throw OptionsError(str("these mapping options are of schema ", message.schema_version(),
                           ", which needs a library of schema ", message.oldest_reader(),
                           " or newer; this one is of schema ", schema_version));
  auto unknown = unknown_field(message);
  if (message.schema_version() <= schema_version && !unknown.empty())
    throw OptionsError(
        str("these bytes are not mapping options of schema ", message.schema_version(), ": it has no field ", unknown));
}

FusionStrategy to_plain(proto::FusionStrategy fusion) {
  switch (fusion) {
    case proto::FUSION_MAX:
      return FusionStrategy::Max;
    case proto::FUSION_PRESERVE3_COINCIDENT:
      return FusionStrategy::Preserve3Coincident;
    case proto::FUSION_MIN:
      return FusionStrategy::Min;
  }
  throw InternalError("a fusion strategy without a meaning");
}

}  // namespace

std::string write(const proto::MappingOptions& message) {
  auto versioned = message;
  versioned.set_schema_version(std::max(message.schema_version(), schema_version));
  versioned.set_oldest_reader(std::max(message.oldest_reader(), oldest_reader));
  return versioned.SerializeAsString();
}

proto::MappingOptions read(std::string_view bytes) {
  proto::MappingOptions message;
  bool fits = bytes.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (!fits || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw OptionsError("these bytes are not mapping options");
  check_version(message);
  for (const auto& name : MappingOptions::names()) {
    const auto& field = find_field(name);
    set_value(message, field, value_of(message, field));
  }
  if (unknown_field(message).empty()) {
    message.clear_schema_version();
    message.clear_oldest_reader();
  }
  return message;
}

polyhedral::MappingOptions to_plain(const proto::MappingOptions& message) {
  const auto& generic = message.generic();
  const auto& cpu = message.cpu();
  polyhedral::MappingOptions plain;
  plain.fusion = to_plain(generic.fusion());
  plain.allow_skewing = generic.allow_skewing();
  plain.positive_orthant = generic.positive_orthant();
  plain.tile.assign(generic.tile().begin(), generic.tile().end());
  plain.promote = generic.promote();
  plain.quota = static_cast<unsigned long>(generic.quota());
  plain.promote_bytes = generic.promote_bytes();
  plain.reduction_parts = generic.reduction_parts();
  plain.batch_invariant = generic.batch_invariant();
  plain.nest = generic.nest();
  plain.parallel = cpu.parallel();
  plain.vectorise = cpu.vectorise();
  plain.vector_bytes = cpu.vector_bytes();
  plain.register_tile.assign(cpu.register_tile().begin(), cpu.register_tile().end());
  plain.unroll = cpu.unroll();
  plain.pack = cpu.pack();
  plain.reduction_block = cpu.reduction_block();
  plain.prefetch = cpu.prefetch();
  plain.prefetch_distance = cpu.prefetch_distance();
  plain.parallel_along.assign(cpu.parallel_along().begin(), cpu.parallel_along().end());
  plain.vector_along.assign(cpu.vector_along().begin(), cpu.vector_along().end());
  const auto& grid = message.grid_of_threads();
  plain.grid.assign(grid.grid().begin(), grid.grid().end());
  plain.block.assign(grid.block().begin(), grid.block().end());
  plain.shared = grid.shared();
  plain.registers = grid.registers();
  plain.shared_bytes = grid.shared_bytes();
  plain.reduce_in_block = grid.reduce_in_block();
  plain.unroll_limit = grid.unroll_limit();
  plain.cooperative = grid.cooperative();
  plain.gather_reuse = grid.gather_reuse();
  return plain;
}

}  // namespace tc::options
