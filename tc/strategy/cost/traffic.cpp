#include "tc/strategy/cost/traffic.h"

#include <algorithm>
#include <map>

namespace tc::strategy {
namespace {

/// Lines, one entry a tensor.
using Lines = std::vector<double>;

/// Parts of a schedule that run one after another.
using Parts = std::vector<const LoopNest*>;

/// Lines that come in and that go out.
struct Cost {
  Lines in, out;
};

/// The references of each tensor, those kept in registers left out.
struct Tensors {
  Tensors(const std::vector<Reference>& references, const std::set<std::string>& in_registers)
      : of(references.size(), -1) {
    std::map<std::string, int> known;
    for (std::size_t i = 0; i < references.size(); ++i) {
      const auto& tensor = references[i].tensor;
      if (in_registers.count(tensor.name)) continue;
      auto [place, is_new] = known.emplace(tensor.name, static_cast<int>(all.size()));
      if (is_new) all.push_back(tensor);
      of[i] = place->second;
    }
  }
  std::vector<polyhedral::Tensor> all;
  std::vector<int> of;  ///< for each reference its tensor, -1 for one in registers
};

double sum(const Lines& lines) {
  double result = 0;
  for (double count : lines) result += count;
  return result;
}

/// What one cache of \p capacity lines lets through.
class CacheModel {
 public:
  CacheModel(const Footprints& footprints, const Tensors& tensors, double capacity)
      : references_(footprints.references), tensors_(tensors), capacity_(capacity) {}

  Cost cost(const LoopNest& part) const {
    if (fits(part) || part.kind == LoopNest::Kind::Instance) return everything(part);
    if (part.kind == LoopNest::Kind::Sequence) return cost_of_sequence(part);
    if (fits(part.children[0])) return everything(part);
    auto one = cost(part.children[0]);
    auto kept = kept_between_iterations(part);
    return {repeated(one.in, kept.in, part.trips), repeated(one.out, kept.out, part.trips)};
  }

  /// What \p parts touch together, or what they write.
  Lines footprint(const Parts& parts, bool written_only) const {
    std::vector<std::vector<const TouchedBox*>> boxes(tensors_.all.size());
    for (const auto* part : parts)
      for (std::size_t i = 0; i < references_.size(); ++i)
        if (tensors_.of[i] >= 0 && part->touched[i] && (references_[i].writes || !written_only))
          boxes[tensors_.of[i]].push_back(&*part->touched[i]);
    Lines result;
    for (std::size_t t = 0; t < boxes.size(); ++t)
      result.push_back(lines_touched(tensors_.all[t], boxes[t], Target::cache_line));
    return result;
  }

 private:
  bool fits(const LoopNest& part) const { return fits(Parts{&part}); }
  bool fits(const Parts& parts) const { return sum(footprint(parts, false)) <= capacity_; }
  Cost everything(const LoopNest& part) const { return {footprint({&part}, false), footprint({&part}, true)}; }

  Cost nothing() const { return {Lines(tensors_.all.size()), Lines(tensors_.all.size())}; }

  /// \p one, \p trips times, each but the first without \p kept.
  static Lines repeated(Lines one, const Lines& kept, double trips) {
    for (std::size_t t = 0; t < one.size(); ++t) one[t] = one[t] * trips - std::min(one[t], kept[t]) * (trips - 1);
    return one;
  }

  /// What an iteration of \p loop, which does not fit, leaves for the next: tensors of which both its end and its start
  /// touch all that the loop touches.
  Cost kept_between_iterations(const LoopNest& loop) const {
    auto start = start_of(loop.children[0]), end = end_of(loop.children[0]);
    if (!fits(start) || !fits(end)) return nothing();
    auto all = everything(loop);
    auto keep_whole = [](const Lines& all, const Lines& first, const Lines& second) {
      Lines result(all.size());
      for (std::size_t t = 0; t < all.size(); ++t)
        if (first[t] >= all[t] && second[t] >= all[t]) result[t] = all[t];
      return result;
    };
    Cost result{keep_whole(all.in, footprint(start, false), footprint(end, false)), Lines(all.out.size())};
    for (std::size_t t = 0; t < all.out.size(); ++t)
      if (result.in[t] > 0) result.out[t] = all.out[t];
    return result;
  }

  Cost cost_of_sequence(const LoopNest& part) const {
    auto result = nothing();
    for (std::size_t i = 0; i < part.children.size(); ++i) {
      auto one = cost(part.children[i]);
      auto kept = i > 0 ? kept_for(part.children[i], end_of(part.children[i - 1])) : nothing();
      for (std::size_t t = 0; t < tensors_.all.size(); ++t) {
        result.in[t] += std::max(one.in[t] - kept.in[t], 0.0);
        result.out[t] += std::max(one.out[t] - kept.out[t], 0.0);
      }
    }
    return result;
  }

  /// The last parts of \p part, or the first ones, as many as fit together.
  Parts end_of(const LoopNest& part) const { return edge_of(part, true); }
  Parts start_of(const LoopNest& part) const { return edge_of(part, false); }

  Parts edge_of(const LoopNest& part, bool last) const {
    if (part.children.empty() || fits(part)) return {&part};
    if (part.kind == LoopNest::Kind::Loop) return edge_of(part.children[0], last);
    Parts result;
    for (std::size_t i = 0; i < part.children.size(); ++i) {
      const auto& child = part.children[last ? part.children.size() - 1 - i : i];
      auto longer = result;
      for (const auto* piece : edge_of(child, last)) longer.push_back(piece);
      if (!result.empty() && !fits(longer)) return result;
      result = longer;
      if (!fits(child)) return result;
    }
    return result;
  }

  /// The lines that \p before leaves for \p part: all they share where both fit; else what the start of \p part shares,
  /// or as much as is still there when \p part comes to it in the same order.
  Cost kept_for(const LoopNest& part, const Parts& before) const {
    double first = sum(footprint(before, false)), second = sum(footprint({&part}, false));
    if (first > capacity_) return nothing();
    double share = second <= capacity_ ? 1 : (capacity_ - first) / (second - first);
    auto start = start_of(part);
    auto best = [&](bool written_only) {
      auto result = shared(before, {&part}, written_only, share);
      auto at_start = shared(before, start, written_only, fits(start) ? 1 : 0);
      for (std::size_t t = 0; t < result.size(); ++t) result[t] = std::max(result[t], at_start[t]);
      return result;
    };
    return {best(false), best(true)};
  }

  /// \p share of the lines that both \p a and \p b touch, or write.
  Lines shared(const Parts& a, const Parts& b, bool written_only, double share) const {
    auto of_a = footprint(a, written_only), of_b = footprint(b, written_only);
    auto together = a;
    together.insert(together.end(), b.begin(), b.end());
    auto both = footprint(together, written_only);
    for (std::size_t t = 0; t < of_a.size(); ++t) of_a[t] = share * std::max(of_a[t] + of_b[t] - both[t], 0.0);
    return of_a;
  }

  const std::vector<Reference>& references_;
  const Tensors& tensors_;
  double capacity_;
};

/// Does reference number \p index touch all of \p box wherever it stands in \p part, in unrolled loops or one instance?
bool touches_whole(const LoopNest& part, std::size_t index, const TouchedBox& box) {
  if (!part.touched[index]) return true;
  if (part.kind == LoopNest::Kind::Instance || part.unrolled) return part.touched[index]->spans == box.spans;
  return std::all_of(part.children.begin(), part.children.end(),
                     [&](const LoopNest& child) { return touches_whole(child, index, box); });
}

double register_bytes(const Target& target) {
  return static_cast<double>(target.vector_registers()) * target.vector_bytes();
}

/// Elements that a reference moves in a part, and whether these are the same registers throughout.
struct Moved {
  double elements = 0;
  bool held = false;
};

/// \p reference, number \p index, in \p part; registers hold \p capacity bytes.
Moved moved(const LoopNest& part, std::size_t index, const Reference& reference, double capacity) {
  if (!part.touched[index]) return {};
  auto distinct = [&] { return lines_touched(reference.tensor, {&*part.touched[index]}, 0); };
  if (part.kind == LoopNest::Kind::Instance || part.unrolled) return {distinct(), true};
  if (part.kind == LoopNest::Kind::Sequence) {
    Moved result;
    for (const auto& child : part.children) result.elements += moved(child, index, reference, capacity).elements;
    return result;
  }
  auto one = moved(part.children[0], index, reference, capacity);
  bool same = part.children[0].touched[index] && part.children[0].touched[index]->spans == part.touched[index]->spans;
  if (one.held && same && one.elements * byte_size(reference.tensor.type) <= capacity) return one;
  return {one.elements * part.trips, false};
}

/// Adds what references move between registers and the first cache, and what is read and written at all.
void add_references(const Footprints& footprints, const Tensors& tensors, double capacity, Traffic& traffic) {
  for (std::size_t i = 0; i < footprints.references.size(); ++i) {
    if (tensors.of[i] < 0) continue;
    const auto& reference = footprints.references[i];
    double bytes = moved(footprints.root, i, reference, capacity).elements * byte_size(reference.tensor.type);
    auto& level = traffic.tensors[tensors.of[i]].levels[0];
    if (reference.reads) level.read += bytes;
    if (reference.writes) level.written += bytes;
  }
  for (std::size_t t = 0; t < tensors.all.size(); ++t) {
    std::vector<const TouchedBox*> read, written;
    for (std::size_t i = 0; i < footprints.references.size(); ++i) {
      if (tensors.of[i] != static_cast<int>(t) || !footprints.root.touched[i]) continue;
      if (footprints.references[i].reads) read.push_back(&*footprints.root.touched[i]);
      if (footprints.references[i].writes) written.push_back(&*footprints.root.touched[i]);
    }
    double size = byte_size(tensors.all[t].type);
    traffic.tensors[t].unique = {lines_touched(tensors.all[t], read, 0) * size,
                                 lines_touched(tensors.all[t], written, 0) * size};
  }
}

}  // namespace

Transfer Traffic::total(int level) const {
  Transfer result;
  for (const auto& tensor : tensors) {
    result.read += tensor.levels[level].read;
    result.written += tensor.levels[level].written;
  }
  return result;
}

Transfer Traffic::compulsory() const {
  Transfer result;
  for (const auto& tensor : tensors) {
    if (!tensor.argument) continue;
    result.read += tensor.unique.read;
    result.written += tensor.unique.written;
  }
  return result;
}

std::set<std::string> buffers_in_registers(const Footprints& footprints, const Target& target) {
  std::set<std::string> result, in_memory;
  for (std::size_t i = 0; i < footprints.references.size(); ++i) {
    const auto& tensor = footprints.references[i].tensor;
    if (tensor.storage != polyhedral::Tensor::Storage::Local || !footprints.root.touched[i]) continue;
    const auto& box = *footprints.root.touched[i];
    bool small = lines_touched(tensor, {&box}, 0) * byte_size(tensor.type) <= register_bytes(target);
    bool kept = tensor.in_registers || (small && touches_whole(footprints.root, i, box));
    (kept ? result : in_memory).insert(tensor.name);
  }
  for (const auto& name : in_memory) result.erase(name);
  return result;
}

Traffic predict_traffic(const polyhedral::Scop& scop, const Target& target) {
  return predict_traffic(compute_footprints(scop), target);
}

Traffic predict_traffic(const Footprints& footprints, const Target& target) {
  Tensors tensors(footprints.references, buffers_in_registers(footprints, target));
  Traffic traffic;
  for (const auto& tensor : tensors.all) {
    bool argument = tensor.storage == polyhedral::Tensor::Storage::Argument;
    traffic.tensors.push_back({tensor.name, argument, {}, {}});
  }
  add_references(footprints, tensors, register_bytes(target), traffic);
  const std::array<std::int64_t, 3> caches = {target.l1_bytes, target.l2_bytes, target.l3_bytes};
  for (std::size_t level = 1; level < 4; ++level) {
    auto cost = CacheModel(footprints, tensors, static_cast<double>(caches[level - 1] / Target::cache_line))
                    .cost(footprints.root);
    for (std::size_t t = 0; t < tensors.all.size(); ++t)
      traffic.tensors[t].levels[level] = {cost.in[t] * Target::cache_line, cost.out[t] * Target::cache_line};
  }
  return traffic;
}

}  // namespace tc::strategy
