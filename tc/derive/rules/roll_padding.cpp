#include "tc/derive/rules/roll_padding.h"

#include <algorithm>
#include <map>

#include "tc/base/str.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"

namespace tc::derive {

namespace {

class Padder {
 public:
  Padder(const Program& program, RollView& view, Blocks& blocks)
      : before_(program), view_(view), blocks_(blocks), step_{"pad", "", program, {}} {}

  Step run() {
    for (const auto& tensor : blocks_.tensors)
      if (before_.find(tensor)->op) widen(tensor);
    if (view_.has_maximum()) {
      pad_argument();
      widen(view_.maximum);
    }
    for (const auto& sum : view_.sums) widen(sum.tensor);
    step_.what = str("blocks of ", blocks_.size);
    return std::move(step_);
  }

 private:
  /// A temporary in front of the maximum that holds its operand, and its neutral element behind the range.
  void pad_argument() {
    const auto& maximum = *before_.find(view_.maximum);
    const auto& part = maximum.cases.front();
    const auto k = read_number(part.body);
    const auto found =
        k ? std::find(blocks_.tensors.begin(), blocks_.tensors.end(), part.reads[*k].tensor) : blocks_.tensors.end();
    if (found == blocks_.tensors.end()) throw Refusal{str("'", view_.maximum, "' is not the maximum of a temporary")};
    const auto source = before_.find(*found);
    auto padded = copy_of(*source, *found, projection(*before_.context, source->left(), run_of(0, source->left())),
                          image_in(part.domain, part.reads[*k]));
    padded.tensor = fresh_tensor(step_.after, *found + "_padded");
    padded.fill = neutral(*maximum.op);
    replaced_.emplace(*found, padded.tensor);
    const auto position = view_.positions[static_cast<std::size_t>(found - blocks_.tensors.begin())];
    insert_behind(*found, padded);
    view_.moved.push_back(padded.tensor);
    view_.positions.push_back(position);
    blocks_.tensors.push_back(padded.tensor);
  }

  isl::set image_in(const isl::set& instances, const Read& read) const {
    return instances.apply(read.at.as_map()).intersect(box_set(*before_.context, before_.box(read.tensor)));
  }

  /// The sum \p tensor with all instances of its box, of padded operands.
  void widen(const std::string& tensor) {
    auto scope = *before_.find(tensor);
    if (scope.cases.size() != 1) throw Refusal{str("'", tensor, "' has conditions")};
    auto& part = scope.cases.front();
    const auto whole = box_set(*before_.context, iterator_box(scope));
    auto links = projection(*before_.context, scope.dimensions(), run_of(0, scope.dimensions()));
    for (const auto k : reads_in(part.body)) {
      auto& read = part.reads[k];
      if (const auto known = replaced_.find(read.tensor); known != replaced_.end())
        read.tensor = known->second;
      else if (!whole.apply(read.at.as_map()).is_subset(box_set(*before_.context, before_.box(read.tensor))))
        read.tensor = padded(read.tensor, whole.apply(read.at.as_map()));
      else
        continue;
      links = links.flat_range_product(read.at);
    }
    part.domain = whole;
    for (auto& place : step_.after.scopes)
      if (place->tensor == tensor) place = std::make_shared<const Scope>(scope);
    const auto one = by_cases(tensor, 1, links);
    step_.certificate.maps.insert(one.maps.begin(), one.maps.end());
  }

  /// A copy of \p tensor with zeros where \p elements are outside of it.
  std::string padded(const std::string& tensor, const isl::set& elements) {
    const auto& box = before_.box(tensor);
    const auto inside = box_set(*before_.context, box);
    const auto around = hull(elements.unite(inside));
    const auto [known, is_new] = padded_.try_emplace(tensor, fresh_tensor(step_.after, tensor + "_padded"));
    if (!is_new) {
      if (!(step_.after.box(known->second) == around)) throw Refusal{str("'", tensor, "' has two borders")};
      return known->second;
    }
    Scope copy;
    copy.tensor = known->second;
    copy.type = before_.type(tensor);
    copy.box = around;
    const auto rank = static_cast<int>(box.size());
    copy.iterators = dimension_names(rank);
    copy.cases = {{inside, only_read(), {{tensor, projection(*before_.context, rank, run_of(0, rank))}}}};
    insert_behind(tensor, copy);
    return copy.tensor;
  }

  /// Adds \p scope behind what defines \p tensor; in front, if that is an input.
  void insert_behind(const std::string& tensor, const Scope& scope) {
    auto& scopes = step_.after.scopes;
    const auto found =
        std::find_if(scopes.begin(), scopes.end(), [&](const auto& each) { return each->tensor == tensor; });
    scopes.insert(found == scopes.end() ? scopes.begin() : found + 1, std::make_shared<const Scope>(scope));
  }

  const Program& before_;
  RollView& view_;
  Blocks& blocks_;
  Step step_;
  std::map<std::string, std::string> replaced_, padded_;  ///< tensors, and what is read in place of them
};

}  // namespace

std::vector<Step> padded_blocks(const Program& program, RollView& view, Blocks& blocks) {
  if (blocks.extent % blocks.size == 0) return {};
  auto padded_view = view;
  auto padded_names = blocks;
  try {
    auto step = Padder(program, padded_view, padded_names).run();
    view = std::move(padded_view);
    blocks = std::move(padded_names);
    return {std::move(step)};
  } catch (const Refusal&) {
    return {};
  }
}

}  // namespace tc::derive
