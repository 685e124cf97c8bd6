#include "tc/polyhedral/spread/thread_digits.h"

#include "tc/base/ceil_div.h"
#include "tc/polyhedral/core/cluster_view.h"

namespace tc::polyhedral {

void ThreadDigits::add(isl::union_pw_aff index, std::int64_t count) {
  while (count > 1) {
    while (dimension_ < 3 && filled_ >= block_[dimension_]) next();
    if (dimension_ == 3) return void(rounds.insert(rounds.begin(), Round{index, count}));
    auto room = block_[dimension_] / filled_;
    auto digit = count > room ? remainder(index, room) : index;
    auto part = call(index.ctx(), isl_union_pw_aff_scale_val, digit.copy(), isl::val(index.ctx(), filled_).release());
    auto& sum = threads[dimension_];
    sum = sum.is_null() ? part : call(index.ctx(), isl_union_pw_aff_add, sum.copy(), part.copy());
    if (count <= room) return void(filled_ *= count);
    index = quotient(index, room);
    count = ceil_div(count, room);
    next();
  }
}

void ThreadDigits::next() {
  ++dimension_;
  filled_ = 1;
}

}  // namespace tc::polyhedral
