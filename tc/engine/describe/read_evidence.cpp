#include "tc/engine/describe/read_evidence.h"

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/proto/evidence.pb.h"

namespace tc::engine {

std::string print_evidence(const std::string& evidence) {
  proto::Evidence message;
  if (!message.ParseFromString(evidence)) throw ArgumentError("the bytes are no evidence");
  TextStream out;
  out << message.text() << "\n";
  for (const auto& size : message.sizes()) out << "size " << size.name() << " = " << size.value() << "\n";
  for (const auto& box : message.boxes()) {
    out << "tensor " << box.tensor() << ":";
    for (int d = 0; d < box.min_size(); ++d) out << " " << box.min(d) << ":" << box.min(d) + box.extent(d);
    out << "\n";
  }
  for (const auto& rewrite : message.rewrites()) out << "rewritten by " << rewrite << "\n";
  for (const auto& launch : message.launches()) {
    out << "\nlaunch\n";
    for (const auto& tensor : launch.tensors()) {
      out << "  " << (tensor.storage() == proto::EVIDENCE_STORAGE_LOCAL ? "buffer " : "memory ") << tensor.type() << " "
          << tensor.name() << "(";
      for (int d = 0; d < tensor.extent_size(); ++d)
        out << (d ? ", " : "") << tensor.extent(d) << " by " << tensor.strides(d);
      out << ")\n";
    }
    for (const auto& statement : launch.statements()) {
      out << "  " << statement.id() << " of " << (statement.source().empty() ? "no statement" : statement.source())
          << "\n    instances " << statement.domain() << "\n";
      if (statement.has_origin()) out << "    origin    " << statement.origin() << "\n";
      const auto access = [&](const char* what, const proto::EvidenceAccess& each) {
        out << "    " << what << each.relation() << "\n";
        if (each.has_function()) out << "           at " << each.function() << "\n";
      };
      access(statement.accumulates() ? "joins     " : "writes    ", statement.write());
      for (const auto& read : statement.reads()) access("reads     ", read);
    }
    out << launch.schedule();
    if (launch.has_code_digest()) out << "machine code " << launch.code_digest() << "\n";
  }
  return out.str();
}

EvidenceSubject subject_of(const std::string& evidence) {
  proto::Evidence message;
  if (!message.ParseFromString(evidence)) throw ArgumentError("the bytes are no evidence");
  EvidenceSubject result;
  result.text = message.text();
  for (const auto& launch : message.launches()) {
    result.code_digests.push_back(launch.code_digest());
    for (const auto& tensor : launch.tensors())
      if (tensor.storage() == proto::EVIDENCE_STORAGE_ARGUMENT)
        result.strides[tensor.name()].assign(tensor.strides().begin(), tensor.strides().end());
  }
  return result;
}

}  // namespace tc::engine
