#include "tc/options/mapping_options.h"

#include <algorithm>
#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/options/fields.h"
#include "tc/options/wire.h"

namespace tc::options {
namespace {

/// The last component of an enumerator's name in C++: FUSION_PRESERVE3_COINCIDENT is Preserve3Coincident.
std::string cpp_enumerator(const google::protobuf::EnumValueDescriptor& value) {
  std::string result;
  bool upper = true;
  for (char c : value.name().substr(value.name().find('_') + 1)) {
    if (c != '_') result += static_cast<char>(upper ? c : std::tolower(c));
    upper = c == '_';
  }
  return result;
}

/// \p names, which are identifiers, in quotation marks.
std::string quoted(const std::vector<std::string>& names, char mark) {
  std::vector<std::string> parts;
  for (const auto& name : names) parts.push_back(str(mark, name, mark));
  return join(parts);
}

std::string cpp_literal(const Field& field, const OptionValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) return str("{", join(*numbers), "}");
  if (const auto* names = std::get_if<std::vector<std::string>>(&value)) return str("{", quoted(*names, '"'), "}");
  if (const auto* text = std::get_if<std::string>(&value); text && field.field->enum_type()) {
    const auto* type = field.field->enum_type();
    for (int i = 0; i < type->value_count(); ++i)
      if (type->value(i)->options().GetExtension(proto::text) == *text)
        return str("tc::options::", type->name(), "::", cpp_enumerator(*type->value(i)));
  }
  if (const auto* text = std::get_if<std::string>(&value)) return str('"', *text, '"');
  return text_of(value);
}

std::string python_literal(const OptionValue& value) {
  return std::visit(
      overloaded{[](bool flag) { return std::string(flag ? "True" : "False"); },
                 [](std::int64_t number) { return str(number); },
                 [](const std::string& text) { return str("'", text, "'"); },
                 [](const std::vector<std::int64_t>& numbers) { return str("[", join(numbers), "]"); },
                 [](const std::vector<std::string>& names) { return str("[", quoted(names, '\''), "]"); }},
      value);
}

std::string_view text_of(FusionStrategy fusion) {
  switch (fusion) {
    case FusionStrategy::Max:
      return "max";
    case FusionStrategy::Preserve3Coincident:
      return "preserve3";
    case FusionStrategy::Min:
      return "min";
  }
  throw OptionsError("mapping option 'fusion' is no FusionStrategy");
}

std::string_view text_of(Construction construct) {
  switch (construct) {
    case Construction::Checked:
      return "checked";
    case Construction::Rules:
      return "rules";
    case Construction::BestFirst:
      return "best_first";
    case Construction::Roller:
      return "roller";
    case Construction::Gensor:
      return "gensor";
    case Construction::GensorPrinted:
      return "gensor_printed";
    case Construction::BestFirstAlone:
      return "best_first!";
    case Construction::RollerAlone:
      return "roller!";
    case Construction::GensorAlone:
      return "gensor!";
  }
  throw OptionsError("mapping option 'construct' is no Construction");
}

/// The strategies that have names, and what they set: starting points for experiments on grids, without promotion, and
/// searches by prices.
struct Strategy {
  std::string_view name, text;
};
constexpr Strategy named_strategies[] = {
    {"naive", "tile=32x32x32,reduction_parts=1,grid=256x256,block=32x8,shared=0,registers=0,reduce_in_block=0"},
    {"single_thread", "tile=1,reduction_parts=1,grid=1,block=1,shared=0,registers=0,reduce_in_block=0"},
    {"pointwise",
     "tile=32x32x32,reduction_parts=1,grid=100x100x100,block=32x4x4,shared=0,registers=0,reduce_in_block=0,unroll_"
     "limit=128"},
    {"mlp", "fusion=max,tile=1,reduction_parts=1,grid=128,block=128,shared=0,registers=0,reduce_in_block=0"},
    {"conv", "tile=4x8x8x8,reduction_parts=1,grid=256x256x256,block=4x16x4,shared=0,registers=0,reduce_in_block=0"},
    {"group_conv", "tile=1x1,reduction_parts=1,grid=256x256,block=4x16x4,shared=0,registers=0,reduce_in_block=0"},
    {"construct", "construct=best_first"},
    {"construct:best_first", "construct=best_first"},
    {"construct:roller", "construct=roller"},
    {"construct:gensor", "construct=gensor"},
    {"construct:gensor_printed", "construct=gensor_printed"},
};

const std::string_view* strategy_text(std::string_view name) {
  for (const auto& strategy : named_strategies)
    if (strategy.name == name) return &strategy.text;
  return nullptr;
}

/// What \p print says of each option that is set, in the order of the schema.
template <typename Print>
std::vector<std::string> print_set(const proto::MappingOptions& message, Print&& print) {
  std::vector<std::string> parts;
  for (const auto& field : fields())
    if (is_set(message, field)) parts.push_back(print(field, value_of(message, field)));
  return parts;
}

}  // namespace

/// The message in normal form and what follows from it.
struct MappingOptions::State {
  explicit State(proto::MappingOptions m) : message(std::move(m)), plain(to_plain(message)), bytes(write(message)) {}
  proto::MappingOptions message;
  polyhedral::MappingOptions plain;
  std::string bytes;
};

MappingOptions::MappingOptions() {
  static const auto& defaults = *new auto(std::make_shared<const State>(proto::MappingOptions()));
  state_ = defaults;
}

MappingOptions::MappingOptions(std::shared_ptr<const State> state) : state_(std::move(state)) {}

MappingOptions MappingOptions::parse(std::string_view text) {
  proto::MappingOptions message;
  std::set<std::string_view> seen;
  if (auto word = text.substr(0, text.find(',')); strategy_text(word)) {
    message = named(word).state_->message;
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
    auto end = std::min(text.find(',', begin), text.size());
    auto part = text.substr(begin, end - begin);
    auto equals = std::min(part.find('='), part.size());
    const auto& field = find_field(part.substr(0, equals));
    if (equals == part.size())
      throw OptionsError(str("mapping option '", field.name(), "' has no value: write ", field.name(),
                             "=..., which must be ", options::must_be(field)));
    if (!seen.insert(field.name()).second)
      throw OptionsError(str("mapping option '", field.name(), "' is given twice"));
    set_value(message, field, std::string(part.substr(equals + 1)));
    begin = end + 1;
  }
  return MappingOptions(std::make_shared<const State>(std::move(message)));
}

MappingOptions MappingOptions::named(std::string_view strategy) {
  const auto* text = strategy_text(strategy);
  if (!text) throw OptionsError(str("no mapping strategy has this name; those that have one are ", join(strategies())));
  return parse(*text);
}

const std::vector<std::string>& MappingOptions::strategies() {
  static const auto& names = *new std::vector<std::string>([] {
    std::vector<std::string> result;
    for (const auto& strategy : named_strategies) result.emplace_back(strategy.name);
    return result;
  }());
  return names;
}

MappingOptions MappingOptions::from_bytes(std::string_view bytes) {
  return MappingOptions(std::make_shared<const State>(read(bytes)));
}

MappingOptions MappingOptions::with(std::string_view name, const OptionValue& value) const {
  auto message = state_->message;
  set_value(message, find_field(name), value);
  return MappingOptions(std::make_shared<const State>(std::move(message)));
}

MappingOptions MappingOptions::with_fusion(FusionStrategy fusion) const {
  return with("fusion", std::string(text_of(fusion)));
}
MappingOptions MappingOptions::with_construct(Construction construct) const {
  return with("construct", std::string(text_of(construct)));
}
MappingOptions MappingOptions::with_allow_skewing(bool allow) const { return with("allow_skewing", allow); }
MappingOptions MappingOptions::with_positive_orthant(bool positive) const { return with("positive_orthant", positive); }
MappingOptions MappingOptions::with_tile(std::vector<std::int64_t> sizes) const {
  return with("tile", std::move(sizes));
}
MappingOptions MappingOptions::with_promote(bool promote) const { return with("promote", promote); }
MappingOptions MappingOptions::with_quota(std::int64_t operations) const { return with("quota", operations); }
MappingOptions MappingOptions::with_parallel(bool parallel) const { return with("parallel", parallel); }
MappingOptions MappingOptions::with_vectorise(bool vectorise) const { return with("vectorise", vectorise); }

MappingOptions MappingOptions::with_promote_bytes(std::int64_t bytes) const { return with("promote_bytes", bytes); }
MappingOptions MappingOptions::with_vector_bytes(std::int64_t bytes) const { return with("vector_bytes", bytes); }
MappingOptions MappingOptions::with_register_tile(std::vector<std::int64_t> rows_and_columns) const {
  return with("register_tile", std::move(rows_and_columns));
}
MappingOptions MappingOptions::with_unroll(std::int64_t vectors) const { return with("unroll", vectors); }

MappingOptions MappingOptions::with_pack(bool pack) const { return with("pack", pack); }
MappingOptions MappingOptions::with_reduction_block(std::int64_t iterations) const {
  return with("reduction_block", iterations);
}
MappingOptions MappingOptions::with_prefetch(bool prefetch) const { return with("prefetch", prefetch); }
MappingOptions MappingOptions::with_prefetch_distance(std::int64_t iterations) const {
  return with("prefetch_distance", iterations);
}
MappingOptions MappingOptions::with_parallel_along(std::vector<std::string> iterators) const {
  return with("parallel_along", std::move(iterators));
}
MappingOptions MappingOptions::with_vector_along(std::vector<std::string> iterators) const {
  return with("vector_along", std::move(iterators));
}

MappingOptions MappingOptions::with_grid(std::vector<std::int64_t> blocks) const {
  return with("grid", std::move(blocks));
}
MappingOptions MappingOptions::with_block(std::vector<std::int64_t> threads) const {
  return with("block", std::move(threads));
}
MappingOptions MappingOptions::with_shared(bool shared) const { return with("shared", shared); }
MappingOptions MappingOptions::with_registers(bool registers) const { return with("registers", registers); }
MappingOptions MappingOptions::with_shared_bytes(std::int64_t bytes) const { return with("shared_bytes", bytes); }
MappingOptions MappingOptions::with_reduce_in_block(bool reduce) const { return with("reduce_in_block", reduce); }
MappingOptions MappingOptions::with_unroll_limit(std::int64_t iterations) const {
  return with("unroll_limit", iterations);
}
MappingOptions MappingOptions::with_cooperative(bool on) const { return with("cooperative", on); }
MappingOptions MappingOptions::with_gather_reuse(std::int64_t reads) const { return with("gather_reuse", reads); }

MappingOptions MappingOptions::with_reduction_parts(std::int64_t parts) const { return with("reduction_parts", parts); }
MappingOptions MappingOptions::with_batch_invariant(bool invariant) const { return with("batch_invariant", invariant); }

MappingOptions MappingOptions::with_nest(std::string line) const { return with("nest", std::move(line)); }

OptionValue MappingOptions::value(std::string_view name) const { return value_of(state_->message, find_field(name)); }

const std::vector<std::string>& MappingOptions::names() {
  static const auto& result = *new std::vector<std::string>([] {
    std::vector<std::string> names;
    for (const auto& field : fields()) names.push_back(field.name());
    return names;
  }());
  return result;
}

std::string MappingOptions::must_be(std::string_view name) { return options::must_be(find_field(name)); }

std::string MappingOptions::to_text() const {
  return join(print_set(state_->message,
                        [](const Field& field, const OptionValue& value) {
                          return str(field.name(), "=", options::text_of(value));
                        }),
              ",");
}

std::string MappingOptions::to_bytes() const { return state_->bytes; }

std::string MappingOptions::to_cpp() const {
  auto calls = print_set(state_->message, [](const Field& field, const OptionValue& value) {
    return str(".with_", field.name(), "(", cpp_literal(field, value), ")");
  });
  return "tc::options::MappingOptions()" + join(calls, "");
}

std::string MappingOptions::to_python() const {
  auto arguments = print_set(state_->message, [](const Field& field, const OptionValue& value) {
    return str(field.name(), "=", python_literal(value));
  });
  return str("MappingOptions(", join(arguments), ")");
}

Construction MappingOptions::construct() const {
  auto text = std::get<std::string>(value("construct"));
  for (auto construction : {Construction::Rules, Construction::BestFirst, Construction::Roller, Construction::Gensor,
                            Construction::GensorPrinted, Construction::BestFirstAlone, Construction::RollerAlone,
                            Construction::GensorAlone})
    if (text == text_of(construction)) return construction;
  return Construction::Checked;
}

const polyhedral::MappingOptions& MappingOptions::values() const { return state_->plain; }

bool MappingOptions::operator==(const MappingOptions& other) const { return state_->bytes == other.state_->bytes; }

std::size_t MappingOptions::hash() const { return std::hash<std::string>()(state_->bytes); }

}  // namespace tc::options
