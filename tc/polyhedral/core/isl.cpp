#include "tc/polyhedral/core/isl.h"

#include <cstdlib>

namespace tc::polyhedral {
namespace {

/// The text an isl printer function returned; frees it.
std::string take_text(char* text) {
  std::string result = text ? text : "";
  std::free(text);
  return result;
}

std::string text_or_empty(const char* text) { return text ? text : ""; }

}  // namespace

Context::Context() : ctx_(isl_ctx_alloc()) {
  isl_options_set_on_error(ctx_, ISL_ON_ERROR_CONTINUE);
  isl_options_set_tile_scale_tile_loops(ctx_, 0);
  isl_options_set_tile_shift_point_loops(ctx_, 1);
  // One loop for what a band runs in one iteration: marks below it, of a buffer for example, are of all of that.
  isl_options_set_ast_build_group_coscheduled(ctx_, 1);
}

Context::~Context() { isl_ctx_free(ctx_); }

OperationQuota::OperationQuota(isl::ctx ctx, unsigned long operations)
    : ctx_(ctx), before_(isl_ctx_get_max_operations(ctx.get())) {
  isl_ctx_reset_operations(ctx_.get());
  isl_ctx_set_max_operations(ctx_.get(), operations);
}

OperationQuota::~OperationQuota() {
  isl_ctx_set_max_operations(ctx_.get(), before_);
  isl_ctx_reset_operations(ctx_.get());
}

bool OperationQuota::caused(const isl::exception& error) {
  if (dynamic_cast<const isl::exception_quota*>(&error)) return true;
  if (isl_ctx_get_max_operations(ctx_.get()) == 0) return false;
  isl_ctx_reset_error(ctx_.get());
  isl_set* probe = isl_set_read_from_str(ctx_.get(), "{ [i] : i >= 0 }");
  bool result = !probe && isl_ctx_last_error(ctx_.get()) == isl_error_quota;
  isl_set_free(probe);
  isl_ctx_reset_error(ctx_.get());
  return result;
}

bool OperationQuota::goes_on(unsigned long operations) {
  isl_ctx_set_max_operations(ctx_.get(), operations);
  isl_val* probe = isl_val_zero(ctx_.get());
  isl_val_free(probe);
  if (!probe) isl_ctx_reset_error(ctx_.get());
  return probe;
}

unsigned long OperationQuota::spent() {
  const auto limit = isl_ctx_get_max_operations(ctx_.get());
  if (limit == 0) return 0;
  unsigned long least = 0, most = limit;
  while (least < most) {
    auto middle = least + (most - least) / 2;
    if (goes_on(middle + 1))
      most = middle;
    else
      least = middle + 1;
  }
  isl_ctx_set_max_operations(ctx_.get(), limit);
  return least;
}

std::string mark_name(const isl::schedule_node& mark) {
  return call(mark.ctx(), isl_schedule_node_mark_get_id, mark.get()).name();
}

isl::schedule_node erase(const isl::schedule_node& node) {
  return call(node.ctx(), isl_schedule_node_delete, node.copy());
}

std::string print_block(const isl::schedule& schedule) {
  auto* printer = isl_printer_to_str(schedule.ctx().get());
  printer = isl_printer_set_yaml_style(printer, ISL_YAML_STYLE_BLOCK);
  printer = isl_printer_print_schedule(printer, schedule.get());
  auto text = take_text(isl_printer_get_str(printer));
  isl_printer_free(printer);
  return text;
}

bool plain_equal(const isl::schedule& a, const isl::schedule& b) {
  return isl_schedule_plain_is_equal(a.get(), b.get()) == isl_bool_true;
}

std::string tuple_name(const isl::set& set) { return text_or_empty(isl_set_get_tuple_name(set.get())); }

std::string domain_name(const isl::map& map) { return text_or_empty(isl_map_get_tuple_name(map.get(), isl_dim_in)); }

std::string range_name(const isl::map& map) { return text_or_empty(isl_map_get_tuple_name(map.get(), isl_dim_out)); }

std::string range_name(const isl::pw_multi_aff& function) {
  return text_or_empty(isl_pw_multi_aff_get_tuple_name(function.get(), isl_dim_out));
}

int dimensions(const isl::set& set) { return isl_set_dim(set.get(), isl_dim_set); }

}  // namespace tc::polyhedral
