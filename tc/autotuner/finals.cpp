#include "tc/autotuner/finals.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "tc/autotuner/worker/statistics.h"

namespace tc::autotuner {
namespace {

constexpr double least_gain = 0.01;
constexpr double runs_of_a_finalist = 7;  ///< long ones, in finals of the least rounds

struct Entrant {
  Candidate candidate;
  std::string image;
  std::vector<double> samples;
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
  std::vector<Entrant> result{{candidates.front(), "", {}}};
  if (auto incumbent = incumbent_of(candidates, settings.incumbent)) result.push_back({*incumbent, "", {}});
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
    result.push_back({*candidate, "", {}});
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

/// Fills the samples of \p entrants from one process; false where that failed.
bool compare(Workers& workers, const std::vector<Entrant*>& entrants, const FinalSettings& settings) {
  Message job{"compare", exact_text(settings.seconds)};
  for (const auto* entrant : entrants) job.push_back(entrant->image);
  auto reply = workers.run(job, settings.limits, settings.device, settings.stop);
  if (!reply || reply->front() != name(Status::Ok) || reply->size() != entrants.size() + 1) return false;
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    entrants[i]->samples.clear();
    for (const auto& text : decode((*reply)[i + 1]).value_or(Message()))
      entrants[i]->samples.push_back(exact_number(text));
  }
  return true;
}

/// Measures all with the default options; where that fails, each alone with them, until one has been measured. Returns
/// whether it was not stopped.
bool measure(Workers& workers, std::vector<Entrant>& entrants, const FinalSettings& settings) {
  std::vector<Entrant*> all;
  for (auto& entrant : entrants)
    if (!entrant.image.empty()) all.push_back(&entrant);
  if (all.empty() || all.front() != &entrants.front() || compare(workers, all, settings)) return true;
  for (std::size_t i = 1; i < all.size() && !settings.stop(); ++i)
    if (compare(workers, {all.front(), all[i]}, settings)) return true;
  if (!settings.stop()) compare(workers, {all.front()}, settings);
  return !settings.stop();
}

Finalist finalist_of(const Entrant& entrant) {
  const auto& samples = entrant.samples;
  return {entrant.candidate.options,
          quantile(samples, 0.5),
          quantile(samples, 0),
          quantile(samples, 0.75) - quantile(samples, 0.25),
          static_cast<int>(samples.size()),
          entrant.candidate.derivation};
}

/// With the times of the search.
Finalist finalist_of(const Candidate& candidate) {
  return {candidate.options, candidate.seconds, candidate.seconds, candidate.spread, 0, candidate.derivation};
}

}  // namespace

bool faster(const std::vector<double>& of, const std::vector<double>& than) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(of.size(), than.size()); ++i) ratios.push_back(of[i] / than[i]);
  if (ratios.empty() || quantile(of, 0) >= quantile(than, 0)) return false;
  double deviation = (quantile(ratios, 0.75) - quantile(ratios, 0.25)) / 1.349;
  double standard_error = 1.253 * deviation / std::sqrt(static_cast<double>(ratios.size()));
  return quantile(ratios, 0.5) < 1 - std::max(least_gain, 3 * standard_error);
}

std::optional<std::vector<Finalist>> play_finals(Workers& workers, const std::vector<Candidate>& candidates,
                                                 const FinalSettings& settings) {
  auto all = entrants(candidates, settings);
  bool in_time = compile(workers, all, settings) && measure(workers, all, settings);
  if (!in_time) return std::nullopt;
  if (all.front().samples.empty()) return std::vector{finalist_of(candidates.front())};
  bool defends = all.size() > 1 && settings.incumbent && all[1].candidate.options == *settings.incumbent;
  const auto& reference = defends && !all[1].samples.empty() ? all[1] : all.front();
  std::vector<Finalist> better, rest;
  for (const auto& each : all)
    if (&each != &reference && !each.samples.empty())
      (faster(each.samples, reference.samples) ? better : rest).push_back(finalist_of(each));
  auto is_faster = [](const auto& a, const auto& b) { return a.seconds < b.seconds; };
  std::sort(better.begin(), better.end(), is_faster);
  std::sort(rest.begin(), rest.end(), is_faster);
  better.push_back(finalist_of(reference));
  better.insert(better.end(), rest.begin(), rest.end());
  return better;
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
