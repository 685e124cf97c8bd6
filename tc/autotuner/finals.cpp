#include "tc/autotuner/finals.h"

#include <algorithm>
#include <optional>
#include <set>

#include "tc/autotuner/contest.h"
#include "tc/autotuner/worker/jobs.h"
#include "tc/autotuner/worker/statistics.h"
#include "tc/base/str.h"

namespace tc::autotuner {
namespace {

constexpr double runs_of_a_finalist = 7;  ///< long ones, in finals of the least rounds
constexpr double runs_of_a_rematch = 8;   ///< the same
constexpr int most_rematches = 5, least_rematches = 3;
constexpr double first_share = 0.5;  ///< of the seconds for measuring, before the rematches

struct Entrant {
  Candidate candidate;
  std::string image;
  Timings timings = {};
};

/// The candidates with times of their own beside the default options, by time.
std::vector<const Candidate*> by_time(const std::vector<Candidate>& candidates) {
  std::vector<const Candidate*> timed;
  for (const auto& candidate : candidates)
    if (candidate.status == Status::Ok && candidate.generation > 0) timed.push_back(&candidate);
  std::stable_sort(timed.begin(), timed.end(), [](auto a, auto b) { return a->seconds < b->seconds; });
  return timed;
}

/// The candidate with \p options, null for none.
const Candidate* find(const std::vector<Candidate>& candidates, const options::MappingOptions& options) {
  for (const auto& candidate : candidates)
    if (candidate.options == options) return &candidate;
  return nullptr;
}

/// The incumbent, if it is not the default options and has not failed; it may not have been tried.
std::optional<Candidate> incumbent_of(const std::vector<Candidate>& candidates,
                                      const std::optional<options::MappingOptions>& incumbent) {
  if (!incumbent || *incumbent == options::MappingOptions()) return std::nullopt;
  if (const auto* tried = find(candidates, *incumbent))
    return tried->usable() || tried->status == Status::Slow ? std::optional(*tried) : std::nullopt;
  Candidate untried;
  untried.options = *incumbent;
  untried.status = Status::Ok;
  return untried;
}

/// The default options, the incumbent, then the fastest candidates of different code. Of these there are fewer where
/// runs are long.
std::vector<Entrant> entrants(const std::vector<Candidate>& candidates, const FinalSettings& settings) {
  std::vector<Entrant> result{{candidates.front(), ""}};
  if (auto incumbent = incumbent_of(candidates, settings.incumbent)) result.push_back({*incumbent, ""});
  std::set<std::string> codes;
  double left = settings.time;
  for (const auto& entrant : result) {
    codes.insert(entrant.candidate.code);
    left -= runs_of_a_finalist * entrant.candidate.seconds;
  }
  int places = settings.finalists;
  for (const auto* candidate : by_time(candidates)) {
    if (places <= 0 || (places < settings.finalists && left < runs_of_a_finalist * candidate->seconds)) break;
    if (!codes.insert(candidate->code).second) continue;
    result.push_back({*candidate, ""});
    left -= runs_of_a_finalist * candidate->seconds;
    --places;
  }
  for (auto& entrant : result) entrant.image = settings.image(entrant.candidate);
  return result;
}

/// Fills the images that \p entrants lack; returns whether it was not stopped.
bool compile(Workers& workers, std::vector<Entrant>& entrants, const FinalSettings& settings) {
  std::vector<Message> jobs;
  std::vector<Entrant*> without;
  for (auto& entrant : entrants) {
    if (!entrant.image.empty()) continue;
    jobs.push_back(entrant.candidate.compile_job());
    without.push_back(&entrant);
  }
  auto done = [&](std::size_t i, const Message& reply, int) {
    if (reply.front() == name(Status::Ok) && reply.size() == 3) without[i]->image = reply[1];
  };
  auto places = std::vector<int>(static_cast<std::size_t>(settings.compilers), no_gpu);
  return workers.run(jobs, settings.compile, places, done, settings.stop);
}

/// Measures \p entrants in turns in one process for \p seconds; nothing where that failed.
std::optional<std::vector<Timings>> compare(Workers& workers, const std::vector<const Entrant*>& entrants,
                                            double seconds, std::uint64_t seed, const FinalSettings& settings) {
  Message job{"compare", exact_text(seconds), str(seed)};
  for (const auto* entrant : entrants) job.push_back(entrant->image);
  auto reply = workers.run(job, settings.limits, settings.device, settings.stop);
  if (!reply || reply->front() != name(Status::Ok) || reply->size() != entrants.size() + 1) return std::nullopt;
  std::vector<Timings> result;
  for (std::size_t i = 0; i < entrants.size(); ++i) result.push_back(timings_of((*reply)[i + 1]));
  return result;
}

/// Measures all with the default options; where that fails, each alone with them, until one has been measured. Returns
/// whether it was not stopped.
bool measure(Workers& workers, std::vector<Entrant>& entrants, const FinalSettings& settings) {
  const auto have_measured = [&](const std::vector<Entrant*>& some) {
    auto timings = compare(workers, {some.begin(), some.end()}, settings.seconds * first_share, 0, settings);
    for (std::size_t i = 0; timings && i < some.size(); ++i) some[i]->timings = std::move((*timings)[i]);
    return timings.has_value();
  };
  std::vector<Entrant*> all;
  for (auto& entrant : entrants)
    if (!entrant.image.empty()) all.push_back(&entrant);
  if (all.empty() || all.front() != &entrants.front() || have_measured(all)) return true;
  for (std::size_t i = 1; i < all.size() && !settings.stop(); ++i)
    if (have_measured({all.front(), all[i]})) return true;
  if (!settings.stop()) have_measured({all.front()});
  return !settings.stop();
}

/// Rematches that there is time for.
int rematches(const std::vector<Entrant>& entrants, const FinalSettings& settings) {
  return (most_rematches + telling_rematches) * runs_of_a_rematch * entrants.front().candidate.seconds < settings.time
             ? most_rematches
             : least_rematches;
}

/// Which of \p entrants is faster than the one of number \p reference, by rematches of these two.
std::optional<Winner> winner_of(Workers& workers, const std::vector<Entrant>& entrants, std::size_t reference,
                                const FinalSettings& settings) {
  const int count = rematches(entrants, settings);
  const double seconds = settings.seconds * (1 - first_share) / (count + telling_rematches);
  std::uint64_t seed = 0;
  const Rematch rematch = [&](std::size_t entrant) -> std::optional<std::pair<Timings, Timings>> {
    auto timings = compare(workers, {&entrants[entrant], &entrants[reference]}, seconds, ++seed, settings);
    if (!timings) return std::nullopt;
    return std::pair{std::move((*timings)[0]), std::move((*timings)[1])};
  };
  std::vector<Timings> first;
  for (const auto& entrant : entrants) first.push_back(entrant.timings);
  return find_winner(first, reference, count, rematch);
}

/// With the times it was measured with, so scaled that the median is \p median.
Finalist finalist_of(const Entrant& entrant, double median) {
  const auto seconds = seconds_of(entrant.timings);
  const double scale = median / quantile(seconds, 0.5);
  return {entrant.candidate.options,        median,
          scale * quantile(seconds, 0),     scale * (quantile(seconds, 0.75) - quantile(seconds, 0.25)),
          static_cast<int>(seconds.size()), entrant.candidate.derivation};
}

/// With the times of the search.
Finalist finalist_of(const Candidate& candidate) {
  return {candidate.options, candidate.seconds, candidate.seconds, candidate.spread, 0, candidate.derivation};
}

}  // namespace

std::optional<std::vector<Finalist>> play_finals(Workers& workers, const std::vector<Candidate>& candidates,
                                                 const FinalSettings& settings) {
  auto all = entrants(candidates, settings);
  bool in_time = compile(workers, all, settings) && measure(workers, all, settings);
  if (!in_time) return std::nullopt;
  if (all.front().timings.empty()) return std::vector{finalist_of(candidates.front())};
  bool defends = all.size() > 1 && settings.incumbent && all[1].candidate.options == *settings.incumbent;
  const std::size_t reference = defends && !all[1].timings.empty() ? 1 : 0;
  const auto winner = winner_of(workers, all, reference, settings);
  const double seconds = quantile(seconds_of(all[reference].timings), 0.5);
  std::vector<Finalist> first, rest;
  if (winner) first.push_back(finalist_of(all[winner->entrant], winner->ratio * seconds));
  first.push_back(finalist_of(all[reference], seconds));
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i != reference && !(winner && i == winner->entrant) && !all[i].timings.empty())
      rest.push_back(finalist_of(all[i], ratio_of(all[i].timings, all[reference].timings) * seconds));
  std::sort(rest.begin(), rest.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

std::vector<Finalist> unplayed_finals(const std::vector<Candidate>& candidates,
                                      const std::optional<options::MappingOptions>& incumbent) {
  const auto& standard = candidates.front();
  auto defender = incumbent_of(candidates, incumbent);
  bool defends = defender && defender->seconds > 0;
  const auto& reference = defends ? *defender : standard;
  std::vector<Finalist> result{finalist_of(reference)};
  if (defends) result.push_back(finalist_of(standard));
  auto timed = by_time(candidates);
  if (defends && defender->code != standard.code) timed.push_back(&standard);
  std::stable_sort(timed.begin(), timed.end(), [](auto a, auto b) { return a->seconds < b->seconds; });
  if (timed.empty() || timed.front()->code == reference.code || timed.front()->options == reference.options)
    return result;
  const auto& best = *timed.front();
  double noise = std::max(least_gain * reference.seconds, best.spread + reference.spread);
  bool is_faster = best.seconds < reference.seconds - noise;
  std::erase_if(result, [&](const auto& finalist) { return finalist.options == best.options; });
  result.insert(is_faster ? result.begin() : result.end(), finalist_of(best));
  return result;
}

}  // namespace tc::autotuner
