#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tc/polyhedral/core/schedule_walk.h"
#include "tc/polyhedral/core/scop.h"

/// Runs a scheduled scop instance by instance: an oracle for schedules and mappings that knows nothing of dependences.
namespace tc::polyhedral {

using Index = std::vector<long>;
using Memory = std::map<std::string, std::map<Index, std::uint64_t>>;

class Simulation {
 public:
  explicit Simulation(const Scop& scop) : scop_(scop) {}

  /// The values of the tensors that are live out. Source statements compute a hash of their source, their iterators and
  /// what they read; accumulations add; elements never written hold a hash of their place.
  Memory run() {
    auto time = sequential_time(scop_.schedule);
    std::vector<std::pair<Index, std::pair<const Statement*, Index>>> events;
    for (const auto& statement : scop_.statements) {
      int size = dimensions(statement.domain);
      for (const auto& map : elements(time.intersect_domain(statement.domain.to_union_set()).map_list()))
        for (auto& row : rows(map.wrap()))
          events.push_back(
              {Index(row.begin() + size, row.end()), {&statement, Index(row.begin(), row.begin() + size)}});
      places_[&statement.write] = places(statement, statement.write);
      for (const auto& read : statement.reads) places_[&read] = places(statement, read);
      if (!statement.origin.is_null()) origins_[&statement] = origins(statement);
    }
    std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [when, what] : events) execute(*what.first, what.second);
    Memory result;
    for (const auto& tensor : scop_.tensors)
      if (tensor.live_out) result[tensor.name] = memory_[tensor.name];
    return result;
  }

 private:
  using Place = std::pair<std::string, Index>;

  static std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15ull;
    return hash ^ (hash >> 29);
  }
  static std::uint64_t hash_of(const std::string& name, const Index& index) {
    std::uint64_t hash = 17;
    for (char c : name) hash = mix(hash, static_cast<unsigned char>(c));
    for (long i : index) hash = mix(hash, static_cast<std::uint64_t>(i) + 1000);
    return hash;
  }

  /// The points of \p set.
  static std::vector<Index> rows(const isl::set& set) {
    std::vector<Index> result;
    int size = isl_set_dim(set.get(), isl_dim_set);
    set.foreach_point([&](isl::point point) {
      Index row;
      for (int i = 0; i < size; ++i)
        row.push_back(call(point.ctx(), isl_point_get_coordinate_val, point.get(), isl_dim_set, i).get_num_si());
      result.push_back(row);
    });
    return result;
  }

  /// Where each instance of \p statement goes by \p access; nowhere where a guard excludes it.
  std::map<Index, std::vector<Place>> places(const Statement& statement, const Access& access) const {
    auto touched = access.relation;
    if (access.exact && !access.function.is_null())
      touched = access.function.as_map().intersect_domain(access.relation.domain());
    touched = touched.intersect_domain(statement.domain);
    int size = dimensions(statement.domain);
    std::map<Index, std::vector<Place>> result;
    for (auto& row : rows(touched.wrap()))
      result[Index(row.begin(), row.begin() + size)].push_back(
          {range_name(touched), Index(row.begin() + size, row.end())});
    return result;
  }

  /// The instance of the source that each instance of \p statement computes.
  static std::map<Index, Index> origins(const Statement& statement) {
    int size = dimensions(statement.domain);
    std::map<Index, Index> result;
    auto origin = statement.origin.to_pw_multi_aff().as_map().intersect_domain(statement.domain);
    for (auto& row : rows(origin.wrap()))
      result[Index(row.begin(), row.begin() + size)] = Index(row.begin() + size, row.end());
    return result;
  }

  std::uint64_t& cell(const Place& place) {
    auto [found, added] = memory_[place.first].insert({place.second, 0});
    if (added) found->second = hash_of(place.first, place.second);
    return found->second;
  }

  std::uint64_t value(const Statement& statement, const Index& instance) {
    if (statement.body == Statement::Body::Identity) return 0;
    std::uint64_t hash =
        hash_of(statement.source, statement.origin.is_null() ? instance : origins_.at(&statement).at(instance));
    for (const auto& read : statement.reads)
      for (const auto& place : places_[&read][instance]) {
        if (statement.body == Statement::Body::Copy) return cell(place);
        hash = mix(hash, cell(place));
      }
    return hash;
  }

  void execute(const Statement& statement, const Index& instance) {
    auto result = value(statement, instance);
    for (const auto& writer : writers(statement, instance))
      for (const auto& place : places_[&statement.write][writer])
        cell(place) = result + (statement.accumulates ? cell(place) : 0);
  }

  /// The instances whose elements get the value of \p instance: where lanes combine and all of them write, those of all lanes.
  static std::vector<Index> writers(const Statement& statement, const Index& instance) {
    if (!statement.combined_in_all) return {instance};
    std::vector<Index> result;
    auto lane = static_cast<std::size_t>(statement.combined_iterator);
    for (int i = 0; i < statement.combined_lanes; ++i) {
      result.push_back(instance);
      result.back()[lane] = instance[lane] / statement.combined_lanes * statement.combined_lanes + i;
    }
    return result;
  }

  const Scop& scop_;
  std::map<const Access*, std::map<Index, std::vector<Place>>> places_;
  std::map<const Statement*, std::map<Index, Index>> origins_;
  Memory memory_;
};

inline Memory simulate(const Scop& scop) { return Simulation(scop).run(); }

}  // namespace tc::polyhedral
