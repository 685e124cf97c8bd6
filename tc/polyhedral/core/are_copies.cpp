#include "tc/polyhedral/core/are_copies.h"

#include <algorithm>

namespace tc::polyhedral {
namespace {

bool are_copies(const Access& a, const Access& b);
bool are_copies(const Statement& a, const Statement& b);
bool are_copies(const Tensor& a, const Tensor& b);
bool are_copies(const Parameter& a, const Parameter& b);

template <typename T>
bool is_one(const T& a, const T& b) {
  return a.get() == b.get();
}

bool are_alike(const Nullable<isl::schedule>& a, const Nullable<isl::schedule>& b) {
  return is_one(a, b) || (a.get() && b.get() && isl_schedule_plain_is_equal(a.get(), b.get()) == isl_bool_true);
}

/// Every member is named below, so that a new one does not compile before it is compared.
bool are_copies(const Indirection& a, const Indirection& b) {
  const auto& [iterators, subscript_reads] = a;
  return iterators == b.iterators && subscript_reads == b.subscript_reads;
}

bool are_copies(const Access& a, const Access& b) {
  const auto& [relation, exact, function, indirection] = a;
  return is_one(relation, b.relation) && exact == b.exact && is_one(function, b.function) &&
         indirection.has_value() == b.indirection.has_value() &&
         (!indirection || are_copies(*indirection, *b.indirection));
}

template <typename T>
bool all_copies(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return are_copies(x, y); });
}

bool are_copies(const Statement& a, const Statement& b) {
  const auto& [id, domain, body, source, iterators, origin, accumulates, op, write, product, reads, vector_lanes, unit,
               unit_iterators, combined_iterator, combined_lanes, combined_in_all, source_read, asynchronous, padded,
               loops, uneven] = a;
  return id == b.id && is_one(domain, b.domain) && body == b.body && source == b.source && iterators == b.iterators &&
         is_one(origin, b.origin) && accumulates == b.accumulates && op == b.op && are_copies(write, b.write) &&
         product == b.product && all_copies(reads, b.reads) && vector_lanes == b.vector_lanes && unit == b.unit &&
         unit_iterators == b.unit_iterators && combined_iterator == b.combined_iterator &&
         combined_lanes == b.combined_lanes && combined_in_all == b.combined_in_all && source_read == b.source_read &&
         asynchronous == b.asynchronous && padded == b.padded && loops == b.loops && uneven == b.uneven;
}

bool are_copies(const Tensor& a, const Tensor& b) {
  const auto& [name, type, min, extent, strides, storage, aligned, live_in, live_out, padded, shared, in_registers,
               combined, elements, stride_variables] = a;
  return name == b.name && type == b.type && min == b.min && extent == b.extent && strides == b.strides &&
         storage == b.storage && aligned == b.aligned && live_in == b.live_in && live_out == b.live_out &&
         padded == b.padded && shared == b.shared && in_registers == b.in_registers && combined == b.combined &&
         is_one(elements, b.elements) && stride_variables == b.stride_variables;
}

bool are_copies(const Parameter& a, const Parameter& b) {
  const auto& [name, min, max] = a;
  return name == b.name && min == b.min && max == b.max;
}

}  // namespace

bool are_copies(const Scop& a, const Scop& b) {
  const auto& [context, statements, tensors, schedule, parameters, sizes] = a;
  return context == b.context && are_alike(schedule, b.schedule) && all_copies(statements, b.statements) &&
         all_copies(tensors, b.tensors) && all_copies(parameters, b.parameters) && is_one(sizes, b.sizes);
}

}  // namespace tc::polyhedral
