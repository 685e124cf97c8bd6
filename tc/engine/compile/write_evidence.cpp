#include "tc/engine/compile/write_evidence.h"

#include "tc/base/str.h"
#include "tc/cache/sha256.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/halide_bridge/lower/program.h"
#include "tc/lang/syntax/print.h"
#include "tc/proof/check.h"
#include "tc/proto/evidence.pb.h"

namespace tc::engine {
namespace {

void write(const polyhedral::Access& access, proto::EvidenceAccess& out) {
  out.set_relation(str(access.relation));
  out.set_exact(access.exact);
  if (access.function.is_null()) return;
  const bool elsewhere = polyhedral::range_name(access.function) != polyhedral::range_name(access.relation);
  if (elsewhere) out.set_function(str(static_cast<const isl::pw_multi_aff&>(access.function)));
}

proto::EvidenceBody body_of(polyhedral::Statement::Body body) {
  switch (body) {
    case polyhedral::Statement::Body::Source:
      return proto::EVIDENCE_BODY_SOURCE;
    case polyhedral::Statement::Body::Identity:
      return proto::EVIDENCE_BODY_IDENTITY;
    case polyhedral::Statement::Body::Copy:
      return proto::EVIDENCE_BODY_COPY;
  }
  throw InternalError("a body without a meaning");
}

void write(const polyhedral::Statement& statement, proto::EvidenceStatement& out) {
  out.set_id(statement.id);
  out.set_domain(str(statement.domain));
  out.set_body(body_of(statement.body));
  out.set_source(statement.source);
  if (!statement.origin.is_null()) out.set_origin(str(static_cast<const isl::multi_aff&>(statement.origin)));
  out.set_accumulates(statement.accumulates);
  out.set_op(std::string(spelling(statement.op)));
  write(statement.write, *out.mutable_write());
  for (const auto& read : statement.reads) write(read, *out.add_reads());
  out.set_lanes(statement.vector_lanes);
}

void write(const polyhedral::Tensor& tensor, proto::EvidenceTensor& out) {
  using Storage = polyhedral::Tensor::Storage;
  out.set_name(tensor.name);
  out.set_type(std::string(name(tensor.type)));
  for (const auto min : tensor.min) out.add_min(min);
  for (const auto extent : tensor.extent) out.add_extent(extent);
  for (const auto stride : tensor.strides) out.add_strides(stride);
  out.set_storage(tensor.storage == Storage::Local       ? proto::EVIDENCE_STORAGE_LOCAL
                  : tensor.storage == Storage::Workspace ? proto::EVIDENCE_STORAGE_WORKSPACE
                                                         : proto::EVIDENCE_STORAGE_ARGUMENT);
  out.set_masked(!tensor.padded || tensor.combined);
}

void write(const LaunchState& launch, proto::EvidenceLaunch& out) {
  for (const auto& statement : launch.scop->statements) write(statement, *out.add_statements());
  for (const auto& tensor : launch.scop->tensors) write(tensor, *out.add_tensors());
  out.set_schedule(polyhedral::print_block(launch.scop->schedule));
  if (launch.cpu().code.bytes.empty()) return;
  out.set_code_digest(cache::hex(cache::sha256(launch.cpu().code.serialise())));
}

/// The ranges of the iterators and the boxes of the tensors for the sizes of \p state.
void write_ranges(const CompileState& state, proto::Evidence& out) {
  const auto& ranges = state.function->ranges;
  for (const auto& [name, value] : state.sizes) {
    auto& size = *out.add_sizes();
    size.set_name(name);
    size.set_value(value);
  }
  for (const auto& iterators : ranges.statements) {
    auto& assignment = *out.add_assignments();
    for (const auto& [iterator, range] : iterators) {
      const auto values = lang::evaluate_box({range}, state.sizes).front();
      auto& interval = *assignment.add_ranges();
      interval.set_iterator(iterator);
      interval.set_min(values.min);
      interval.set_extent(values.extent);
    }
  }
  for (const auto& [tensor, dimensions] : ranges.tensors) {
    auto& box = *out.add_boxes();
    box.set_tensor(tensor);
    for (const auto& values : lang::evaluate_box(dimensions, state.sizes)) {
      box.add_min(values.min);
      box.add_extent(values.extent);
    }
  }
}

}  // namespace

std::string write_evidence(const CompileState& state) {
  if (state.target.is_cuda() || !state.symbolic.empty()) return {};
  proto::Evidence evidence;
  evidence.set_schema_version(proof::schema_version);
  evidence.set_text(lang::print(state.function->def));
  write_ranges(state, evidence);
  for (const auto& rewrite : state.rewrites) evidence.add_rewrites(rewrite);
  try {
    for (std::size_t i = 0; i < state.launches.size(); ++i)
      if (state.launches[i].scop) write(state.launches[i], *evidence.add_launches());
  } catch (const isl::exception&) {
    state.cancellation.check("evidence");
    throw;
  }
  evidence.set_target(to_string(state.target));
  return evidence.SerializeAsString();
}

}  // namespace tc::engine
