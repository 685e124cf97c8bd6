#include "tc/autotuner/checkpoint.h"

#include "tc/autotuner/worker/message.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cache/file_io.h"
#include "tc/cache/sha256.h"

namespace tc::autotuner {
namespace {

constexpr const char* title = "tc_autotune checkpoint 2";
constexpr std::uint64_t most_bytes = std::uint64_t(1) << 30;

std::string digest(const std::string& body) { return cache::hex(cache::sha256(body)); }

/// The first bytes of all checkpoints, whatever their version.
std::string title_head() { return encode({title}).substr(0, encode({title}).size() - 1); }

bool is_checkpoint(std::string_view head) { return head == title_head(); }

Message message_of(const Candidate& candidate) {
  return {candidate.options.to_text(),  name(candidate.status),   exact_text(candidate.seconds),
          exact_text(candidate.spread), candidate.code,           candidate.note,
          str(candidate.generation),    exact_text(candidate.at), exact_text(candidate.predicted),
          str(candidate.device)};
}

std::optional<Candidate> parse_candidate(const std::string& bytes) {
  auto fields = decode(bytes);
  if (!fields || fields->size() != 10) return std::nullopt;
  const auto& f = *fields;
  Candidate result;
  result.options = options::MappingOptions::parse(f[0]);
  result.status = parse_status(f[1]);
  result.seconds = exact_number(f[2]);
  result.spread = exact_number(f[3]);
  result.code = f[4];
  result.note = f[5];
  result.generation = static_cast<int>(whole_number(f[6]));
  result.at = exact_number(f[7]);
  result.predicted = exact_number(f[8]);
  result.device = static_cast<int>(whole_number(f[9]));
  return result;
}

std::optional<Checkpoint> parse(const std::string& body) {
  auto fields = decode(body);
  if (!fields || fields->size() != 5) return std::nullopt;
  const auto& f = *fields;
  Checkpoint result{f[0], f[1], exact_number(f[2]), static_cast<int>(whole_number(f[3])), {}};
  auto candidates = decode(f[4]);
  if (!candidates) return std::nullopt;
  for (const auto& bytes : *candidates) {
    auto candidate = parse_candidate(bytes);
    if (!candidate) return std::nullopt;
    result.candidates.push_back(std::move(*candidate));
  }
  return result;
}

}  // namespace

void save(const Checkpoint& checkpoint, const std::string& file) {
  Message candidates;
  for (const auto& candidate : checkpoint.candidates) candidates.push_back(encode(message_of(candidate)));
  auto body = encode({checkpoint.identity, checkpoint.search, exact_text(checkpoint.elapsed),
                      str(checkpoint.generation), encode(candidates)});
  auto problem = cache::replace_file(file, encode({title, digest(body), body}), title_head().size(), is_checkpoint);
  if (!problem.empty()) throw ResourceError(str("the checkpoint '", file, "' cannot be written: ", problem));
}

std::optional<Checkpoint> load_checkpoint(const std::string& file) {
  auto read = cache::read_file(file, {most_bytes});
  auto fields = decode(read.bytes);
  if (!fields || fields->size() != 3 || (*fields)[0] != title || digest((*fields)[2]) != (*fields)[1])
    return std::nullopt;
  try {
    return parse((*fields)[2]);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace tc::autotuner
