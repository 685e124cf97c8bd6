#include "tc/autotuner/search/random_search.h"

#include "tc/autotuner/worker/message.h"
#include "tc/base/error.h"

namespace tc::autotuner {
namespace {

constexpr int tries = 1000;

}  // namespace

RandomSearch::RandomSearch(const SearchSpace& space, std::uint64_t seed,
                           const std::vector<options::MappingOptions>& starts)
    : space_(space), random_(seed), starts_(starts) {}

std::vector<options::MappingOptions> RandomSearch::ask(int count) {
  std::vector<options::MappingOptions> result;
  auto take = [&](const options::MappingOptions& options) {
    if (static_cast<int>(result.size()) < count && asked_.insert(options.to_text()).second) result.push_back(options);
  };
  for (const auto& start : starts_) take(start);
  for (int i = 0; i < tries && static_cast<int>(result.size()) < count; ++i)
    for (int k = 0; k < count; ++k) take(space_.options(space_.random(random_)));
  return result;
}

void RandomSearch::tell(const std::vector<Trial>& trials) {
  for (const auto& trial : trials) asked_.insert(trial.options.to_text());
}

std::string RandomSearch::state() const {
  Message message{"random", random_.state()};
  message.insert(message.end(), asked_.begin(), asked_.end());
  return encode(message);
}

void RandomSearch::restore(const std::string& state) {
  auto message = decode(state);
  auto random = random_;
  if (!message || message->size() < 2 || (*message)[0] != "random" || !random.restore((*message)[1]))
    throw ArgumentError("this is no state of a random search");
  random_ = random;
  asked_ = {message->begin() + 2, message->end()};
}

}  // namespace tc::autotuner
