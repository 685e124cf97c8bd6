#pragma once

#include <isl/cpp.h>
#include <isl/options.h>
#include <isl/schedule.h>
#include <isl/schedule_node.h>

#include <string>
#include <utility>

/// The checker's own access to isl: it shares no source with the compiler.
namespace tc::proof {

/// An isl context whose errors are exceptions, with a limit of operations beyond which isl throws isl::exception_quota.
class Context {
 public:
  explicit Context(unsigned long operations) : ctx_(isl_ctx_alloc()) {
    isl_options_set_on_error(ctx_, ISL_ON_ERROR_CONTINUE);
    isl_ctx_set_max_operations(ctx_, operations);
  }
  ~Context() { isl_ctx_free(ctx_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  operator isl::ctx() const { return isl::ctx(ctx_); }

 private:
  isl_ctx* ctx_;
};

/// Calls a C function that isl/cpp.h does not export, as the bindings do: copy() for __isl_take, get() for __isl_keep.
template <typename Fn, typename... Args>
auto call(isl::ctx ctx, Fn&& fn, Args&&... args) {
  isl::options_scoped_set_on_error guard(ctx, isl::exception::on_error);
  auto* result = std::forward<Fn>(fn)(std::forward<Args>(args)...);
  if (!result) isl::exception::throw_last_error(ctx);
  return isl::manage(result);
}

/// \p a with, behind each of its elements, that of \p b: { x -> [a(x) -> b(x)] }.
inline isl::union_map paired(const isl::union_map& a, const isl::union_map& b) { return a.range_product(b); }

/// The identity of \p instances: { x -> x }.
inline isl::union_map identity_on(const isl::union_set& instances) {
  return call(instances.ctx(), isl_union_set_identity, instances.copy());
}

/// The name of the tuple of a set; "" without one.
inline std::string name_of(const isl::set& set) {
  const char* name = isl_set_get_tuple_name(set.get());
  return name ? name : "";
}
/// The name of the range of a map; "" without one.
inline std::string range_name(const isl::map& map) {
  const char* name = isl_map_get_tuple_name(map.get(), isl_dim_out);
  return name ? name : "";
}

}  // namespace tc::proof
