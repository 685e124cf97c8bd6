#include <set>
#include <string>
#include <vector>

#include "tc/base/str.h"
#include "tc/polyhedral/core/broken_law.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/core/pairs.h"
#include "tc/polyhedral/core/schedule_walk.h"
#include "tc/polyhedral/laws/verify.h"

namespace tc::polyhedral {
namespace {

/// \p time without the parameters, which name the thread.
isl::union_map in_all_threads(const isl::union_map& time) {
  return call(time.ctx(), isl_union_map_project_out_all_params, time.copy());
}

/// The uses of one buffer of a kernel. Its places are those of one block or, in registers, of one thread.
class KernelBuffer {
 public:
  KernelBuffer(const GridKernel& kernel, const std::string& buffer, const isl::union_map& time)
      : scop_(kernel.scop),
        buffer_(buffer),
        time_(time),
        where_(owner(kernel)),
        elements_(isl::union_map::empty(kernel.scop.ctx())),
        places_(elements_),
        reads_(isl::union_set::empty(kernel.scop.ctx())),
        writes_(reads_) {}

  void run() {
    for (const auto& statement : scop_.statements) {
      add(statement, statement.write, true);
      for (const auto& read : statement.reads) add(statement, read, false);
    }
    check_nothing_goes_past();
    auto served = in_order(of_writes(kept_).apply_range(of_reads(kept_).reverse()), time_);
    auto unserved = reads_.subtract(served.range());
    if (!unserved.is_empty()) fail(str("nothing is written before the read ", sample(unserved)));
    check_overwritten(served);
  }

 private:
  /// { instance -> [thread] } or { instance -> [block] } of what owns the buffer.
  isl::union_map owner(const GridKernel& kernel) const {
    auto all = call(scop_.ctx(), isl_union_map_from_multi_union_pw_aff, kernel.where.blocks.copy());
    if (scop_.tensor(buffer_).shared) return all;
    return all.range_product(call(scop_.ctx(), isl_union_map_from_multi_union_pw_aff, kernel.where.threads.copy()));
  }

  [[noreturn]] void fail(const std::string& what) const {
    broken_law("promotion", str("buffer '", buffer_, "': ", what), scop_.schedule);
  }

  static std::string sample(const isl::union_set& set) {
    auto point = call(set.ctx(), isl_union_set_sample_point, set.copy());
    return str(point);
  }

  void add(const Statement& statement, const Access& access, bool write) {
    if (access.function.is_null() || range_name(access.function) != buffer_) return;
    auto place = access.function.as_map()
                     .intersect_domain(access.relation.domain())
                     .intersect_domain(statement.domain)
                     .to_union_map();
    auto element = access.relation.intersect_domain(statement.domain).to_union_map();
    replaced_.insert(range_name(access.relation));
    auto owned = place.range_product(where_);
    elements_ = elements_.unite(element);
    places_ = places_.unite(owned);
    kept_ = kept_.is_null() ? element.range_product(owned) : kept_.unite(element.range_product(owned));
    auto domain = element.domain();
    if (write) writes_ = writes_.unite(domain);
    if (!write || statement.accumulates) reads_ = reads_.unite(domain);
  }

  isl::union_map of_writes(const isl::union_map& uses) const { return uses.intersect_domain(writes_); }
  isl::union_map of_reads(const isl::union_map& uses) const { return uses.intersect_domain(reads_); }

  void check_nothing_goes_past() const {
    for (const auto& statement : scop_.statements)
      for (const auto* access : accesses(statement)) {
        if (access->function.is_null() || !replaced_.count(range_name(access->relation))) continue;
        if (range_name(access->function) != buffer_)
          fail(str("statement ", statement.id, " uses '", range_name(access->relation), "' past it"));
      }
  }

  /// Where another element is written to the place of one that is read later, this one is written again after that.
  void check_overwritten(const isl::union_map& served) const {
    auto others = of_writes(places_)
                      .apply_range(of_reads(places_).reverse())
                      .subtract(of_writes(elements_).apply_range(of_reads(elements_).reverse()));
    others = in_order(others, time_);
    if (others.is_empty()) return;
    auto last = call(scop_.ctx(), isl_union_map_lexmax, served.reverse().apply_range(time_).release());
    auto writes = times_of(others.domain(), time_);
    auto since = call(scop_.ctx(), isl_union_map_lex_ge_union_map, writes.copy(), last.copy());
    auto lost = others.intersect(since);
    if (!lost.is_empty()) fail(str("the place of an element is written before it is read: ", first_pair(lost)));
  }

  const Scop& scop_;
  std::string buffer_;
  isl::union_map time_;
  isl::union_map where_;
  isl::union_map elements_, places_;  ///< { instance -> T[x] }, { instance -> [buffer[y] -> [owner]] }
  Nullable<isl::union_map> kept_;
  isl::union_set reads_, writes_;
  std::set<std::string> replaced_;
};

}  // namespace

void verify_kernel_promotion(const GridKernel& kernel) {
  std::vector<std::string> buffers;
  for (const auto& tensor : kernel.scop.tensors)
    if (tensor.storage == Tensor::Storage::Local && (tensor.shared || tensor.in_registers))
      buffers.push_back(tensor.name);
  if (buffers.empty()) return;
  auto time = in_all_threads(sequential_time(kernel.scop.schedule));
  for (const auto& buffer : buffers) KernelBuffer(kernel, buffer, time).run();
}

}  // namespace tc::polyhedral
