#include "tc/autotuner/search/price_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tc/autotuner/search/ridge.h"
#include "tc/autotuner/worker/message.h"
#include "tc/base/error.h"

namespace tc::autotuner {
namespace {

/// Nests whose prices and terms differ less are measured as one, as long as there are others: of neighbours whose price
/// is the same, one tells about all.
constexpr double least_distance = 0.02;
/// Of each batch, one in so many is as unlike what was measured as any whose cost is at most `affordable` times the least:
/// a price that is wrong about a kind of nests is told so.
constexpr int explored = 4;
constexpr double affordable = 1.5;

bool is_useful(double seconds) { return std::isfinite(seconds) && seconds > 0; }

}  // namespace

std::vector<double> corrected_by_ridge(const std::vector<PriceSearch::Known>& pool) {
  Ridge correction(pool.empty() ? 0 : pool.front().candidate.terms.size());
  double sum = 0, samples = 0;
  const auto factor = [](const auto& known) { return std::log(known.seconds / known.candidate.seconds); };
  for (const auto& known : pool)
    if (known.seconds > 0) sum += factor(known), samples += 1;
  const auto mean = samples > 0 ? sum / samples : 0;
  for (const auto& known : pool)
    if (known.seconds > 0) correction.learn(known.candidate.terms, factor(known) - mean);
  std::vector<double> result;
  for (const auto& [candidate, asked, seconds] : pool)
    result.push_back(candidate.seconds * std::exp(mean + correction.value(candidate.terms)));
  return result;
}

PriceSearch::PriceSearch(Propose propose, std::vector<options::MappingOptions> starts, Correct correct)
    : propose_(std::move(propose)),
      correct_(correct ? std::move(correct) : corrected_by_ridge),
      starts_(std::move(starts)) {}

/// Nests near the fastest options join the pool. The first of them is what these options choose.
void PriceSearch::grow() {
  centre_ = best_.to_text();
  bool is_centre = true;
  for (auto& candidate : propose_(best_)) {
    const auto is_it = [&](const Known& known) { return known.candidate.options == candidate.options; };
    const auto told = told_.find(is_centre ? centre_ : candidate.options.to_text());
    const bool is_known = told != told_.end();
    if (std::none_of(pool_.begin(), pool_.end(), is_it))
      pool_.push_back({std::move(candidate), is_known, is_known ? told->second : 0});
    is_centre = false;
  }
}

/// How differently the prices of two nests are made up.
double PriceSearch::distance(const Known& a, const Known& b) const {
  auto result = std::abs(std::log(a.candidate.seconds / b.candidate.seconds));
  for (std::size_t i = 0; i < a.candidate.terms.size(); ++i)
    result = std::max(result, std::abs(a.candidate.terms[i] - b.candidate.terms[i]));
  return result;
}

/// The distance of \p known to what was asked for before, or is \p taken.
double PriceSearch::novelty(const Known& known, const std::vector<std::size_t>& taken) const {
  double result = std::numeric_limits<double>::infinity();
  for (const auto& other : pool_)
    if (other.asked) result = std::min(result, distance(known, other));
  for (auto i : taken) result = std::min(result, distance(known, pool_[i]));
  return result;
}

/// The positions of the \p count nests of the pool to measure next.
std::vector<std::size_t> PriceSearch::next(int count) const {
  const auto cost = correct_(pool_);
  std::vector<std::size_t> order, taken;
  for (std::size_t i = 0; i < pool_.size(); ++i)
    if (!pool_[i].asked) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return cost[a] < cost[b]; });
  while (static_cast<int>(taken.size()) < count && !order.empty()) {
    const bool explores = static_cast<int>(taken.size()) % explored == explored - 1;
    auto chosen = order.begin();
    double most = -1;
    for (auto each = order.begin(); each != order.end() && cost[*each] <= affordable * cost[order.front()]; ++each) {
      const auto own = novelty(pool_[*each], taken);
      if (explores ? own > most : own >= least_distance) {
        most = own;
        chosen = each;
        if (!explores) break;
      }
    }
    taken.push_back(*chosen);
    order.erase(chosen);
  }
  return taken;
}

std::vector<options::MappingOptions> PriceSearch::ask(int count) {
  std::vector<options::MappingOptions> result;
  for (const auto& start : starts_)
    if (static_cast<int>(result.size()) < count && told_.emplace(start.to_text(), 0).second) result.push_back(start);
  if (static_cast<int>(result.size()) == count) return result;
  if (centre_ != best_.to_text()) grow();
  for (auto i : next(count - static_cast<int>(result.size()))) {
    pool_[i].asked = true;
    told_.emplace(pool_[i].candidate.options.to_text(), 0);
    result.push_back(pool_[i].candidate.options);
  }
  return result;
}

void PriceSearch::tell(const std::vector<Trial>& trials) {
  for (const auto& [options, seconds] : trials) {
    const auto used = is_useful(seconds) ? seconds : 0;
    told_[options.to_text()] = used;
    for (auto& known : pool_)
      if (known.candidate.options == options) {
        known.asked = true;
        known.seconds = used;
      }
    if (used > 0 && (best_seconds_ == 0 || used < best_seconds_)) {
      best_seconds_ = used;
      best_ = options;
    }
  }
}

double PriceSearch::predicted(const options::MappingOptions& options) const {
  for (const auto& known : pool_)
    if (known.candidate.options == options) return known.candidate.seconds;
  return 0;
}

std::string PriceSearch::state() const {
  Message told, pool;
  for (const auto& [options, seconds] : told_) {
    told.push_back(options);
    told.push_back(exact_text(seconds));
  }
  for (const auto& known : pool_) {
    Message terms;
    for (auto term : known.candidate.terms) terms.push_back(exact_text(term));
    for (auto& part : Message{known.candidate.options.to_text(), exact_text(known.candidate.seconds), encode(terms),
                              known.asked ? "asked" : "", exact_text(known.seconds)})
      pool.push_back(std::move(part));
  }
  return encode({"price", encode(told), encode(pool), centre_, best_.to_text(), exact_text(best_seconds_)});
}

void PriceSearch::restore(const std::string& state) {
  constexpr std::size_t parts = 5;  // of a nest in the pool
  const auto message = decode(state);
  const bool whole = message && message->size() == 6 && message->front() == "price";
  const auto told = whole ? decode((*message)[1]) : std::nullopt, pool = whole ? decode((*message)[2]) : std::nullopt;
  if (!told || !pool || told->size() % 2 != 0 || pool->size() % parts != 0)
    throw ArgumentError("this is no state of a search by price");
  told_.clear();
  pool_.clear();
  for (std::size_t i = 0; i < told->size(); i += 2) told_[(*told)[i]] = exact_number((*told)[i + 1]);
  for (std::size_t i = 0; i < pool->size(); i += parts) {
    Known known{{options::MappingOptions::parse((*pool)[i]), exact_number((*pool)[i + 1]), {}},
                !(*pool)[i + 3].empty(),
                exact_number((*pool)[i + 4])};
    const auto terms = decode((*pool)[i + 2]).value_or(Message());
    for (const auto& term : terms) known.candidate.terms.push_back(exact_number(term));
    pool_.push_back(std::move(known));
  }
  centre_ = (*message)[3];
  best_ = options::MappingOptions::parse((*message)[4]);
  best_seconds_ = exact_number((*message)[5]);
}

}  // namespace tc::autotuner
