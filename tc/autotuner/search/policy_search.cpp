#include "tc/autotuner/search/policy_search.h"

#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"

namespace tc::autotuner {
namespace {

/// Times that a policy is asked for one generation: all that it proposes may have been asked for before.
constexpr int times_asked = 20;

constexpr const char* no_state = "this is no state of a search by a policy";

}  // namespace

PolicySearch::PolicySearch(std::function<Policy()> make, std::vector<options::MappingOptions> starts)
    : make_(std::move(make)), starts_(std::move(starts)), policy_(make_()) {}

std::vector<options::MappingOptions> PolicySearch::ask(int count) {
  std::vector<options::MappingOptions> result;
  const auto missing = [&] { return count - static_cast<int>(result.size()); };
  const auto take = [&](const options::MappingOptions& options) {
    if (missing() > 0 && asked_.insert(options.to_text()).second) result.push_back(options);
  };
  for (const auto& start : starts_) take(start);
  for (int i = 0; i < times_asked && missing() > 0; ++i) {
    const auto proposed = policy_.ask(missing());
    if (proposed.empty()) break;
    for (const auto& options : proposed) take(options);
  }
  Message call{"ask", str(count)};
  for (const auto& options : result) call.push_back(options.to_text());
  calls_.push_back(encode(call));
  return result;
}

void PolicySearch::tell(const std::vector<Trial>& trials) {
  Message call{"tell"};
  for (const auto& [options, seconds] : trials) {
    asked_.insert(options.to_text());
    call.push_back(options.to_text());
    call.push_back(exact_text(seconds));
  }
  calls_.push_back(encode(call));
  policy_.tell(trials);
}

std::string PolicySearch::state() const {
  Message starts;
  for (const auto& start : starts_) starts.push_back(start.to_text());
  return encode({"policy", encode(starts), encode(calls_)});
}

void PolicySearch::repeat(const Message& call) {
  if (call.size() >= 2 && call.front() == "ask") {
    const Message before(call.begin() + 2, call.end());
    Message now;
    for (const auto& options : ask(static_cast<int>(whole_number(call[1])))) now.push_back(options.to_text());
    if (now != before) throw ArgumentError("the policy proposes other candidates than when the checkpoint was written");
    return;
  }
  if (call.empty() || call.front() != "tell" || call.size() % 2 != 1) throw ArgumentError(no_state);
  std::vector<Trial> trials;
  for (std::size_t i = 1; i < call.size(); i += 2)
    trials.push_back({options::MappingOptions::parse(call[i]), exact_number(call[i + 1])});
  tell(trials);
}

void PolicySearch::restore(const std::string& state) {
  const auto message = decode(state);
  const bool whole = message && message->size() == 3 && message->front() == "policy";
  const auto starts = whole ? decode((*message)[1]) : std::nullopt,
             calls = whole ? decode((*message)[2]) : std::nullopt;
  if (!starts || !calls) throw ArgumentError(no_state);
  std::vector<options::MappingOptions> begun;
  for (const auto& start : *starts) begun.push_back(options::MappingOptions::parse(start));
  PolicySearch other(make_, std::move(begun));
  for (const auto& call : *calls) other.repeat(decode(call).value_or(Message()));
  for (const auto& start : starts_)
    if (!contains(other.starts_, start)) other.starts_.push_back(start);
  *this = std::move(other);
}

}  // namespace tc::autotuner
