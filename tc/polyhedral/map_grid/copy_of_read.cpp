#include "tc/polyhedral/map_grid/copy_of_read.h"

#include <algorithm>
#include <cstdlib>

#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/indirect_reads.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/map/copy_dimensions.h"

namespace tc::polyhedral {
namespace {

/// The names of copies begin so.
const std::string buffer_prefix = "block_";

class Copy {
 public:
  Copy(Scop& scop, const std::string& reader, const NestSharedCopy& choice, const std::vector<CopyTile>& fixed,
       const CopyBlocks& blocks)
      : scop_(scop),
        choice_(choice),
        blocks_(blocks),
        reader_(scop.statement(reader)),
        names_(dimension_names(dimensions(reader_.domain))),
        dimensions_(copy_dimensions(reader_, choice.read)),
        ranges_(box(reader_.domain)) {
    if (dimensions_.empty()) throw InternalError(str("read ", choice.read, " of ", reader, " cannot be copied"));
    steps_.assign(names_.size(), 0);
    for (const auto& loop : fixed) {
      steps_[loop.iterator] = loop.step;
      if (!is_plain(loop.iterator) && ranges_[loop.iterator].extent() > loop.step) counted_.push_back(loop);
    }
    for (std::size_t d = 0; d < dimensions_.size(); ++d)
      own_.push_back(dimensions_[d].iterator >= 0 ? names_[dimensions_[d].iterator] : str("r", d));
    for (const auto& loop : counted_) own_.push_back(str("t", loop.iterator));
  }

  /// The copy's statements, without loops.
  std::vector<Addition> make(GridClusterState& state) {
    auto& read = reader_.reads.at(choice_.read);
    auto source = range_name(read.relation);
    auto strides = strides_in(read);
    auto tensor = make_tensor(buffer_prefix, source);
    auto name = tensor.name.substr(buffer_prefix.size());
    auto to = [&](const Tensor& target) { return str(target.name, "[", join(own_), "]"); };
    bool ahead = blocks_.slots > 1, waits = ahead && !choice_.asynchronous;
    std::vector<Addition> result;
    if (waits) {
      auto held = make_tensor("held_", source);
      result.push_back(load("load_" + name, read, to(held)));
      scop_.tensors.push_back(held);
      state.held.push_back({held.name, result[0].statement.id});
      result.push_back(relay("copy_" + name, result[0], to(held), to(tensor)));
      result.back().behind = true;
    } else {
      result.push_back(load("copy_" + name, read, to(tensor)));
      result.back().statement.asynchronous = ahead;
    }
    auto redirected = str("{ ", reader_.id, "[", join(names_), "] -> ", tensor.name, "[", join(coordinates()), "] }");
    read_copy(reader_, choice_.read, exact_access(isl::map(scop_.ctx(), redirected).intersect_domain(reader_.domain)));
    scop_.tensors.push_back(tensor);
    for (const auto& addition : result) add_mapping(addition.statement.id, strides, state);
    add_buffer(result.back().statement.id, tensor.name, state);
    const auto& branch = state.nest.branches.at(static_cast<std::size_t>(choice_.statement));
    const auto* unit = branch.unit.empty() ? nullptr : matrix_unit(branch.unit, tensor.type);
    const int free = unit && unit->from_shared ? 2 : 1;  // slots that are read while copies are made
    if (ahead)
      for (const auto& addition : result)
        state.ahead.push_back({addition.statement.id, reader_.id, waits ? 1 : blocks_.slots - free});
    return result;
  }

  /// The loops of the copy that no loop around it runs.
  std::vector<isl::multi_union_pw_aff> own_loops(const Addition& addition, const std::vector<int>& outer,
                                                 const CopyBlocks& blocks) const {
    std::vector<isl::multi_union_pw_aff> result;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      auto iterator = dimensions_[d].iterator;
      if (iterator >= 0 && contains(outer, iterator)) continue;
      bool cut = blocks.statement == reader_.id && iterator >= 0 && iterator == blocks.iterator;
      auto value = cut ? str(own_[d], " mod ", blocks.size) : own_[d];
      result.push_back(isl::multi_union_pw_aff(
          scop_.ctx(), str("[{ ", addition.statement.id, "[", join(own_), "] -> [(", value, ")] }]")));
    }
    return result;
  }

 private:
  /// The statement \p wish, which moves to the element \p to what \p read reads.
  Addition load(const std::string& wish, const Access& read, const std::string& to) const {
    Addition addition = start(wish);
    auto& statement = addition.statement;
    if (!read.exact) {
      move_indirect_read(reader_, choice_.read, instances(statement.id), addition.like, statement);
      statement.write = access(statement, to);
      return addition;
    }
    auto first = read.function.pullback(addition.like.to_pw_multi_aff());
    auto source = range_name(read.relation);
    auto memory = first.add(
        isl::pw_multi_aff(scop_.ctx(), str("{ ", tuple(statement), " -> ", source, "[", join(distances()), "] }")));
    if (reads_rows_again(read)) memory = clamped(memory, scop_.tensor(source));
    statement.domain = domain(statement.id, read, memory);
    statement.reads = {{memory.as_map().intersect_domain(statement.domain), true, memory}};
    statement.write = access(statement, to);
    return addition;
  }

  /// The statement \p wish, which moves \p from to \p to in the instances that \p load has.
  Addition relay(const std::string& wish, const Addition& load, const std::string& from, const std::string& to) const {
    Addition addition = start(wish);
    auto& statement = addition.statement;
    statement.domain = call(scop_.ctx(), isl_set_set_tuple_name, load.statement.domain.copy(), statement.id.c_str());
    statement.reads = {access(statement, from)};
    statement.write = access(statement, to);
    return addition;
  }

  /// Does the reader have rows that the tensor has not (fill_rows.h)? The copy has its last ones in their place.
  bool reads_rows_again(const Access& read) const {
    const auto tensor = range_name(read.relation);
    return !reader_.loops.empty() && !reader_.domain.is_subset(read.relation.domain()) &&
           !reader_.domain.apply(read.function.as_map()).is_subset(elements_of(scop_.tensor(tensor)));
  }
  isl::set elements_of(const Tensor& tensor) const {
    const auto names = dimension_names(static_cast<int>(tensor.extent.size()));
    std::vector<std::string> bounds;
    for (std::size_t d = 0; d < names.size(); ++d)
      bounds.push_back(str(tensor.min[d], " <= ", names[d], " < ", tensor.min[d] + tensor.extent[d]));
    return isl::set(scop_.ctx(), str("{ ", tensor.name, "[", join(names), "] : ", join(bounds, " and "), " }"));
  }
  Addition start(const std::string& wish) const {
    Addition addition;
    addition.host = reader_.id;
    auto& statement = addition.statement;
    statement.id = unused_name(scop_, wish);
    statement.body = Statement::Body::Copy;
    statement.iterators = own_;
    addition.like = isl::multi_aff(scop_.ctx(),
                                   str("{ ", tuple(statement), " -> ", reader_.id, "[", join(first_instance()), "] }"));
    return addition;
  }

  std::string tuple(const Statement& statement) const { return str(statement.id, "[", join(own_), "]"); }
  Access access(const Statement& statement, const std::string& element) const {
    return exact_access(
        isl::map(scop_.ctx(), str("{ ", tuple(statement), " -> ", element, " }")).intersect_domain(statement.domain));
  }

  bool is_plain(int iterator) const {
    return std::any_of(dimensions_.begin(), dimensions_.end(),
                       [&](const auto& dimension) { return dimension.iterator == iterator; });
  }
  /// Consecutive values of \p iterator that one copy serves.
  std::int64_t tile(int iterator) const {
    auto extent = ranges_[iterator].extent();
    return steps_[iterator] > 0 ? std::min(steps_[iterator], extent) : extent;
  }
  std::string tile_number(const CopyTile& loop) const {
    return str("floor((", names_[loop.iterator], " - ", ranges_[loop.iterator].min, ")/", loop.step, ")");
  }
  /// The first value of \p iterator in the tile of a reader's instance.
  std::string corner(int iterator) const {
    for (const auto& loop : counted_)
      if (loop.iterator == iterator)
        return str("(", loop.step, " * ", tile_number(loop), " + ", ranges_[iterator].min, ")");
    return str("(", ranges_[iterator].min, ")");
  }
  /// What the smallest element of a tile has less than the one of its first instance.
  std::int64_t below_first(const CopyDimension& dimension) const {
    std::int64_t result = 0;
    for (auto [iterator, factor] : dimension.terms) result += std::min<std::int64_t>(factor, 0) * (tile(iterator) - 1);
    return result;
  }
  std::int64_t extent_of(const CopyDimension& dimension) const {
    return dimension.extent([&](int iterator) { return tile(iterator); });
  }

  /// The index in the copy of what an instance of the reader reads.
  std::vector<std::string> coordinates() const {
    std::vector<std::string> result;
    for (const auto& dimension : dimensions_) {
      if (dimension.iterator >= 0) {
        result.push_back(names_[dimension.iterator]);
        continue;
      }
      result.push_back(str(-below_first(dimension)));
      for (auto [iterator, factor] : dimension.terms)
        result.back() +=
            str(factor < 0 ? " - " : " + ", std::abs(factor), " * (", names_[iterator], " - ", corner(iterator), ")");
    }
    for (const auto& loop : counted_) result.push_back(tile_number(loop));
    return result;
  }
  /// Of the element that an instance of the copy moves, from the one that the tile's first instance reads.
  std::vector<std::string> distances() const {
    std::vector<std::string> result;
    for (std::size_t d = 0; d < dimensions_.size(); ++d)
      result.push_back(dimensions_[d].iterator >= 0 ? "0" : str(own_[d], " + ", below_first(dimensions_[d])));
    return result;
  }
  /// The first instance of the reader in the tiles of a copy's instance.
  std::vector<std::string> first_instance() const {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < names_.size(); ++i)
      result.push_back(is_plain(static_cast<int>(i)) ? names_[i] : str(ranges_[i].min));
    for (const auto& loop : counted_)
      result[loop.iterator] = str(loop.step, " * t", loop.iterator, " + ", ranges_[loop.iterator].min);
    return result;
  }

  /// { reader -> copy \p id }: the instance of the copy for what an instance of the reader reads.
  isl::map instances(const std::string& id) const {
    return isl::map(scop_.ctx(),
                    str("{ ", reader_.id, "[", join(names_), "] -> ", id, "[", join(coordinates()), "] }"));
  }

  /// One instance for each element of the box of each tile, as far as somebody reads in the box around it: \p memory
  /// says where.
  isl::set domain(const std::string& id, const Access& read, const isl::pw_multi_aff& memory) const {
    auto image = instances(id);
    bool windows = std::any_of(dimensions_.begin(), dimensions_.end(),
                               [](const auto& dimension) { return dimension.iterator < 0; });
    if (!windows && (reads_rows_again(read) || reader_.domain.is_subset(read.relation.domain())))
      return reader_.domain.apply(image);
    auto whole = windows ? tiles(id) : reader_.domain.apply(image);
    auto elements = isl::set::universe(read.relation.range().space());
    auto bounds = box(read.relation.range());
    for (unsigned d = 0; d < bounds.size(); ++d) {
      elements = call(elements.ctx(), isl_set_lower_bound_si, elements.copy(), isl_dim_set, d, bounds[d].min);
      elements = call(elements.ctx(), isl_set_upper_bound_si, elements.copy(), isl_dim_set, d, bounds[d].max);
    }
    const auto* existing = scop_.sizes.is_null() ? nullptr : &scop_.tensor(range_name(read.relation)).elements;
    if (existing && !existing->is_null()) elements = elements.intersect(*existing);
    if (existing || !reader_.loops.empty()) whole = whole.intersect(served_tiles(image));
    return whole.intersect(elements.preimage(memory)).coalesce();
  }
  /// The instances of the copy in tiles that have a reader: \p image tells which of them serves it.
  isl::set served_tiles(const isl::map& image) const {
    const auto first = static_cast<unsigned>(dimensions_.size());
    const auto served = reader_.domain.apply(image);
    auto result = call(served.ctx(), isl_set_eliminate, served.copy(), isl_dim_set, 0u, first);
    return call(served.ctx(), isl_set_coalesce, result.release());
  }
  isl::set tiles(const std::string& id) const {
    std::vector<std::string> bounds;
    auto tensor = make_tensor(buffer_prefix, range_name(reader_.reads.at(choice_.read).relation));
    for (std::size_t i = 0; i < own_.size(); ++i)
      bounds.push_back(str(tensor.min[i], " <= ", own_[i], " < ", tensor.min[i] + tensor.extent[i]));
    return isl::set(scop_.ctx(), str("{ ", id, "[", join(own_), "] : ", join(bounds, " and "), " }"));
  }

  Tensor make_tensor(const std::string& prefix, const std::string& source) const {
    Tensor tensor;
    tensor.name = unused_name(scop_, prefix + source);
    tensor.type = scop_.tensor(source).type;
    tensor.storage = Tensor::Storage::Workspace;
    for (const auto& dimension : dimensions_) {
      bool plain = dimension.iterator >= 0;
      tensor.min.push_back(plain ? ranges_[dimension.iterator].min : 0);
      tensor.extent.push_back(plain ? ranges_[dimension.iterator].extent() : extent_of(dimension));
    }
    for (const auto& loop : counted_) {
      tensor.min.push_back(0);
      tensor.extent.push_back((ranges_[loop.iterator].extent() + loop.step - 1) / loop.step);
    }
    tensor.strides = row_major(tensor.extent);
    return tensor;
  }

  /// The dimension of the tensor that \p iterator indexes, -1 if there is none.
  int dimension_of(int iterator) const {
    for (std::size_t d = 0; d < dimensions_.size(); ++d)
      for (const auto& term : dimensions_[d].terms)
        if (term.first == iterator) return static_cast<int>(d);
    return -1;
  }

  /// How far apart in memory neighbours along each dimension are; those along which data decides are farthest.
  std::vector<std::int64_t> strides_in(const Access& read) const {
    if (read.exact) return scop_.tensor(range_name(read.relation)).strides;
    std::vector<std::int64_t> result;
    for (const auto& dimension : dimensions_) {
      auto stride = known_stride(scop_, read, dimension.iterator);
      result.push_back(stride > 0 ? stride : INT64_MAX);
    }
    return result;
  }

  /// All threads fill the copy together: vectors along the dimension the mapping names, some beside each other, then
  /// neighbouring threads along the one in which the copy is contiguous; else, element by element, in the order of the
  /// tensor in memory.
  void add_mapping(const std::string& id, const std::vector<std::int64_t>& strides, GridClusterState& state) const {
    auto contiguous = dimension_of(choice_.contiguous);
    auto run = choice_.vector > 1 ? dimension_of(choice_.run_along) : -1;
    std::vector<int> order;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) order.push_back(static_cast<int>(d));
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return run >= 0 ? a != contiguous && b == contiguous : strides[a] > strides[b];
    });
    NestBranch branch{.statement = id};
    for (int d : order) {
      auto loop = loop_over(NestIndex{0, d}, 0, d == run ? choice_.vector : 1);
      loop.place = NestPlace::Threads;
      loop.beside = d == run ? choice_.beside : 1;
      branch.loops.push_back(loop);
    }
    if (run >= 0) {
      auto vector = loop_over(NestIndex{0, run}, choice_.vector, 1);
      vector.place = NestPlace::Lanes;
      vector.lanes = static_cast<int>(choice_.vector);
      branch.loops.push_back(vector);
    }
    state.added.push_back(branch);
  }

  /// The buffer \p tensor that the copy \p id fills, with room for as many blocks as there are at once.
  void add_buffer(const std::string& id, const std::string& tensor, GridClusterState& state) const {
    GridBuffer buffer{tensor, {reader_.id, id}, dimension_of(choice_.contiguous)};
    buffer.slots = choice_.asynchronous ? blocks_.slots : std::min(blocks_.slots, 2);
    auto count = str("t", blocks_.iterator);
    for (std::size_t i = 0; buffer.slots > 1 && i < own_.size(); ++i) {
      bool plain = i < dimensions_.size() && dimensions_[i].iterator == blocks_.iterator;
      if (!plain && own_[i] != count) continue;
      buffer.along = static_cast<int>(i);
      buffer.size = plain ? blocks_.size : 1;
    }
    state.buffers.push_back(buffer);
  }

  Scop& scop_;
  const NestSharedCopy& choice_;
  const CopyBlocks& blocks_;
  Statement& reader_;
  std::vector<std::string> names_;  ///< of the reader's iterators
  std::vector<CopyDimension> dimensions_;
  std::vector<Interval> ranges_;     ///< of the reader's iterators
  std::vector<std::int64_t> steps_;  ///< sizes of tiles of the reader's iterators, 0: not tiled
  std::vector<CopyTile> counted_;    ///< tiles that the copy's other iterators do not tell
  std::vector<std::string> own_;     ///< iterators of the copy
};

}  // namespace

std::vector<Addition> copy_of_read(Scop& scop, const std::string& reader, const NestSharedCopy& choice,
                                   const std::vector<CopyTile>& fixed, const CopyBlocks& blocks,
                                   const std::vector<int>& outer, GridClusterState& state) {
  Copy copy(scop, reader, choice, fixed, blocks);
  auto result = copy.make(state);
  for (auto& addition : result) addition.loops = copy.own_loops(addition, outer, blocks);
  return result;
}

}  // namespace tc::polyhedral
