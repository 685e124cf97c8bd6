#include "tc/autotuner/finals.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "tc/autotuner/statistics.h"

namespace tc::autotuner {
namespace {

constexpr double least_gain = 0.01;

struct Entrant {
  options::MappingOptions options;
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

/// The default options, then the fastest candidates of different code.
std::vector<Entrant> entrants(const std::vector<Candidate>& candidates, int finalists) {
  std::vector<Entrant> result{{options::MappingOptions(), "", {}}};
  std::set<std::string> codes{candidates.front().code};
  for (const auto* candidate : by_time(candidates))
    if (static_cast<int>(result.size()) <= finalists && codes.insert(candidate->code).second)
      result.push_back({candidate->options, "", {}});
  return result;
}

/// Fills the images of \p entrants; returns whether it was not stopped.
bool compile(Workers& workers, std::vector<Entrant>& entrants, const FinalSettings& settings) {
  std::vector<Message> jobs;
  for (const auto& entrant : entrants) jobs.push_back({"compile", entrant.options.to_text()});
  auto done = [&](std::size_t i, const Message& reply, int) {
    if (reply.front() == name(Status::Ok) && reply.size() == 3) entrants[i].image = reply[1];
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
  return {entrant.options, quantile(samples, 0.5), quantile(samples, 0),
          quantile(samples, 0.75) - quantile(samples, 0.25), static_cast<int>(samples.size())};
}

/// With the times of the search.
Finalist finalist_of(const Candidate& candidate) {
  return {candidate.options, candidate.seconds, candidate.seconds, candidate.spread, 0};
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
  auto all = entrants(candidates, settings.finalists);
  bool in_time = compile(workers, all, settings) && measure(workers, all, settings);
  if (!in_time) return std::nullopt;
  const auto& standard = all.front();
  if (standard.samples.empty()) return std::vector{finalist_of(candidates.front())};
  std::vector<Finalist> better, rest;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (!all[i].samples.empty())
      (faster(all[i].samples, standard.samples) ? better : rest).push_back(finalist_of(all[i]));
  auto is_faster = [](const auto& a, const auto& b) { return a.seconds < b.seconds; };
  std::sort(better.begin(), better.end(), is_faster);
  std::sort(rest.begin(), rest.end(), is_faster);
  better.push_back(finalist_of(standard));
  better.insert(better.end(), rest.begin(), rest.end());
  return better;
}

std::vector<Finalist> unplayed_finals(const std::vector<Candidate>& candidates) {
  const auto& standard = candidates.front();
  std::vector<Finalist> result{finalist_of(standard)};
  auto timed = by_time(candidates);
  if (timed.empty() || timed.front()->code == standard.code) return result;
  const auto& best = *timed.front();
  double noise = std::max(least_gain * standard.seconds, best.spread + standard.spread);
  bool is_faster = best.seconds < standard.seconds - noise;
  result.insert(is_faster ? result.begin() : result.end(), finalist_of(best));
  return result;
}

}  // namespace tc::autotuner
