#include "tc/polyhedral/map_cpu/pack.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/base/target.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/constraints.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/core/isolate.h"
#include "tc/polyhedral/core/surround.h"

namespace tc::polyhedral {
namespace {

using Texts = std::vector<std::string>;

/// Rows copied from one panel before the next one's.
constexpr std::int64_t group = 8;

/// One copy: its statement, its temporary and its loops, as texts over the iterators' names.
class Packer {
 public:
  Packer(const Scop& scop, const PackMapping& choice, const std::vector<FixedLoop>& fixed, const ClusterState& cluster)
      : scop_(scop),
        choice_(choice),
        statement_(scop.statement(choice.statement)),
        read_(statement_.reads.at(choice.read)),
        used_(index_iterators(statement_, choice.read)),
        names_(dimension_names(dimensions(statement_.domain))),
        box_(polyhedral::box(statement_.domain)) {
    auto kept = kept_dimensions(statement_);
    bool cut = cluster.reduction.statement == choice.statement;
    for (int i : sorted(used_)) {
      bool reduced = !contains(kept, i) || (cut && i == cluster.reduction.iterator);
      if (i != choice.panel) (reduced ? middle_ : leading_).push_back(i);
    }
    for (const auto& loop : fixed)
      if (!contains(used_, loop.iterator) && box_[loop.iterator].extent() > loop.step) repeated_.push_back(loop);
    matrices_ = cluster.dot.of_matrices() && cluster.dot.statement == choice.statement;
    if (cluster.dot.statement == choice.statement && (choice.panel_last || matrices_) &&
        contains(middle_, cluster.dot.iterator))
      dot_ = cluster.dot;
    for (const auto* list : {&leading_, &middle_})
      for (int i : *list)
        if (polyhedral::stride(scop, read_, i) == 1 && (choice.panel_last || list == &middle_)) adjacent_ = i;
    if (dot_.iterator >= 0 && choice.panel_last) adjacent_ = -1;
  }

  Scop run(const std::vector<int>& place, ClusterState& state) {
    auto result = scop_;
    auto name = unused_name(scop_, "packed_" + range_name(read_.relation));
    auto addition = copy(name);
    result.statement(choice_.statement).reads.at(choice_.read) = packed_access(name);
    result.tensors.push_back(temporary(name, addition.statement.write));
    result = surround(result, place, {addition}, {});
    auto band = place;
    band.insert(band.end(), {0, 0});
    if (!full_.empty()) result.schedule = isolate(node_at(result.schedule, band), full_).schedule();
    if (choice_.once) result.schedule = independent(node_at(result.schedule, band)).schedule();
    int lane = has_matrix_rows() ? dot_.iterator : choice_.panel_last || adjacent_ < 0 ? choice_.panel : adjacent_;
    state.added.push_back({addition.statement.id, position(addition.statement, names_[lane]), choice_.lanes});
    return result;
  }

 private:
  const Scop& scop_;
  const PackMapping& choice_;
  const Statement& statement_;
  const Access& read_;
  std::vector<int> used_;
  Texts names_;
  std::vector<Interval> box_;
  std::vector<int> leading_, middle_;  ///< the used iterators beside the panel's: other kept ones, reduced ones
  std::vector<FixedLoop> repeated_;    ///< the fixed loops that do not index the tensor
  DotMapping dot_;                     ///< of the reduced iterators, if they are to stand side by side
  bool matrices_ = false;              ///< the copies are factors of products of matrices
  int adjacent_ = -1;                  ///< the iterator beside the panel's along which the tensor is contiguous
  Texts full_;

  /// The loops of a copy may run in any order.
  static isl::schedule_node independent(const isl::schedule_node& node) {
    auto band = node.as<isl::schedule_node_band>();
    for (unsigned i = 0; i < band.n_member(); ++i) band = band.member_set_coincident(static_cast<int>(i), 1);
    return band;
  }
  static int position(const Statement& statement, const std::string& iterator) {
    const auto& all = statement.iterators;
    return static_cast<int>(std::find(all.begin(), all.end(), iterator) - all.begin());
  }
  static std::vector<int> sorted(std::vector<int> list) {
    std::sort(list.begin(), list.end());
    return list;
  }
  std::string from_first(int iterator) const { return str("(", names_[iterator], " - ", box_[iterator].min, ")"); }
  std::string quotient(int iterator, std::int64_t size) const {
    return str("floor(", from_first(iterator), "/", size, ")");
  }
  std::string remainder(int iterator, std::int64_t size) const { return str(from_first(iterator), " mod ", size); }

  Texts copy_numbers() const { return dimension_names(static_cast<int>(repeated_.size()), "b"); }
  Texts copy_iterators() const {
    auto result = copy_numbers();
    for (int i : used_) result.push_back(names_[i]);
    return result;
  }

  /// The index in the temporary of the copy \p numbers.
  Texts layout(Texts numbers) const {
    for (int i : leading_) numbers.push_back(names_[i]);
    if (has_matrix_rows()) return matrix_rows(numbers);
    numbers.push_back(quotient(choice_.panel, choice_.size));
    if (!choice_.panel_last) numbers.push_back(remainder(choice_.panel, choice_.size));
    for (int i : middle_)
      if (i != adjacent_ || choice_.panel_last)
        numbers.push_back(i == dot_.iterator ? quotient(i, dot_.width) : names_[i]);
    if (choice_.panel_last) numbers.push_back(remainder(choice_.panel, choice_.size));
    if (dot_.iterator >= 0) numbers.push_back(remainder(dot_.iterator, dot_.width));
    if (adjacent_ >= 0 && !choice_.panel_last) numbers.push_back(names_[adjacent_]);
    return numbers;
  }

  /// Rows of as many steps as one instruction multiplies.
  bool has_matrix_rows() const { return dot_.iterator >= 0 && !choice_.panel_last; }
  Texts matrix_rows(Texts numbers) const {
    auto steps = std::int64_t{dot_.width} * dot_.steps;
    numbers.push_back(quotient(choice_.panel, choice_.size));
    for (int i : middle_) numbers.push_back(i == dot_.iterator ? quotient(i, steps) : names_[i]);
    numbers.push_back(remainder(choice_.panel, choice_.size));
    numbers.push_back(remainder(dot_.iterator, steps));
    return numbers;
  }

  Texts numbers_of_statement() const {
    Texts result;
    for (const auto& loop : repeated_) result.push_back(quotient(loop.iterator, loop.step));
    return result;
  }

  Access packed_access(const std::string& tensor) const {
    auto text =
        str("{ ", statement_.id, "[", join(names_), "] -> ", tensor, "[", join(layout(numbers_of_statement())), "] }");
    auto access = exact_access(isl::map(scop_.ctx(), text).intersect_domain(statement_.domain));
    access.relation = access.relation.intersect_domain(read_.relation.domain());
    return access;
  }

  /// The instances of \p copies in the box around those the statement reads; a guard keeps it from the others, which
  /// may lie outside the tensor.
  isl::set read_box(const isl::map& copies) const {
    auto whole = statement_.domain.apply(copies);
    auto read = read_.relation.domain().apply(copies);
    if (!scop_.sizes.is_null()) return read.coalesce();
    auto bounds = polyhedral::box(read);
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      whole = call(whole.ctx(), isl_set_lower_bound_si, whole.copy(), isl_dim_set, i, bounds[i].min);
      whole = call(whole.ctx(), isl_set_upper_bound_si, whole.copy(), isl_dim_set, i, bounds[i].max);
    }
    return whole.coalesce();
  }

  /// The copy of the elements that the statement reads and those between them, one instance an element and copy.
  Addition copy(const std::string& tensor) {
    auto ctx = scop_.ctx();
    Addition addition;
    addition.host = statement_.id;
    auto& copy = addition.statement;
    copy.id = unused_name(scop_, "pack_" + range_name(read_.relation));
    copy.body = Statement::Body::Copy;
    copy.iterators = copy_iterators();
    auto tuple = str(copy.id, "[", join(copy.iterators), "]");
    auto image = numbers_of_statement();
    for (int i : used_) image.push_back(names_[i]);
    auto instances = str("{ ", statement_.id, "[", join(names_), "] -> ", copy.id, "[", join(image), "] }");
    copy.domain = read_box(isl::map(ctx, instances));
    addition.like = isl::multi_aff(ctx, str("{ ", tuple, " -> ", statement_.id, "[", join(host()), "] }"));
    auto function = read_.function.pullback(addition.like.to_pw_multi_aff());
    copy.reads = {{function.as_map().intersect_domain(copy.domain), true, function}};
    auto target = str("{ ", tuple, " -> ", tensor, "[", join(layout(copy_numbers())), "] }");
    copy.write = exact_access(isl::map(ctx, target).intersect_domain(copy.domain));
    addition.loops = loops(tuple);
    return addition;
  }

  /// The instance of the statement whose loops a copy shares.
  Texts host() const {
    Texts result;
    for (std::size_t i = 0; i < names_.size(); ++i)
      result.push_back(contains(used_, static_cast<int>(i)) ? names_[i] : str(box_[i].min));
    for (std::size_t i = 0; i < repeated_.size(); ++i)
      result[repeated_[i].iterator] = str(box_[repeated_[i].iterator].min, " + ", repeated_[i].step, "b", i);
    return result;
  }

  std::optional<std::string> extent_of(int iterator) const {
    const auto identity = statement_.domain.space().identity_multi_aff_on_domain();
    return extent_text(box_[iterator], isl::union_pw_aff(identity.at(iterator)), statement_.domain.to_union_set());
  }

  /// A loop over tiles of \p size, of which \p points are left to the band below.
  std::string tile(Texts& tiles, int iterator, std::int64_t size) {
    if (!box_[iterator].is_multiple_of(size))
      if (auto extent = extent_of(iterator)) full_.push_back(str(size, "*t", tiles.size(), "+", size, "<=", *extent));
    tiles.push_back(quotient(iterator, size));
    return remainder(iterator, size);
  }

  /// Loops over panels and their square blocks, of which the whole ones are set apart, those of a panel that is not whole, too.
  std::string squares(Texts& tiles) {
    const auto size = choice_.size;
    const auto lanes = choice_.lanes;
    const auto lane = remainder(choice_.panel, size);
    const auto extent = extent_of(choice_.panel);
    if (!box_[choice_.panel].is_multiple_of(size) && extent)
      full_.push_back(str(size, "*t", tiles.size(), "+", lanes, "*t", tiles.size() + 1, "+", lanes, "<=", *extent));
    tiles.push_back(quotient(choice_.panel, size));
    tiles.push_back(str("floor((", lane, ")/", lanes, ")"));
    return str("(", lane, ") mod ", lanes);
  }

  /// The copy's own loops: over rows or square blocks, below them one vector or the block. Rows along the panels are
  /// copied in groups, as they lie in memory, so that both sides move through few lines at a time; across the panels,
  /// square blocks along as many rows as a vector has lanes, so that few rows are read at once.
  std::vector<isl::multi_union_pw_aff> loops(const std::string& tuple) {
    Texts tiles, points, within_group;
    for (int i : leading_)
      if (i != adjacent_) tiles.push_back(names_[i]);
    bool across = choice_.panel_last && adjacent_ >= 0;
    if (dot_.iterator >= 0) return has_matrix_rows() ? matrix_row_loops(tuple, tiles) : dot_loops(tuple, tiles);
    if (choice_.panel_last && !across) {
      for (int i : middle_) tiles.push_back(i == middle_.back() ? quotient(i, group) : names_[i]);
      if (!middle_.empty()) within_group.push_back(remainder(middle_.back(), group));
    }
    const bool in_squares = across && choice_.size > choice_.lanes && choice_.size % choice_.lanes == 0;
    auto lane = in_squares ? squares(tiles) : tile(tiles, choice_.panel, choice_.size);
    tiles.insert(tiles.end(), within_group.begin(), within_group.end());
    if (!choice_.panel_last && adjacent_ >= 0) tiles.push_back(lane);
    if (across || !choice_.panel_last)
      for (int i : middle_)
        if (i != adjacent_) tiles.push_back(names_[i]);
    if (choice_.panel_last || adjacent_ < 0) points.push_back(lane);
    if (adjacent_ >= 0) points.push_back(tile(tiles, adjacent_, choice_.lanes));
    return {band(tuple, tiles), band(tuple, points)};
  }
  bool is_contiguous(int iterator) const { return polyhedral::stride(scop_, read_, iterator) == 1; }

  /// As many rows side by side as one instruction sums; where the tensor is contiguous along them, a cache line of
  /// them, in square blocks, and one panel after the other, so that what is read follows itself.
  std::vector<isl::multi_union_pw_aff> dot_loops(const std::string& tuple, Texts tiles) {
    for (int i : middle_)
      if (i != dot_.iterator) tiles.push_back(names_[i]);
    bool across = matrices_ && is_contiguous(dot_.iterator);
    std::string lane, row;
    if (across) lane = tile(tiles, choice_.panel, choice_.size);
    row = tile(tiles, dot_.iterator,
               across ? Target::cache_line / byte_size(scop_.tensor(range_name(read_.relation)).type) : dot_.width);
    if (!across) lane = tile(tiles, choice_.panel, choice_.size);
    return {band(tuple, tiles), band(tuple, {lane, row})};
  }
  /// Vectors along a row; as many rows as make square blocks, where the tensor is contiguous across them.
  std::vector<isl::multi_union_pw_aff> matrix_row_loops(const std::string& tuple, Texts tiles) {
    auto steps = std::int64_t{dot_.width} * dot_.steps;
    for (int i : middle_)
      if (i != dot_.iterator) tiles.push_back(names_[i]);
    bool across = is_contiguous(choice_.panel);
    if (!across) tiles.push_back(names_[choice_.panel]);
    auto row = across ? tile(tiles, choice_.panel, choice_.lanes) : std::string();
    auto step = tile(tiles, dot_.iterator, steps);
    if (choice_.lanes == steps) return {band(tuple, tiles), band(tuple, across ? Texts{row, step} : Texts{step})};
    tiles.push_back(str("floor((", step, ")/", choice_.lanes, ")"));
    auto lane = str("(", step, ") mod ", choice_.lanes);
    return {band(tuple, tiles), band(tuple, across ? Texts{row, lane} : Texts{lane})};
  }
  isl::multi_union_pw_aff band(const std::string& tuple, const Texts& members) const {
    Texts parts;
    for (const auto& member : members) parts.push_back(str("{ ", tuple, " -> [(", member, ")] }"));
    return isl::multi_union_pw_aff(scop_.ctx(), str("[", join(parts), "]"));
  }
  Tensor temporary(const std::string& name, const Access& write) const {
    auto tensor = scop_.tensor(range_name(read_.relation));
    tensor.name = name;
    if (!matrices_) tensor.type = compute_type(tensor.type);
    tensor.storage = Tensor::Storage::Workspace;
    tensor.live_in = tensor.live_out = false;
    tensor.elements = {};
    tensor.stride_variables = {};
    tensor.min.clear();
    tensor.extent.clear();
    for (const auto& interval : polyhedral::box(write.relation.range())) {
      tensor.min.push_back(interval.min);
      tensor.extent.push_back(interval.extent());
    }
    tensor.strides = row_major(tensor.extent);
    return tensor;
  }
};

/// Does \p access read another element for all values of its \p iterators?
bool tells_apart(const Statement& statement, const Access& access, const std::vector<int>& iterators) {
  auto names = dimension_names(dimensions(statement.domain));
  Texts values;
  for (int i : iterators) values.push_back(names[i]);
  isl::map pick(statement.domain.ctx(), str("{ ", statement.id, "[", join(names), "] -> [", join(values), "] }"));
  return access.function.as_map().intersect_domain(statement.domain).reverse().apply_range(pick).is_single_valued();
}

}  // namespace

std::vector<int> index_iterators(const Statement& statement, int read) {
  const auto& access = statement.reads.at(read);
  std::vector<int> result;
  if (!access.exact || access.function.is_null() || !access.function.isa_multi_aff() || access.relation.is_empty())
    return {};
  bool digits = false;
  for (const auto& index : elements(access.function.as_multi_aff().list())) {
    auto iterator = only_iterator(isl::union_pw_aff(index), statement.domain);
    if (iterator < 0) return {};
    bool digit = isl_aff_dim(index.get(), isl_dim_div) > 0;
    bool known = contains(result, iterator);
    if (!digit &&
        (known || !call(index.ctx(), isl_aff_get_coefficient_val, index.get(), isl_dim_in, iterator).is_one()))
      return {};
    digits = digits || digit;
    if (!known) result.push_back(iterator);
  }
  for (const auto& [i, j] : ordered_dimensions(statement.domain))
    if (contains(result, i) && contains(result, j)) return {};
  return !digits || tells_apart(statement, access, result) ? result : std::vector<int>();
}

Scop pack(const Scop& scop, const std::vector<int>& place, const PackMapping& choice,
          const std::vector<FixedLoop>& fixed, ClusterState& cluster) {
  return Packer(scop, choice, fixed, cluster).run(place, cluster);
}

}  // namespace tc::polyhedral
