#include "tc/derive/rules/moved_temporaries.h"

#include <algorithm>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/derive/form/isl_bounds.h"
#include "tc/derive/form/isl_text.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/rules/rewrite.h"

namespace tc::derive {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw Refusal{why}; }

/// Does an index of \p read beside that of dimension \p j vary?
bool has_rows(const Read& read, int j) {
  for (int d = 0; d < static_cast<int>(read.at.size()); ++d)
    if (!depends(read.at, d, j) && !read.at.at(d).is_cst()) return true;
  return false;
}

}  // namespace

lang::IntegerRange summed_range(const Scope& scope) { return iterator_box(scope).back(); }

int position_of(const Program& program, const Scope& scope, const Read& read, int j) {
  const auto own = projection(*program.context, scope.dimensions(), {j}).at(0);
  const auto all = isl::set::universe(own.domain().space());
  int result = -1;
  for (int d = 0; d < static_cast<int>(read.at.size()); ++d)
    if (read.at.at(d).eq_set(own).is_equal(all))
      result = result == -1 ? d : -2;
    else if (depends(read.at, d, j))
      result = -2;
  return result;
}

MovedTemporaries::MovedTemporaries(const Program& program, const lang::IntegerRange& range, RollView& view,
                                   std::vector<std::string> only)
    : program_(program), range_(range), view_(view), only_(std::move(only)) {}

void MovedTemporaries::add(const Read& read, const Scope& scope, int j) {
  const auto source = read.tensor.empty() ? nullptr : program_.find(read.tensor);
  if (!source || !depends(read.at, j) || !has_rows(read, j)) return;
  const auto& name = source->tensor;
  if (!only_.empty() && !contains(only_, name)) return;
  const int position = position_of(program_, scope, read, j);
  if (position < 0) refuse(str("'", scope.tensor, "' reads '", name, "' at another index than its iterator"));
  if (const int known = view_.position(name); known >= 0 && known != position)
    refuse(str("'", name, "' is read at its iterator in two dimensions"));
  if (contains(view_.moved, name)) return;
  if (program_.is_output(name)) refuse(str("'", name, "' is an output, and so needed as a whole"));
  if (!(source->box[static_cast<std::size_t>(position)] == range_))
    refuse(str("'", name, "' has another range than '", view_.has_maximum() ? view_.maximum : view_.sums.front().tensor,
               "'"));
  view_.moved.push_back(name);
  view_.positions.push_back(position);
  for (const auto& part : source->cases)
    for (const auto& inner : part.reads) add(inner, *source, position);
}

void MovedTemporaries::check_readers() const {
  for (const auto& scope : program_.scopes) {
    const bool inside = scope->tensor == view_.maximum || contains(view_.moved, scope->tensor) ||
                        std::any_of(view_.sums.begin(), view_.sums.end(),
                                    [&](const RolledSum& sum) { return sum.tensor == scope->tensor; });
    for (const auto& part : scope->cases)
      for (const auto& read : part.reads)
        if (!inside && contains(view_.moved, read.tensor))
          refuse(str("'", read.tensor, "' is read by '", scope->tensor, "', too, and so needed as a whole"));
  }
}

void MovedTemporaries::sort() {
  std::vector<std::string> moved;
  std::vector<int> positions;
  for (const auto& scope : program_.scopes)
    if (const int position = view_.position(scope->tensor); position >= 0) {
      if (!scope->keeps_values() && view_.has_maximum()) refuse(str("'", scope->tensor, "' converts between types"));
      moved.push_back(scope->tensor);
      positions.push_back(position);
    }
  view_.moved = moved;
  view_.positions = positions;
}

}  // namespace tc::derive
