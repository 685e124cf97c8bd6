#include "tc/polyhedral/copy_reads.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/cluster_view.h"
#include "tc/polyhedral/instances.h"
#include "tc/polyhedral/pack.h"
#include "tc/polyhedral/surround.h"

namespace tc::polyhedral {
namespace {

using isl::schedule_node;

/// A loop around the place of a copy: tiles of `step` iterations of one iterator of the reader.
struct Fixed {
  int iterator = -1;
  std::int64_t step = 1;
};

/// The outer band's members as the iterators of \p id, which are tiled.
std::vector<Fixed> outer_tiles(const Scop& scop, const std::string& id, const GridClusterMapping& mapping) {
  std::vector<Fixed> result;
  auto view = cluster_views(scop).at(0);
  for (const auto& entry : view.statements)
    for (std::size_t i = 0; entry.id == id && i < view.members.size(); ++i) {
      auto tile = i < mapping.members.size() ? mapping.members[i].tile : 0;
      if (tile > 0 && entry.outer[i] >= 0) result.push_back({entry.outer[i], tile});
    }
  return result;
}

/// The node at which the reads of \p id are copied: where it is alone, below the blocks of its reduction.
schedule_node alone(const schedule_node& node, const std::string& id) {
  if (statement_ids(node).size() == 1) return node;
  for (unsigned i = 0; i < node.n_children(); ++i) {
    auto child = node.child(static_cast<int>(i));
    if (child.isa<isl::schedule_node_filter>()) child = child.child(0);
    if (contains(statement_ids(child), id)) return alone(child, id);
  }
  return node;
}

/// Takes the loop over blocks of the reduced iterator out of the own loops of its statement, at \p node.
schedule_node cut_into_blocks(const Scop& scop, schedule_node node, const GridBlocks& blocks) {
  const auto& domain = scop.statement(blocks.statement).domain;
  auto band = node;
  while (band.isa<isl::schedule_node_band>()) {
    auto members = band_members(band);
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (only_iterator(members[i], domain) != blocks.iterator) continue;
      auto whole = members[i];
      auto min = values(whole, instances_at(band)).min;
      if (min % blocks.size != 0) throw InternalError("a reduction that is cut into blocks does not start at one");
      members[i] = remainder(whole, blocks.size);
      auto path = path_of(node);
      auto coincident = band_coincident(band);
      auto cut = insert_band(erase(band), members, coincident);
      auto top = node_at(cut.schedule(), path);
      return insert_band(top, {quotient(whole, blocks.size)}, {}).child(0);
    }
    band = band.child(0);
  }
  throw InternalError(str("statement ", blocks.statement, " has no loop of its own to cut into blocks"));
}

/// A copy of one read.
class Copy {
 public:
  Copy(Scop& scop, const GridCopy& choice, const std::vector<Fixed>& fixed)
      : scop_(scop), choice_(choice), reader_(scop.statement(choice.statement)), names_(dimension_names(dimensions(reader_.domain))) {
    index_ = index_iterators(reader_, choice.read);
    if (index_.empty()) throw InternalError(str("read ", choice.read, " of ", choice.statement, " cannot be copied"));
    auto ranges = box(reader_.domain);
    for (const auto& loop : fixed)
      if (!contains(index_, loop.iterator) && ranges[loop.iterator].extent() > loop.step) counted_.push_back(loop);
    ranges_ = ranges;
  }

  Addition make(GridClusterMapping& mapping) {
    auto& read = reader_.reads.at(choice_.read);
    auto source = range_name(read.relation);
    Addition addition;
    addition.host = reader_.id;
    auto& statement = addition.statement;
    statement.id = unused_name(scop_, "copy_" + source);
    statement.body = Statement::Body::Copy;
    auto tensor = make_tensor(source);
    auto own = own_names();
    statement.iterators = own;
    auto tuple = str(statement.id, "[", join(own), "]");
    auto ctx = scop_.ctx();
    statement.domain = reader_.domain.apply(isl::map(ctx, str("{ ", reader_.id, "[", join(names_), "] -> ", statement.id, "[",
                                                              join(coordinates()), "] }")));
    addition.like = isl::multi_aff(ctx, str("{ ", tuple, " -> ", reader_.id, "[", join(first_instance()), "] }"));
    auto memory = str("{ ", tuple, " -> ", source, "[", join(std::vector<std::string>(own.begin(), own.begin() + static_cast<long>(index_.size()))), "] }");
    statement.reads = {exact_access(isl::map(ctx, memory).intersect_domain(statement.domain))};
    auto local = str("{ ", tuple, " -> ", tensor.name, "[", join(own), "] }");
    statement.write = exact_access(isl::map(ctx, local).intersect_domain(statement.domain));
    auto redirected = str("{ ", reader_.id, "[", join(names_), "] -> ", tensor.name, "[", join(coordinates()), "] }");
    read = exact_access(isl::map(ctx, redirected).intersect_domain(reader_.domain));
    scop_.tensors.push_back(tensor);
    add_mapping(statement.id, tensor.name, mapping);
    return addition;
  }

  /// The loops of the copy that no loop around it runs.
  std::vector<isl::multi_union_pw_aff> own_loops(const Addition& addition, const std::vector<int>& outer, const GridBlocks& blocks) const {
    std::vector<isl::multi_union_pw_aff> result;
    auto own = own_names();
    for (std::size_t i = 0; i < index_.size(); ++i) {
      if (contains(outer, index_[i])) continue;
      auto value = blocks.statement == reader_.id && index_[i] == blocks.iterator ? str(own[i], " mod ", blocks.size) : own[i];
      result.push_back(isl::multi_union_pw_aff(scop_.ctx(), str("[{ ", addition.statement.id, "[", join(own), "] -> [(", value, ")] }]")));
    }
    return result;
  }

 private:
  std::vector<std::string> own_names() const {
    std::vector<std::string> result;
    for (int i : index_) result.push_back(names_[i]);
    for (const auto& loop : counted_) result.push_back(str("t", loop.iterator));
    return result;
  }
  std::string tile_of(const Fixed& loop) const {
    return str("floor((", names_[loop.iterator], " - ", ranges_[loop.iterator].min, ")/", loop.step, ")");
  }
  std::vector<std::string> coordinates() const {
    std::vector<std::string> result;
    for (int i : index_) result.push_back(names_[i]);
    for (const auto& loop : counted_) result.push_back(tile_of(loop));
    return result;
  }
  /// The first instance of the reader in the tiles of a copy's instance.
  std::vector<std::string> first_instance() const {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      bool indexes = contains(index_, static_cast<int>(i));
      result.push_back(indexes ? names_[i] : str(ranges_[i].min));
      for (const auto& loop : counted_)
        if (loop.iterator == static_cast<int>(i)) result.back() = str(loop.step, " * t", i, " + ", ranges_[i].min);
    }
    return result;
  }

  Tensor make_tensor(const std::string& source) const {
    Tensor tensor;
    tensor.name = unused_name(scop_, "block_" + source);
    tensor.type = scop_.tensor(source).type;
    tensor.storage = Tensor::Storage::Workspace;
    for (int i : index_) {
      tensor.min.push_back(ranges_[i].min);
      tensor.extent.push_back(ranges_[i].extent());
    }
    for (const auto& loop : counted_) {
      tensor.min.push_back(0);
      tensor.extent.push_back((ranges_[loop.iterator].extent() + loop.step - 1) / loop.step);
    }
    tensor.strides = row_major(tensor.extent);
    return tensor;
  }

  /// All threads fill the copy together: its iterators in the order of the mapping, runs along the one it names.
  void add_mapping(const std::string& id, const std::string& tensor, GridClusterMapping& mapping) const {
    GridStatement statement{id, {}};
    statement.together = true;
    statement.vector = choice_.vector > 1;
    statement.unroll = true;
    auto add = [&](std::size_t i) {
      bool runs = index_[i] == choice_.run_along;
      statement.loops.push_back({static_cast<int>(i), {-1, runs ? choice_.vector : 1}});
    };
    for (std::size_t i = 0; i < index_.size(); ++i)
      if (index_[i] != choice_.contiguous) add(i);
    for (std::size_t i = 0; i < index_.size(); ++i)
      if (index_[i] == choice_.contiguous) add(i);
    mapping.statements.push_back(statement);
    GridBuffer buffer{tensor, {reader_.id, id}, -1, choice_.pad};
    for (std::size_t i = 0; i < index_.size(); ++i)
      if (index_[i] == choice_.contiguous) buffer.contiguous = static_cast<int>(i);
    mapping.buffers.push_back(buffer);
  }

  Scop& scop_;
  const GridCopy& choice_;
  Statement& reader_;
  std::vector<std::string> names_;
  std::vector<int> index_;
  std::vector<Fixed> counted_;
  std::vector<Interval> ranges_;
};

}  // namespace

Scop copy_reads(const Scop& scop, GridClusterMapping& mapping) {
  if (mapping.copies.empty()) return scop;
  auto result = scop;
  const auto& reader = mapping.copies.front().statement;
  auto fixed = outer_tiles(scop, reader, mapping);
  std::vector<int> outer;
  for (const auto& loop : fixed) outer.push_back(loop.iterator);
  auto root = scop.schedule.root().child(0);
  auto place = alone(cluster_views(scop).at(0).members.empty() ? root : root.child(0), reader);
  if (mapping.blocks.iterator >= 0) {
    place = cut_into_blocks(scop, place, mapping.blocks);
    result.schedule = place.schedule();
  }
  std::vector<Addition> copies;
  for (const auto& choice : mapping.copies) {
    Copy copy(result, choice, fixed);
    copies.push_back(copy.make(mapping));
    copies.back().loops = copy.own_loops(copies.back(), outer, mapping.blocks);
  }
  return surround(result, path_of(place), copies, {});
}

isl::schedule_node common_node(const isl::schedule& schedule, const std::vector<std::string>& statements) {
  auto node = schedule.root();
  while (!node.isa<isl::schedule_node_leaf>()) {
    int next = -1;
    for (unsigned i = 0; i < node.n_children(); ++i) {
      auto child = node.child(static_cast<int>(i));
      auto ids = statement_ids(child.isa<isl::schedule_node_filter>() ? child.child(0) : child);
      if (std::all_of(statements.begin(), statements.end(), [&](const auto& id) { return contains(ids, id); })) next = static_cast<int>(i);
    }
    if (next < 0) return node;
    node = node.child(next);
  }
  return node;
}

}  // namespace tc::polyhedral
