#include "tc/proof/claims.h"

#include <set>

#include "tc/base/str.h"
#include "tc/proof/verdict.h"
#include "tc/proto/evidence.pb.h"

namespace tc::proof {
namespace {

/// \p text read by isl as a \p T.
template <typename T>
T parsed(isl::ctx ctx, const std::string& text, const std::string& statement, const char* what) {
  try {
    return T(ctx, text);
  } catch (const isl::exception_invalid&) {
  } catch (const isl::exception_unknown&) {
  }
  throw Refusal("form", statement, str("isl cannot read ", what, " '", text.substr(0, 200), "'"));
}

/// Throws unless \p map is of the instances of \p statement and has one value for each.
void require_function(const isl::map& map, const Statement& statement, const char* what) {
  if (map.is_empty()) return;
  if (!map.domain().is_subset(statement.domain))
    throw Refusal("form", statement.id, str(what, " is not of its instances"));
  if (!map.is_single_valued()) throw Refusal("form", statement.id, str(what, " has several values for one instance"));
}

class LaunchReader {
 public:
  LaunchReader(isl::ctx ctx, const TextProgram& text) : ctx_(ctx), text_(text) {}

  Launch run(const proto::EvidenceLaunch& given) {
    Launch result;
    std::set<std::string> ids, names;
    for (const auto& tensor : given.tensors()) {
      result.tensors.push_back(read(tensor));
      if (!names.insert(tensor.name()).second)
        throw Refusal("form", "", str("two tensors are called '", tensor.name(), "'"));
    }
    for (const auto& statement : given.statements()) {
      result.statements.push_back(read(statement));
      if (!ids.insert(statement.id()).second) throw Refusal("form", statement.id(), "two statements have its name");
    }
    result.schedule = parsed<isl::schedule>(ctx_, given.schedule(), "", "the schedule");
    return result;
  }

 private:
  Access read(const proto::EvidenceAccess& given, const Statement& statement, const char* what) const {
    if (!given.exact()) throw Undecided("text", str(what, " of statement ", statement.id, " depends on data"));
    auto element = parsed<isl::map>(ctx_, given.relation(), statement.id, what);
    require_function(element, statement, what);
    if (!given.has_function()) return {element, element};
    auto place = parsed<isl::pw_multi_aff>(ctx_, given.function(), statement.id, what).as_map();
    place = place.intersect_domain(element.domain());
    if (!element.domain().is_subset(place.domain()))
      throw Refusal("form", statement.id, str(what, " has no place in memory for some instances"));
    return {element, place};
  }

  Statement read(const proto::EvidenceStatement& given) const {
    Statement result;
    result.id = given.id();
    result.domain = parsed<isl::set>(ctx_, given.domain(), result.id, "the domain");
    if (name_of(result.domain) != result.id) throw Refusal("form", result.id, "its domain has another name");
    if (isl_set_dim(result.domain.get(), isl_dim_param) > 0) throw Undecided("text", "sizes are symbolic");
    result.body = given.body() == proto::EVIDENCE_BODY_SOURCE     ? Statement::Body::Source
                  : given.body() == proto::EVIDENCE_BODY_IDENTITY ? Statement::Body::Identity
                                                                  : Statement::Body::Copy;
    result.accumulates = given.accumulates();
    result.op = given.op();
    read_source(given, result);
    result.write = read(given.write(), result, "the write");
    if (!result.domain.is_subset(result.write.element.domain()))
      throw Refusal("form", result.id, "some of its instances write nothing");
    for (const auto& access : given.reads()) result.reads.push_back(read(access, result, "a read"));
    if (result.body == Statement::Body::Copy && result.reads.size() != 1)
      throw Undecided("text", str("the copy ", result.id, " follows an index tensor"));
    return result;
  }

  void read_source(const proto::EvidenceStatement& given, Statement& result) const {
    result.origin = result.domain.space().identity_multi_aff_on_domain().as_map().intersect_domain(result.domain);
    if (result.body == Statement::Body::Copy) return;
    result.source = text_.find(given.source());
    if (result.source < 0) {
      if (result.body == Statement::Body::Identity && given.source().empty()) return;
      throw Refusal("body", result.id, str("it is of '", given.source(), "', which is no statement of the text"));
    }
    const auto& of = text_.statements[static_cast<std::size_t>(result.source)];
    if (given.has_origin())
      result.origin = parsed<isl::map>(ctx_, given.origin(), result.id, "the origin").intersect_domain(result.domain);
    else
      result.origin = result.origin.set_range_tuple(of.id);
    require_function(result.origin, result, "the origin");
    if (!result.domain.is_subset(result.origin.domain()))
      throw Refusal("form", result.id, "some of its instances have no origin");
    const bool same = result.origin.is_empty() || result.origin.space().range().is_equal(of.domain.space());
    if (!same) throw Refusal("form", result.id, str("its origin is not in ", of.id));
  }

  static Tensor read(const proto::EvidenceTensor& given) {
    Tensor result;
    result.name = given.name();
    result.type = given.type();
    result.min.assign(given.min().begin(), given.min().end());
    result.extent.assign(given.extent().begin(), given.extent().end());
    result.strides.assign(given.strides().begin(), given.strides().end());
    result.storage = given.storage() == proto::EVIDENCE_STORAGE_LOCAL       ? Tensor::Storage::Local
                     : given.storage() == proto::EVIDENCE_STORAGE_WORKSPACE ? Tensor::Storage::Workspace
                                                                            : Tensor::Storage::Argument;
    if (result.extent.size() != result.min.size() || result.strides.size() != result.min.size())
      throw Refusal("form", "", str("the tensor '", result.name, "' has a box or strides of another rank"));
    return result;
  }

  isl::ctx ctx_;
  const TextProgram& text_;
};

}  // namespace

isl::set Tensor::box(isl::ctx ctx) const {
  lang::Box box;
  for (std::size_t d = 0; d < extent.size(); ++d) box.push_back({min[d], extent[d]});
  return box_set(ctx, name, box);
}

const Tensor* Launch::find(const std::string& name) const {
  for (const auto& tensor : tensors)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

Launch read_launch(isl::ctx ctx, const proto::EvidenceLaunch& launch, const TextProgram& text) {
  return LaunchReader(ctx, text).run(launch);
}

}  // namespace tc::proof
