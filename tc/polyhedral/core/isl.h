#pragma once

#include <isl/ast.h>
#include <isl/ast_build.h>
#include <isl/cpp.h>
#include <isl/flow.h>
#include <isl/options.h>
#include <isl/schedule.h>
#include <isl/schedule_node.h>
#include <isl/version.h>

#include <string>
#include <utility>
#include <vector>

/// The complement of isl/cpp.h: an owning context and the functions the bindings lack. The only file that includes
/// them.
namespace tc::polyhedral {

/// Owns an isl_ctx and sets its options once: errors are exceptions and never printed, tile loops are not scaled,
/// point loops are shifted to start at 0. One Context a compilation, used by one thread; destroyed after its objects.
class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  operator isl::ctx() const { return isl::ctx(ctx_); }

 private:
  isl_ctx* ctx_;
};

/// While alive, isl operations beyond \p operations throw isl::exception_quota. 0: no limit.
class OperationQuota {
 public:
  OperationQuota(isl::ctx ctx, unsigned long operations);
  ~OperationQuota();
  OperationQuota(const OperationQuota&) = delete;
  OperationQuota& operator=(const OperationQuota&) = delete;

  /// Was \p error thrown for want of operations? A function of isl that goes on without what another one did not return
  /// fails with an error of its own, so its type alone does not tell.
  bool caused(const isl::exception& error);
  /// How many of the operations have been used; 0 without a limit. isl counts them but does not tell: the smallest limit
  /// that lets one more operation through is sought, which costs some twenty operations itself.
  unsigned long spent();

 private:
  /// Does isl go on under the limit \p operations?
  bool goes_on(unsigned long operations);

  isl::ctx ctx_;
  unsigned long before_;
};

/// Calls a C function that isl/cpp.h does not export, the way the bindings call theirs: nothing is printed, and the
/// exception carries isl's own message. Arguments: copy() for __isl_take, get() for __isl_keep.
template <typename Fn, typename... Args>
auto call(isl::ctx ctx, Fn&& fn, Args&&... args) {
  isl::options_scoped_set_on_error guard(ctx, isl::exception::on_error);
  auto* result = std::forward<Fn>(fn)(std::forward<Args>(args)...);
  if (!result) isl::exception::throw_last_error(ctx);
  return isl::manage(result);
}

/// A \p T that may be absent (is_null()). A plain isl object throws when it is copied while it is null.
template <typename T>
class Nullable : public T {
 public:
  Nullable() = default;
  Nullable(const T& object) : T(object) {}
  Nullable(const Nullable& other) : T() { *this = other; }
  Nullable& operator=(const Nullable& other) {
    if (other.is_null()) {
      T::operator=(T());
    } else {
      T::operator=(other);
    }
    return *this;
  }
};

/// The elements of an isl list.
template <typename List>
auto elements(const List& list) {
  std::vector<decltype(list.at(0))> result;
  for (unsigned i = 0; i < list.size(); ++i) result.push_back(list.at(i));
  return result;
}

/// The name of a mark node.
std::string mark_name(const isl::schedule_node& mark);
/// \p node without itself: parent - node - child becomes parent - child.
isl::schedule_node erase(const isl::schedule_node& node);
/// \p schedule in isl's block YAML, which parses back.
std::string print_block(const isl::schedule& schedule);
bool plain_equal(const isl::schedule& a, const isl::schedule& b);
/// The name of the tuple of a set, or of the domain / range of a map.
std::string tuple_name(const isl::set& set);
std::string domain_name(const isl::map& map);
std::string range_name(const isl::map& map);
std::string range_name(const isl::pw_multi_aff& function);
int dimensions(const isl::set& set);

}  // namespace tc::polyhedral
