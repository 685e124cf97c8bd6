#include "tc/autotuner/evaluation.h"

#include <algorithm>
#include <set>

#include "tc/base/clock.h"

namespace tc::autotuner {
namespace {

/// What the reply of a measurement says.
void read_measurement(const Message& reply, Candidate& candidate) {
  candidate.status = parse_status(reply.front());
  bool timed = candidate.status == Status::Ok || candidate.status == Status::Slow;
  if (timed) candidate.seconds = exact_number(reply.at(1));
  if (candidate.status == Status::Ok) candidate.spread = exact_number(reply.at(2));
  if (!timed) candidate.note = reply.back();
}

}  // namespace

Evaluation::Evaluation(Workers& workers, const Record& record, EvaluationSettings settings)
    : workers_(workers), record_(record), settings_(std::move(settings)) {}

bool Evaluation::predict(std::vector<Candidate>& candidates, const Stop& stop) {
  auto job = [&](std::size_t i) { return Message{"predict", candidates[i].options.to_text()}; };
  auto done = [&](std::size_t i, const Message& reply, int) {
    bool good = reply.front() == name(Status::Ok) && reply.size() == 2;
    if (good) candidates[i].predicted = exact_number(reply[1]);
  };
  auto places = std::vector<int>(static_cast<std::size_t>(settings_.compilers), no_gpu);
  return workers_.run(candidates.size(), job, settings_.compile, places, done, stop);
}

std::vector<Candidate> Evaluation::measure(std::vector<Candidate> candidates, const Ended& ended, const Stop& stop) {
  std::vector<Item> items;
  for (auto& candidate : candidates) items.push_back({std::move(candidate), "", false});
  auto has_some = [&] {
    return std::any_of(items.begin(), items.end(), [](const Item& i) { return !i.image.empty(); });
  };
  auto too_late = [&, until = now() + compile_seconds_] { return stop() || (now() > until && has_some()); };
  if (compile(items, ended, too_late) || !stop()) profile(items, ended, stop);
  std::vector<Candidate> result;
  for (auto& item : items)
    if (item.ended) result.push_back(std::move(item.candidate));
  return result;
}

/// Images of the candidates; those that fail end.
bool Evaluation::compile(std::vector<Item>& items, const Ended& ended, const Stop& stop) {
  auto job = [&](std::size_t i) { return items[i].candidate.compile_job(); };
  auto done = [&](std::size_t i, const Message& reply, int) {
    auto& [candidate, image, has_ended] = items[i];
    candidate.status = parse_status(reply.front());
    if (candidate.status == Status::Ok && reply.size() == 3) {
      image = reply[1];
      candidate.code = reply[2];
      return;
    }
    candidate.note = reply.back();
    has_ended = true;
    ended(candidate);
  };
  auto places = std::vector<int>(static_cast<std::size_t>(settings_.compilers), no_gpu);
  return workers_.run(items.size(), job, settings_.compile, places, done, stop);
}

void Evaluation::keep_image(const Item& item) {
  if (item.candidate.status != Status::Ok) return;
  images_.push_back({item.candidate.code, item.image, item.candidate.seconds});
  std::sort(images_.begin() + 1, images_.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  if (images_.size() > 1 + settings_.images) images_.pop_back();
}

std::string Evaluation::image(const std::string& code) const {
  for (const auto& image : images_)
    if (image.code == code) return image.bytes;
  return "";
}

/// Gives \p item what the candidate of the same machine code got; false where there is none.
bool Evaluation::take_known(Item& item) const {
  const auto* known = record_.find(item.candidate.code);
  if (!known) return false;
  auto& candidate = item.candidate;
  candidate.status = known->status == Status::Ok ? Status::Same : known->status;
  candidate.seconds = known->seconds;
  candidate.spread = known->spread;
  candidate.note = known->note;
  candidate.device = known->device;
  item.ended = true;
  return true;
}

/// The compiled items that have not ended, one of each machine code that was not measured before.
std::vector<Evaluation::Item*> Evaluation::of_new_code(std::vector<Item>& items) const {
  std::vector<Item*> result;
  std::set<std::string> codes;
  for (auto& item : items)
    if (!item.ended && !item.image.empty() && !record_.find(item.candidate.code) &&
        codes.insert(item.candidate.code).second)
      result.push_back(&item);
  return result;
}

void Evaluation::profile(std::vector<Item>& items, const Ended& ended, const Stop& stop) {
  auto fresh = of_new_code(items);
  auto job = [&](std::size_t i) {
    return Message{"measure", fresh[i]->image, exact_text(record_.best()), exact_text(settings_.measure_seconds)};
  };
  auto done = [&](std::size_t i, const Message& reply, int device) {
    read_measurement(reply, fresh[i]->candidate);
    fresh[i]->candidate.device = device;
    fresh[i]->ended = true;
    keep_image(*fresh[i]);
    ended(fresh[i]->candidate);
  };
  workers_.run(fresh.size(), job, settings_.run, settings_.devices, done, stop);
  for (auto& item : items)
    if (!item.ended && !item.image.empty() && take_known(item)) ended(item.candidate);
}

}  // namespace tc::autotuner
