#include "tc/autotuner/search/genetic_search.h"

#include <algorithm>
#include <cmath>

#include "tc/autotuner/worker/message.h"
#include "tc/base/error.h"

namespace tc::autotuner {
namespace {

constexpr int tries = 200;
constexpr std::size_t fewest_parents = 3;

}  // namespace

std::size_t roulette(const std::vector<Individual>& parents, RandomSource& random) {
  double sum = 0;
  for (const auto& parent : parents) sum += 1 / parent.seconds;
  double left = random.unit() * sum;
  for (std::size_t i = 0; i + 1 < parents.size(); ++i) {
    left -= 1 / parents[i].seconds;
    if (left < 0) return i;
  }
  return parents.size() - 1;
}

GeneticSearch::GeneticSearch(const SearchSpace& space, std::uint64_t seed,
                             const std::vector<options::MappingOptions>& starts, const GeneticSettings& settings)
    : space_(space), random_(seed), starts_(starts), settings_(settings) {}

Choice GeneticSearch::child() {
  auto parent = [&]() -> const Choice& { return population_[roulette(population_, random_)].choice; };
  if (random_.unit() >= settings_.crossover_rate) return space_.mutated(parent(), settings_.mutation_rate, random_);
  const auto &a = parent(), &b = parent(), &c = parent();
  return space_.mutated(SearchSpace::crossed(a, b, c, random_), settings_.mutation_rate, random_);
}

std::vector<options::MappingOptions> GeneticSearch::ask(int count) {
  std::vector<options::MappingOptions> result;
  auto take = [&](const options::MappingOptions& options) {
    if (static_cast<int>(result.size()) < count && asked_.insert(options.to_text()).second) result.push_back(options);
  };
  for (const auto& start : starts_) take(start);
  if (population_.size() >= fewest_parents)
    for (int i = 0; i < tries && static_cast<int>(result.size()) < count; ++i)
      for (int k = 0; k < count; ++k) take(space_.options(child()));
  for (int i = 0; i < tries && static_cast<int>(result.size()) < count; ++i)
    for (int k = 0; k < count; ++k) take(space_.options(space_.random(random_)));
  return result;
}

void GeneticSearch::tell(const std::vector<Trial>& trials) {
  for (const auto& trial : trials) {
    asked_.insert(trial.options.to_text());
    if (std::isfinite(trial.seconds) && trial.seconds > 0)
      population_.push_back({space_.choice(trial.options), trial.seconds});
  }
  std::stable_sort(population_.begin(), population_.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  if (static_cast<int>(population_.size()) > settings_.population) population_.resize(settings_.population);
}

std::string GeneticSearch::state() const {
  Message asked(asked_.begin(), asked_.end()), population;
  for (const auto& individual : population_) {
    population.push_back(space_.options(individual.choice).to_text());
    population.push_back(exact_text(individual.seconds));
  }
  return encode({"genetic", random_.state(), encode(asked), encode(population)});
}

void GeneticSearch::restore(const std::string& state) {
  auto message = decode(state);
  auto random = random_;
  bool whole = message && message->size() == 4 && (*message)[0] == "genetic" && random.restore((*message)[1]);
  auto asked = whole ? decode((*message)[2]) : std::nullopt;
  auto population = whole ? decode((*message)[3]) : std::nullopt;
  if (!asked || !population || population->size() % 2 != 0) throw ArgumentError("this is no state of a genetic search");
  random_ = random;
  asked_ = {asked->begin(), asked->end()};
  population_.clear();
  for (std::size_t i = 0; i < population->size(); i += 2)
    population_.push_back(
        {space_.choice(options::MappingOptions::parse((*population)[i])), exact_number((*population)[i + 1])});
}

}  // namespace tc::autotuner
