#include <map>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/broken_law.h"
#include "tc/polyhedral/laws/verify.h"

namespace tc::polyhedral {
namespace {

/// { S[i] -> read_3_of_S1[j] }: which element read number \p read of the source finds for the instances of
/// \p statement, told by the iterators of the source that decide on it.
isl::map found_by(const Statement& statement, int read, const Indirection& indirection) {
  auto function = statement.origin.is_null() ? statement.domain.space().identity_multi_aff_on_domain().to_pw_multi_aff()
                                             : statement.origin.to_pw_multi_aff();
  auto map = call(function.ctx(), isl_map_reset_tuple_id, function.as_map().release(), isl_dim_out);
  for (int j = static_cast<int>(function.size()) - 1; j >= 0; --j)
    if (!contains(indirection.iterators, j))
      map = call(map.ctx(), isl_map_project_out, map.copy(), isl_dim_out, static_cast<unsigned>(j), 1u);
  return map.set_range_tuple(str("read_", read, "_of_", statement.source)).intersect_domain(statement.domain);
}

/// What copies of indirect reads hold.
class GatherCheck {
 public:
  explicit GatherCheck(const Scop& scop) : scop_(scop), wanted_(isl::union_set::empty(scop.ctx())) {}

  void run() {
    for (const auto& statement : scop_.statements)
      if (statement.body == Statement::Body::Copy) fill(statement);
    for (const auto& statement : scop_.statements)
      for (std::size_t i = 0; i < statement.reads.size(); ++i)
        if (is_redirected(statement, statement.reads[i])) check(statement, static_cast<int>(i));
    for (const auto& statement : scop_.statements)
      if (statement.source_read >= 0) check_wanted(statement);
  }

 private:
  static bool is_redirected(const Statement& statement, const Access& read) {
    return statement.body == Statement::Body::Source && read.exact && read.indirection.has_value();
  }

  [[noreturn]] void fail(const std::string& what) const { broken_law("gathers", what, scop_.schedule); }

  /// Notes what \p copy puts into the tensor that it writes.
  void fill(const Statement& copy) {
    const auto& read = copy.reads.back();
    isl::union_map found = isl::union_map::empty(scop_.ctx());
    if (copy.source_read >= 0) {
      found = found_by(copy, copy.source_read, *read.indirection).to_union_map();
    } else if (auto from = holds_.find(range_name(read.relation)); from != holds_.end()) {
      found = read.relation.to_union_map().apply_range(from->second);
    }
    if (found.is_empty()) return;
    auto elements = copy.write.relation.reverse().to_union_map().apply_range(found);
    auto [place, fresh] = holds_.emplace(range_name(copy.write.relation), elements);
    if (!fresh) place->second = place->second.unite(elements);
  }

  /// Does read number \p number find in a copy what it would find in its own tensor?
  void check(const Statement& statement, int number) {
    const auto& read = statement.reads[static_cast<std::size_t>(number)];
    auto want = found_by(statement, number, *read.indirection).intersect_domain(read.relation.domain()).to_union_map();
    wanted_ = wanted_.unite(want.range());
    auto holds = holds_.find(range_name(read.relation));
    auto seen = holds == holds_.end() ? isl::union_map::empty(scop_.ctx())
                                      : read.relation.to_union_map().apply_range(holds->second);
    auto missing = want.subtract(seen), wrong = seen.subtract(want);
    auto who = str("read ", number, " of ", statement.id);
    if (!wrong.is_empty()) fail(str(who, " finds another element in its copy: ", first_pair(wrong)));
    if (!missing.is_empty()) fail(str(who, " finds nothing in its copy: ", first_pair(missing)));
  }

  /// Does \p copy follow only subscripts that the program follows, which alone are known to be inside the tensor?
  void check_wanted(const Statement& copy) const {
    auto found = found_by(copy, copy.source_read, *copy.reads.back().indirection).to_union_map();
    auto more = found.subtract_range(wanted_);
    if (!more.is_empty()) fail(str(copy.id, " copies what nobody reads: ", first_pair(more)));
  }

  const Scop& scop_;
  std::map<std::string, isl::union_map> holds_;  ///< { T[x] -> read_3_of_S1[j] } of each copy T
  isl::union_set wanted_;
};

}  // namespace

void verify_gathers(const Scop& scop) { GatherCheck(scop).run(); }

void verify_kernel_gathers(const GridKernel& kernel) {
  verify_gathers(kernel.scop);
  for (const auto& copy : kernel.scop.statements)
    for (const auto& read : copy.reads)
      for (const auto& other : kernel.scop.statements)
        if (copy.source_read >= 0 && !read.exact && range_name(other.write.relation) == range_name(read.relation))
          broken_law("gathers", str(copy.id, " copies what ", other.id, " writes"), kernel.scop.schedule);
}

}  // namespace tc::polyhedral
