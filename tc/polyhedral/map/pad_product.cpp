#include "tc/polyhedral/map/pad_product.h"

#include <algorithm>
#include <optional>

#include "tc/base/ceil_div.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/instances.h"

namespace tc::polyhedral {
namespace {

/// Number of values of an iterator from 0 on.
struct Extent {
  std::int64_t most = 0;
  std::string text;  ///< of isl, over symbolic sizes

  bool operator==(const Extent&) const = default;
};
using Extents = std::vector<Extent>;

Extent number(std::int64_t extent) { return {extent, std::to_string(extent)}; }

/// \p extent up to a multiple of \p size.
Extent rounded(const Extent& extent, const Interval& range, std::int64_t size) {
  if (range.is_multiple_of(size)) return extent;
  if (!range.symbolic) return number(round_up(extent.most, size));
  return {round_up(extent.most, size), str(size, " * floor((", extent.text, " + ", size - 1, ") / ", size, ")")};
}

std::vector<std::int64_t> most_of(const Extents& extents) {
  std::vector<std::int64_t> result;
  for (const auto& extent : extents) result.push_back(extent.most);
  return result;
}

/// The iterators of \p domain from 0 to these extents, if their ranges are so many values.
std::optional<Extents> extents_from_zero(const isl::set& domain) {
  const auto names = dimension_names(dimensions(domain));
  const auto ranges = box(domain);
  Extents result;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const isl::union_pw_aff iterator(domain.ctx(),
                                     str("{ ", tuple_name(domain), "[", join(names), "] -> [(", names[i], ")] }"));
    const auto text = extent_text(ranges[i], iterator, domain.to_union_set());
    if (!text || ranges[i].min != 0 || ranges[i].extent() < 1) return std::nullopt;
    result.push_back({ranges[i].extent(), *text});
  }
  return result;
}

/// The iterators of \p statement that index \p access, one for each dimension; none where other things do.
std::vector<int> indexing_iterators(const Statement& statement, const Access& access) {
  std::vector<int> result;
  if (!access.exact || access.function.is_null()) return {};
  const auto rank = static_cast<int>(isl_pw_multi_aff_dim(access.function.get(), isl_dim_out));
  const int count = dimensions(statement.domain);
  for (int d = 0; d < rank; ++d) {
    int found = -1;
    for (int i = 0; i < count && found < 0; ++i) {
      auto names = dimension_names(count);
      isl::pw_aff plain(statement.domain.ctx(), str("{ ", statement.id, "[", join(names), "] -> [(",
                                                    names[static_cast<std::size_t>(i)], ")] }"));
      auto same = call(plain.ctx(), isl_pw_aff_zero_set, access.function.at(d).sub(plain).release());
      if (statement.domain.is_subset(same)) found = i;
    }
    if (found < 0) return {};
    result.push_back(found);
  }
  return result;
}

/// The statement that sets what \p update sums to zero, null where there is none.
const Statement* start_of(const Scop& scop, const Statement& update) {
  const auto& target = range_name(update.write.relation);
  const Statement* result = nullptr;
  for (const auto& statement : scop.statements) {
    if (statement.id == update.id || !touches(statement.write, target)) continue;
    if (result || statement.body != Statement::Body::Identity || statement.op != update.op) return nullptr;
    result = &statement;
  }
  return result;
}

/// The box of \p extents as the domain of \p id, of \p scop.
isl::set box_of(const Scop& scop, const std::string& id, const Extents& extents) {
  std::vector<std::string> sizes, bounds;
  for (const auto& parameter : scop.parameters) sizes.push_back(parameter.name);
  auto names = dimension_names(static_cast<int>(extents.size()));
  for (std::size_t i = 0; i < extents.size(); ++i) bounds.push_back(str("0 <= ", names[i], " < ", extents[i].text));
  const isl::set result(scop.ctx(),
                        str("[", join(sizes), "] -> { ", id, "[", join(names), "] : ", join(bounds, " and "), " }"));
  return scop.sizes.is_null() ? result : result.intersect_params(scop.sizes);
}

bool is_box_from_zero(const Scop& scop, const Statement& statement) {
  const auto extents = extents_from_zero(statement.domain);
  if (!extents) return false;
  const auto whole = box_of(scop, statement.id, *extents);
  return scop.sizes.is_null() ? statement.domain.is_equal(whole)
                              : isl::set(statement.domain.intersect_params(scop.sizes)).is_equal(whole);
}

/// The access of each instance of \p statement to the element of \p tensor with the iterators \p index.
Access access_to(const Statement& statement, const std::string& tensor, const std::vector<int>& index) {
  auto names = dimension_names(dimensions(statement.domain));
  std::vector<std::string> at;
  for (int i : index) at.push_back(names[static_cast<std::size_t>(i)]);
  return exact_access(
      isl::map(statement.domain.ctx(), str("{ ", statement.id, "[", join(names), "] -> ", tensor, "[", join(at), "] }"))
          .intersect_domain(statement.domain));
}

std::vector<int> all_of(std::size_t count) {
  std::vector<int> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(static_cast<int>(i));
  return result;
}

class Padder {
 public:
  Padder(const Scop& scop, const PaddedProduct& padding) : result_(scop), padding_(padding) {
    const auto& domain = scop.statement(padding.statement).domain;
    extents_ = extents_from_zero(domain).value();
    const auto ranges = box(domain);
    for (std::size_t i = 0; i < ranges.size(); ++i)
      padded_.push_back(rounded(extents_[i], ranges[i], padding.multiples[i]));
  }

  Scop run() {
    widen_result();
    for (int read : padding_.reads) pad_operand(read);
    result_.schedule = program_order(result_);
    return result_;
  }

 private:
  Statement& update() { return result_.statement(padding_.statement); }

  static Extents at(const Extents& extents, const std::vector<int>& index) {
    Extents result;
    for (int i : index) result.push_back(extents[static_cast<std::size_t>(i)]);
    return result;
  }

  /// A temporary of \p extents with elements like those of \p source.
  std::string add_temporary(const std::string& wish, const std::string& source, const Extents& extents) {
    Tensor tensor;
    tensor.name = unused_name(result_, wish);
    tensor.type = result_.tensor(source).type;
    tensor.min.assign(extents.size(), 0);
    tensor.extent = most_of(extents);
    tensor.strides = row_major(tensor.extent);
    tensor.storage = Tensor::Storage::Workspace;
    result_.tensors.push_back(tensor);
    return tensor.name;
  }

  /// The statement \p wish over \p extents, which writes the element of \p target with its iterators.
  Statement statement(const std::string& wish, Statement::Body body, const Extents& extents,
                      const std::string& target) {
    Statement made;
    made.id = unused_name(result_, wish);
    made.body = body;
    made.op = update().op;
    made.domain = box_of(result_, made.id, extents);
    made.iterators = dimension_names(static_cast<int>(extents.size()));
    made.write = access_to(made, target, all_of(extents.size()));
    return made;
  }

  void insert(const std::string& beside, int behind, const Statement& made) {
    auto place = std::find_if(result_.statements.begin(), result_.statements.end(),
                              [&](const Statement& other) { return other.id == beside; });
    result_.statements.insert(place + behind, made);
  }

  /// Sums go to a temporary of whole multiples.
  void widen_result() {
    const auto index = indexing_iterators(update(), update().write);
    const auto target = range_name(update().write.relation);
    const auto start = start_of(result_, update())->id;
    const auto sizes = at(padded_, index);
    auto sums = target;
    auto& tensor = result_.tensor(target);
    if (tensor.storage == Tensor::Storage::Workspace && !tensor.live_in && !tensor.live_out) {
      tensor.extent = most_of(sizes);
      tensor.strides = row_major(tensor.extent);
      tensor.elements = {};
    } else {
      sums = add_temporary("sums_" + target, target, sizes);
      auto copy = statement(padding_.statement + "_copy", Statement::Body::Copy, at(extents_, index), target);
      copy.reads = {access_to(copy, sums, all_of(index.size()))};
      insert(padding_.statement, 1, copy);
    }
    auto& begin = result_.statement(start);
    const auto of_start = indexing_iterators(begin, begin.write);
    Extents extents(of_start.size());
    for (std::size_t d = 0; d < of_start.size(); ++d) extents[static_cast<std::size_t>(of_start[d])] = sizes[d];
    begin.domain = box_of(result_, begin.id, extents);
    begin.write = access_to(begin, sums, of_start);
    begin.padded = update().padded = true;
    std::vector<std::vector<int>> of_reads;
    for (const auto& read : update().reads) of_reads.push_back(indexing_iterators(update(), read));
    update().domain = box_of(result_, padding_.statement, padded_);
    update().write = access_to(update(), sums, index);
    for (std::size_t r = 0; r < of_reads.size(); ++r)
      update().reads[r] = access_to(update(), range_name(update().reads[r].relation), of_reads[r]);
  }

  /// Read number \p read goes to a copy with zeros outside of the tensor.
  void pad_operand(int read) {
    const auto index = indexing_iterators(update(), update().reads[static_cast<std::size_t>(read)]);
    const auto source = range_name(update().reads[static_cast<std::size_t>(read)].relation);
    const auto name = add_temporary("padded_" + source, source, at(padded_, index));
    auto copy = statement(name + "_copy", Statement::Body::Copy, at(extents_, index), name);
    copy.reads = {access_to(copy, source, all_of(index.size()))};
    const auto start = start_of(result_, update())->id;
    copy.accumulates = at(padded_, index) != at(extents_, index);
    if (copy.accumulates) {
      auto zero = statement(name + "_zero", Statement::Body::Identity, at(padded_, index), name);
      zero.padded = true;
      insert(start, 0, zero);
    }
    insert(start, 0, copy);
    update().reads[static_cast<std::size_t>(read)] = access_to(update(), name, index);
  }

  Scop result_;
  const PaddedProduct& padding_;
  Extents extents_, padded_;
};

}  // namespace

Scop pad_product(const Scop& scop, const PaddedProduct& padding) { return Padder(scop, padding).run(); }

bool may_be_padded(const Scop& scop, const Statement& statement) {
  if (!statement.loops.empty() || !statement.product || !statement.accumulates || statement.op != ReductionOp::Sum ||
      statement.reads.size() != 2 || !statement.origin.is_null() || !is_box_from_zero(scop, statement))
    return false;
  const auto* start = start_of(scop, statement);
  if (!start || !is_box_from_zero(scop, *start) || indexing_iterators(*start, start->write).empty()) return false;
  if (start >= &statement || indexing_iterators(statement, statement.write).empty()) return false;
  const auto& target = range_name(statement.write.relation);
  for (const auto& other : scop.statements)
    if (&other < &statement &&
        std::any_of(other.reads.begin(), other.reads.end(), [&](const Access& read) { return touches(read, target); }))
      return false;
  return std::all_of(statement.reads.begin(), statement.reads.end(), [&](const Access& read) {
    return !touches(read, target) && !indexing_iterators(statement, read).empty();
  });
}

}  // namespace tc::polyhedral
