#include "tc/cache/entry.h"

#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "tc/base/error.h"
#include "tc/base/plain_text.h"
#include "tc/base/str.h"
#include "tc/proto/cache_entry.pb.h"

namespace tc::cache {
namespace {

constexpr int most_tensors = 4096;
constexpr int most_rank = 64;
constexpr int most_sizes = 4096;

void write(const Key& key, proto::CacheKey& out) {
  out.set_program(key.program);
  out.set_target(key.target);
  if (!key.tools.empty()) out.set_tools(key.tools);
  for (const auto& tensor : key.tensors) {
    auto& item = *out.add_tensors();
    item.set_dtype(std::string(name(tensor.spec.dtype)));
    item.mutable_shape()->Add(tensor.spec.shape.begin(), tensor.spec.shape.end());
    item.mutable_strides()->Add(tensor.spec.strides.begin(), tensor.spec.strides.end());
    item.set_output(tensor.output);
    if (!tensor.aligned) item.set_unaligned(true);
  }
  for (const auto& size : key.sizes) {
    auto& item = *out.add_sizes();
    item.set_name(size.name);
    item.set_least(size.least);
    item.set_most(size.most);
  }
}

/// False for what is no key.
bool read(const proto::CacheKey& in, Key& key) {
  key.program = in.program();
  key.target = in.target();
  key.tools = in.tools();
  if (key.program.empty() || key.target.empty() || in.tensors_size() > most_tensors) return false;
  for (const auto& item : in.tensors()) {
    auto type = parse_dtype(item.dtype());
    if (!type || item.shape_size() > most_rank || item.shape_size() != item.strides_size()) return false;
    KeyTensor tensor;
    tensor.spec.dtype = *type;
    tensor.spec.shape.assign(item.shape().begin(), item.shape().end());
    tensor.spec.strides.assign(item.strides().begin(), item.strides().end());
    tensor.output = item.output();
    tensor.aligned = !item.unaligned();
    for (auto extent : tensor.spec.shape)
      if (extent < 0) return false;
    key.tensors.push_back(std::move(tensor));
  }
  if (in.sizes_size() > most_sizes) return false;
  for (const auto& item : in.sizes()) {
    if (item.name().empty() || item.least() < 1 || item.most() < item.least()) return false;
    key.sizes.push_back({item.name(), item.least(), item.most()});
  }
  return true;
}

void write(const Measurement& measured, proto::CacheMeasurement& out) {
  out.set_median_ns(measured.median_ns);
  out.set_least_ns(measured.least_ns);
  out.set_spread_ns(measured.spread_ns);
  out.set_runs(measured.runs);
  out.set_cold(measured.cold);
  out.set_checked(measured.checked);
  out.set_threads(measured.threads);
  out.set_machine(measured.machine);
  out.set_build(measured.build);
  out.set_taken_at(measured.taken_at);
}

/// False for times that no clock gives.
bool read(const proto::CacheMeasurement& in, Measurement& measured) {
  measured.median_ns = in.median_ns();
  measured.least_ns = in.least_ns();
  measured.spread_ns = in.spread_ns();
  measured.runs = in.runs();
  measured.cold = in.cold();
  measured.checked = in.checked();
  measured.threads = in.threads();
  measured.machine = in.machine();
  measured.build = in.build();
  measured.taken_at = in.taken_at();
  for (double time : {measured.median_ns, measured.least_ns, measured.spread_ns})
    if (!std::isfinite(time) || time < 0) return false;
  return measured.median_ns > 0;
}

/// \p payload as \p message.
template <typename Message>
Fault read_message(std::string_view payload, Message& message) {
  bool fits = payload.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (!fits || !message.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return Fault::Damaged;
  if (!message.has_schema_version()) return Fault::Damaged;
  return message.oldest_reader() > schema_version ? Fault::Foreign : Fault::None;
}

/// Are all texts of \p entry such that they can be shown?
bool is_plain(const OptionsEntry& entry) {
  bool plain = is_plain_text(entry.key.program) && is_plain_text(entry.key.target) && is_plain_text(entry.key.tools) &&
               is_plain_text(entry.note);
  return plain && (!entry.measured || (is_plain_text(entry.measured->machine) && is_plain_text(entry.measured->build)));
}

template <typename Message>
void write_version(Message& message) {
  message.set_schema_version(schema_version);
  message.set_oldest_reader(oldest_reader);
}

}  // namespace

Digest code_digest(const Key& key, const std::string& options, const std::string& source, const std::string& build) {
  auto id = digest(key);
  Encoder out("tc-code-1");
  out.put(std::string_view(reinterpret_cast<const char*>(id.data()), id.size())).put(options).put(source).put(build);
  return sha256(out.bytes());
}

Digest code_signature(std::string_view message, const Secret& secret) {
  return hmac_sha256(secret, str("tc-code-entry-1\n", message));
}

std::string to_bytes(const OptionsEntry& entry) {
  proto::OptionsEntry message;
  write_version(message);
  write(entry.key, *message.mutable_key());
  if (!message.mutable_options()->ParseFromString(entry.options.to_bytes()))
    throw InternalError("mapping options cannot be written to the cache");
  message.set_origin(entry.origin == Origin::Injected ? proto::CACHE_ORIGIN_INJECTED : proto::CACHE_ORIGIN_TUNED);
  if (entry.measured) write(*entry.measured, *message.mutable_measured());
  message.set_created_at(entry.created_at);
  if (!entry.note.empty()) message.set_note(entry.note);
  return seal(Kind::Options, message.SerializeAsString());
}

std::string to_bytes(const CodeEntry& entry, const Secret& secret) {
  proto::CodeEntry message;
  write_version(message);
  write(entry.key, *message.mutable_key());
  message.set_options(entry.options);
  message.set_source(entry.source);
  message.set_build(entry.build);
  message.set_generated(entry.generated);
  message.set_image(entry.image);
  for (const auto& stage : entry.verified_stages) message.mutable_certificate()->add_stages(stage);
  message.set_compile_milliseconds(entry.compile_milliseconds);
  message.set_created_at(entry.created_at);
  auto bytes = message.SerializeAsString();
  auto signature = code_signature(bytes, secret);
  return seal(Kind::Code, bytes.insert(0, reinterpret_cast<const char*>(signature.data()), signature.size()));
}

Fault parse(std::string_view bytes, OptionsEntry& entry) {
  proto::OptionsEntry message;
  auto unsealed = unseal(Kind::Options, bytes);
  if (unsealed.fault != Fault::None) return unsealed.fault;
  auto fault = read_message(unsealed.payload, message);
  if (fault != Fault::None) return fault;
  OptionsEntry result;
  if (!read(message.key(), result.key)) return Fault::Foreign;
  try {
    result.options = options::MappingOptions::from_bytes(message.options().SerializeAsString());
  } catch (const OptionsError&) {
    return Fault::Foreign;
  }
  if (!message.has_origin()) return Fault::Foreign;
  result.origin = message.origin() == proto::CACHE_ORIGIN_INJECTED ? Origin::Injected : Origin::Tuned;
  if (message.has_measured() && !read(message.measured(), result.measured.emplace())) return Fault::Foreign;
  result.created_at = message.created_at();
  result.note = message.note();
  if (!is_plain(result)) return Fault::Foreign;
  entry = std::move(result);
  return Fault::None;
}

Fault parse(std::string_view bytes, const Secret& secret, CodeEntry& entry) {
  proto::CodeEntry message;
  auto unsealed = unseal(Kind::Code, bytes);
  if (unsealed.fault != Fault::None) return unsealed.fault;
  Digest signature;
  if (unsealed.payload.size() < signature.size()) return Fault::Damaged;
  std::copy_n(unsealed.payload.begin(), signature.size(), signature.begin());
  auto payload = unsealed.payload.substr(signature.size());
  if (!equal_digests(signature, code_signature(payload, secret))) return Fault::Unauthentic;
  auto fault = read_message(payload, message);
  if (fault != Fault::None) return fault;
  CodeEntry result;
  if (!read(message.key(), result.key)) return Fault::Foreign;
  result.options = message.options();
  result.source = message.source();
  result.build = message.build();
  result.generated = message.generated();
  result.image = std::move(*message.mutable_image());
  for (const auto& stage : message.certificate().stages()) result.verified_stages.push_back(stage);
  result.compile_milliseconds = message.compile_milliseconds();
  result.created_at = message.created_at();
  entry = std::move(result);
  return Fault::None;
}

bool better(const OptionsEntry& a, const OptionsEntry& b) {
  auto rank = [](const OptionsEntry& entry) {
    bool injected = entry.origin == Origin::Injected;
    double time = entry.measured ? entry.measured->median_ns : std::numeric_limits<double>::infinity();
    auto age = ~entry.created_at;
    return std::tuple(injected ? 0 : 1, injected ? age : 0, time);
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return to_bytes(a) < to_bytes(b);
}

Circumstances circumstances_of(const OptionsEntry& entry) {
  if (!entry.measured) return {};
  return {entry.measured->machine, entry.measured->threads};
}

bool better(const OptionsEntry& a, const OptionsEntry& b, const Circumstances& here) {
  auto strangeness = [&](const OptionsEntry& entry) {
    if (entry.origin == Origin::Injected) return 0;
    auto there = circumstances_of(entry);
    bool same_machine = entry.measured && (here.machine.empty() || there.machine == here.machine);
    bool same_threads = here.threads == 0 || there.threads == here.threads;
    return same_machine && same_threads ? 1 : same_machine ? 2 : 3;
  };
  auto x = strangeness(a), y = strangeness(b);
  return x != y ? x < y : better(a, b);
}

}  // namespace tc::cache
