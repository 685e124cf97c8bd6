#include "tc/cache/derivation_prices.h"

#include <charconv>

#include "tc/base/plain_text.h"
#include "tc/base/str.h"
#include "tc/cache/cache.h"
#include "tc/cache/layout.h"
#include "tc/cache/sha256.h"

namespace tc::cache {
namespace {

constexpr std::string_view head = "derivation prices 2\n";

/// "seconds 4\n1e-5\n": a word, the length of a text, the text.
void put(TextStream& out, const char* word, const std::string& text) {
  out << word << " " << text.size() << "\n" << text << "\n";
}

/// Takes such fields, one after another.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}

  /// The text of the next field, if it is called \p word.
  std::optional<std::string> take(std::string_view word) {
    const auto end = rest_.find('\n');
    const auto space = rest_.find(' ');
    if (end == std::string_view::npos || space > end || rest_.substr(0, space) != word) return std::nullopt;
    std::size_t size = 0;
    const auto digits = rest_.substr(space + 1, end - space - 1);
    const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    if (error != std::errc() || last != digits.data() + digits.size()) return std::nullopt;
    if (rest_.size() - end - 1 <= size || rest_[end + 1 + size] != '\n') return std::nullopt;
    std::string text(rest_.substr(end + 1, size));
    rest_.remove_prefix(end + size + 2);
    return text;
  }
  template <typename Number>
  bool take(std::string_view word, Number& number) {
    const auto text = take(word);
    if (!text) return false;
    const auto [last, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    return error == std::errc() && last == text->data() + text->size();
  }
  bool take(std::string_view word, std::string& text) {
    auto found = take(word);
    if (found) text = std::move(*found);
    return found.has_value();
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

void put(TextStream& out, const DerivationKey& key) {
  put(out, "target", key.target);
  put(out, "libraries", key.libraries);
  put(out, "machine", key.where.machine);
  put(out, "threads", str(key.where.threads));
  for (const auto& name : key.constants) put(out, "constant", name);
  put(out, "program", key.program);
}

bool take(Fields& fields, DerivationKey& key) {
  if (!fields.take("target", key.target) || !fields.take("libraries", key.libraries) ||
      !fields.take("machine", key.where.machine) || !fields.take("threads", key.where.threads))
    return false;
  while (auto name = fields.take("constant")) key.constants.insert(std::move(*name));
  return fields.take("program", key.program);
}

}  // namespace

std::string to_string(const MeasuredDerivation& measured) {
  TextStream out;
  out << head;
  put(out, measured.key);
  put(out, "taken_at", str(measured.taken_at));
  put(out, "seconds", str(measured.seconds));
  for (const auto& other : measured.others) {
    put(out, "other", other.text);
    put(out, "seconds", str(other.seconds));
  }
  put(out, "certificate", measured.certificate);
  return out.str();
}

std::optional<MeasuredDerivation> parse_measured_derivation(const std::string& text) {
  if (!text.starts_with(head) || !is_plain_text(text)) return std::nullopt;
  Fields fields(std::string_view(text).substr(head.size()));
  MeasuredDerivation result;
  if (!take(fields, result.key) || !fields.take("taken_at", result.taken_at)) return std::nullopt;
  if (!fields.take("seconds", result.seconds)) return std::nullopt;
  while (auto other = fields.take("other")) {
    result.others.push_back({std::move(*other), 0});
    if (!fields.take("seconds", result.others.back().seconds)) return std::nullopt;
  }
  if (!fields.take("certificate", result.certificate) || !fields.empty()) return std::nullopt;
  return result;
}

std::string to_bytes(const MeasuredDerivation& measured) { return seal(Kind::Derivation, to_string(measured)); }

Fault parse(std::string_view bytes, MeasuredDerivation& measured) {
  const auto unsealed = unseal(Kind::Derivation, bytes);
  if (unsealed.fault != Fault::None) return unsealed.fault;
  auto parsed = parse_measured_derivation(std::string(unsealed.payload));
  if (!parsed) return Fault::Foreign;
  measured = std::move(*parsed);
  return Fault::None;
}

std::string derivation_name(const DerivationKey& key) {
  TextStream out;
  put(out, key);
  return str(hex(sha256(out.str())), derivation_suffix);
}

bool better(const MeasuredDerivation& a, const MeasuredDerivation& b) {
  return a.taken_at != b.taken_at ? a.taken_at > b.taken_at : to_string(a) < to_string(b);
}

std::optional<MeasuredDerivation> find_derivation(const Cache& cache, const DerivationKey& key) {
  for (const auto& folder : cache.folders()) {
    auto loaded = load_derivation(derivation_place(folder, derivation_name(key)));
    if (!loaded.problem.empty()) cache.warn(loaded.problem);
    if (loaded.fault == Fault::None && loaded.entry.key == key) return std::move(loaded.entry);
  }
  return std::nullopt;
}

bool keep_derivation(Cache& cache, MeasuredDerivation measured) {
  if (!cache.settings().writable || cache.settings().folder.empty()) return false;
  measured.taken_at = seconds_since_1970();
  const auto problem =
      keep(derivation_place(cache.settings().folder, derivation_name(measured.key)), to_bytes(measured));
  if (!problem.empty()) cache.warn(str("prices of derived programs are not kept: ", problem));
  Cache::options_changed();
  return problem.empty();
}

}  // namespace tc::cache
