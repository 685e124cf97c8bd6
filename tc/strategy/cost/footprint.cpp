#include "tc/strategy/cost/footprint.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/marks.h"

namespace tc::strategy {
namespace {

using polyhedral::call;
using polyhedral::Scop;
using polyhedral::Tensor;

/// The spans of \p set, which is not empty.
std::vector<Span> spans(const isl::set& set) {
  std::vector<Span> result;
  auto box = polyhedral::box(set);
  for (std::size_t i = 0; i < box.size(); ++i) {
    auto step = call(set.ctx(), isl_set_get_stride, set.get(), static_cast<int>(i)).num_si();
    result.push_back({box[i].min, box[i].max, std::max(step, 1L)});
  }
  return result;
}

double volume(const std::vector<Span>& spans) {
  double result = 1;
  for (const auto& span : spans) result *= span.count();
  return result;
}

/// Walks a schedule with the instances that reach each node when all loops above are at one iteration.
class NestBuilder {
 public:
  explicit NestBuilder(const Scop& scop) {
    for (const auto& statement : scop.statements) {
      auto add = [&](const polyhedral::Access& access, bool reads, bool writes) {
        auto address = access.relation;
        if (access.exact && !access.function.is_null())
          address = access.function.as_map().intersect_domain(access.relation.domain());
        exact_.push_back(access.exact);
        addresses_.push_back(address.intersect_domain(statement.domain));
        references_.push_back({statement.id, scop.tensor(polyhedral::range_name(address)), reads, writes});
      };
      for (const auto& read : statement.reads) add(read, true, false);
      add(statement.write, statement.accumulates, true);
    }
  }

  Footprints run(const Scop& scop) {
    auto root = node(scop.schedule.root().child(0), scop.schedule.domain(), false);
    return {std::move(references_), std::move(root)};
  }

 private:
  /// The part of \p node for \p instances; \p unrolled below a mark that says so.
  LoopNest node(const isl::schedule_node& node, const isl::union_set& instances, bool unrolled) {
    if (node.isa<isl::schedule_node_band>())
      return members(node, polyhedral::band_members(node), 0, instances, unrolled);
    if (node.isa<isl::schedule_node_sequence>() || node.isa<isl::schedule_node_set>())
      return sequence(node, instances, unrolled);
    if (node.isa<isl::schedule_node_mark>()) {
      auto name = polyhedral::mark_name(node);
      unrolled |= name == polyhedral::marks::register_tile || name == polyhedral::marks::vector;
    }
    if (node.isa<isl::schedule_node_filter>())
      return this->node(node.child(0), instances.intersect(node.as<isl::schedule_node_filter>().filter()), unrolled);
    if (node.isa<isl::schedule_node_leaf>()) return part(LoopNest::Kind::Instance, instances);
    return this->node(node.child(0), instances, unrolled);
  }

  LoopNest sequence(const isl::schedule_node& node, const isl::union_set& instances, bool unrolled) {
    auto result = part(LoopNest::Kind::Sequence, instances);
    for (unsigned i = 0; i < node.n_children(); ++i) {
      auto child = node.child(static_cast<int>(i));
      auto reach = instances.intersect(child.as<isl::schedule_node_filter>().filter());
      if (!reach.is_empty()) result.children.push_back(this->node(child.child(0), reach, unrolled));
    }
    return result;
  }

  /// The loops of the members of \p band from number \p first on.
  LoopNest members(const isl::schedule_node& band, const std::vector<isl::union_pw_aff>& all, std::size_t first,
                   const isl::union_set& instances, bool unrolled) {
    if (first == all.size()) return node(band.child(0), instances, unrolled);
    auto range = polyhedral::values(all[first], instances);
    auto one = iteration(all[first], instances, range.min + (range.extent() - 1) / 2);
    if (one.is_empty()) one = iteration(all[first], instances, range.min);
    if (range.extent() == 1) return members(band, all, first + 1, instances, unrolled);
    auto result = part(LoopNest::Kind::Loop, instances);
    result.unrolled = unrolled;
    result.trips = std::min(count(instances) / std::max(count(one), 1.0), static_cast<double>(range.extent()));
    result.children.push_back(members(band, all, first + 1, one, unrolled));
    return result;
  }

  /// The instances of \p instances for which \p member is \p value.
  static isl::union_set iteration(const isl::union_pw_aff& member, const isl::union_set& instances,
                                  std::int64_t value) {
    auto ctx = instances.ctx();
    auto constant = call(ctx, isl_union_pw_aff_val_on_domain, instances.copy(), isl::val(ctx, value).release());
    auto difference = call(ctx, isl_union_pw_aff_sub, member.copy(), constant.copy());
    return call(ctx, isl_union_pw_aff_zero_union_set, difference.copy()).intersect(instances).coalesce();
  }

  static double count(const isl::union_set& instances) {
    double result = 0;
    instances.foreach_set([&](const isl::set& set) { result += volume(spans(set)); });
    return result;
  }

  LoopNest part(LoopNest::Kind kind, const isl::union_set& instances) const {
    LoopNest result;
    result.kind = kind;
    result.touched.resize(references_.size());
    instances.foreach_set([&](const isl::set& set) {
      auto id = polyhedral::tuple_name(set);
      double instances_of_one = volume(spans(set));
      for (std::size_t i = 0; i < references_.size(); ++i) {
        if (references_[i].statement != id) continue;
        auto elements = set.apply(addresses_[i]);
        if (!elements.is_empty()) result.touched[i] = TouchedBox{spans(elements), instances_of_one, exact_[i]};
      }
    });
    return result;
  }

  std::vector<Reference> references_;
  std::vector<isl::map> addresses_;
  std::vector<bool> exact_;
};

/// A dimension of a box as bytes: \p count times \p stride apart, outermost last when sorted.
struct Step {
  double stride = 0, count = 1;
};

/// The dimensions of \p box in memory, those of one index left out, cut to its instances.
std::vector<Step> steps(const Tensor& tensor, const TouchedBox& box) {
  std::vector<Step> result;
  double element = byte_size(tensor.type), left = box.instances;
  for (std::size_t i = 0; i < box.spans.size(); ++i) {
    double stride = std::abs(static_cast<double>(tensor.strides[i] * box.spans[i].step)) * element;
    if (box.spans[i].count() > 1 && stride > 0) result.push_back({stride, box.spans[i].count()});
  }
  std::sort(result.begin(), result.end(), [](const Step& a, const Step& b) { return a.stride < b.stride; });
  auto cut = [&](Step& step) {
    step.count = std::min(step.count, std::ceil(std::max(left, 1.0)));
    left /= step.count;
  };
  if (box.exact)
    std::for_each(result.rbegin(), result.rend(), cut);
  else
    std::for_each(result.begin(), result.end(), cut);
  return result;
}

/// Bytes from the first element of \p tensor to the lowest of \p box.
double offset(const Tensor& tensor, const TouchedBox& box) {
  double result = 0;
  for (std::size_t i = 0; i < box.spans.size(); ++i) {
    auto lowest = tensor.strides[i] < 0 ? box.spans[i].max : box.spans[i].min;
    result += static_cast<double>((lowest - tensor.min[i]) * tensor.strides[i]);
  }
  return result * byte_size(tensor.type);
}

double lines_of_box(const Tensor& tensor, const TouchedBox& box, std::int64_t line_bytes) {
  double element = byte_size(tensor.type), line = line_bytes > 0 ? static_cast<double>(line_bytes) : element;
  double run = element, runs = 1;
  bool alike = true;
  for (const auto& step : steps(tensor, box)) {
    if (runs == 1 && step.stride - run < line) {
      run += (step.count - 1) * step.stride;
    } else {
      runs *= step.count;
      alike &= std::fmod(step.stride, line) == 0;
    }
  }
  if (!alike) return runs * ((run - element) / line + 1);
  double begin = std::fmod(offset(tensor, box), line);
  return runs * (std::floor((begin + run - 1) / line) - std::floor(begin / line) + 1);
}

/// The box of steps around \p boxes.
TouchedBox joint(const std::vector<const TouchedBox*>& boxes) {
  auto result = *boxes.front();
  for (std::size_t b = 1; b < boxes.size(); ++b) {
    result.instances += boxes[b]->instances;
    result.exact &= boxes[b]->exact;
    for (std::size_t i = 0; i < result.spans.size(); ++i) {
      auto& span = result.spans[i];
      const auto& other = boxes[b]->spans[i];
      bool aligned = span.step == other.step && (span.min - other.min) % span.step == 0;
      span = {std::min(span.min, other.min), std::max(span.max, other.max), aligned ? span.step : 1};
    }
  }
  return result;
}

}  // namespace

Footprints compute_footprints(const Scop& scop) { return NestBuilder(scop).run(scop); }

double lines_touched(const Tensor& tensor, const std::vector<const TouchedBox*>& boxes, std::int64_t line_bytes) {
  std::vector<const TouchedBox*> different;
  for (const auto* box : boxes)
    if (std::none_of(different.begin(), different.end(), [&](const auto* other) { return other->spans == box->spans; }))
      different.push_back(box);
  if (different.empty()) return 0;
  double sum = 0;
  for (const auto* box : different) sum += lines_of_box(tensor, *box, line_bytes);
  return different.size() == 1 ? sum : std::min(sum, lines_of_box(tensor, joint(different), line_bytes));
}

}  // namespace tc::strategy
