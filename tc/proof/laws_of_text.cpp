#include <algorithm>
#include <limits>

#include "tc/base/str.h"
#include "tc/proof/laws.h"
#include "tc/proof/verdict.h"

namespace tc::proof {
namespace {

using Body = Statement::Body;
using Kind = TextStatement::Kind;

/// The access of the text, { S[i] -> A[x] }, that \p use is by its place in the statement; null for one of no statement of the text.
const isl::map* of_text(const TextProgram& text, const Use& use) {
  if (use.statement->source < 0) return nullptr;
  const auto& source = text.statements[static_cast<std::size_t>(use.statement->source)];
  return use.writes() ? &source.write : &source.reads[static_cast<std::size_t>(use.number)].element;
}

/// Is the statement of the kind that its source has?
void check_kind(const TextProgram& text, const Statement& statement) {
  const auto refuse = [&](const std::string& why) { throw Refusal("body", statement.id, why); };
  if (statement.source < 0) {
    if (statement.body == Body::Identity && (statement.accumulates || !statement.reads.empty()))
      refuse("a statement that starts accumulators does nothing else");
    return;
  }
  const auto& source = text.statements[static_cast<std::size_t>(statement.source)];
  const bool identity = statement.body == Body::Identity;
  if (identity != (source.kind == Kind::Initialise)) refuse(str("it is of another kind than ", source.id));
  if (statement.accumulates != (source.kind == Kind::Update))
    refuse(str(source.id, " ", statement.accumulates ? "does not accumulate" : "accumulates"));
  if (source.kind != Kind::Assign && statement.op != spelling(source.op))
    refuse(str("its operator is '", statement.op, "', and that of ", source.id, " is '", spelling(source.op), "'"));
  if (statement.reads.size() == source.reads.size()) return;
  if (source.has_integer_values)
    throw Undecided("body", str(source.id, " computes integers, of which operands may be read twice"));
  refuse(str("it has ", statement.reads.size(), " reads, and ", source.id, " has ", source.reads.size()));
}

/// Does \p statement read whenever the text does?
void check_conditions(const Subject& subject, const Statement& statement) {
  if (statement.source < 0 || statement.body != Body::Source) return;
  const auto& source = subject.text.statements[static_cast<std::size_t>(statement.source)];
  for (std::size_t i = 0; i < source.reads.size(); ++i) {
    const auto& read = source.reads[i];
    const auto must = statement.origin.intersect_range(read.where.intersect(source.domain)).domain();
    const auto missing = must.subtract(statement.reads[i].element.domain());
    if (missing.is_empty()) continue;
    const auto why = str("read ", i, " happens in the text and not in the kernel: ", isl::set(missing).lexmin());
    if (!read.exact) throw Undecided("body", str(statement.id, ": ", why, "; the condition around it depends on data"));
    throw Refusal("body", statement.id, why);
  }
}

}  // namespace

bool Subject::is_partial(const std::string& tensor) const {
  return std::any_of(launch.statements.begin(), launch.statements.end(), [&](const Statement& statement) {
    return statement.body == Body::Copy && statement.accumulates && range_name(statement.reads[0].element) == tensor;
  });
}

std::vector<Use> uses_of(const Launch& launch) {
  std::vector<Use> result;
  for (const auto& statement : launch.statements)
    for (int i = -1; i < static_cast<int>(statement.reads.size()); ++i) result.push_back({&statement, i});
  return result;
}

namespace {

/// The elements that the instances \p ran of each statement of \p text read.
isl::union_set read_by(const TextProgram& text, const std::vector<isl::union_set>& ran) {
  auto result = isl::union_set::empty(ran.front().ctx());
  for (std::size_t i = 0; i < ran.size(); ++i)
    for (const auto& read : text.statements[i].reads)
      result = result.unite(ran[i].intersect(read.where.to_union_set()).apply(read.element.to_union_map()));
  return result;
}

}  // namespace

void check_instances(const Subject& subject) {
  auto domain = isl::union_set::empty(subject.ctx());
  std::vector<isl::union_set> ran(subject.text.statements.size(), domain);
  for (const auto& statement : subject.launch.statements) {
    domain = domain.unite(statement.domain.to_union_set());
    if (statement.source < 0) continue;
    auto& seen = ran[static_cast<std::size_t>(statement.source)];
    const auto instances = statement.origin.to_union_map().range();
    if (!statement.origin.is_empty() && !statement.origin.is_injective())
      throw Refusal("instances", statement.id, "two of its instances are one of the text");
    if (!seen.is_disjoint(instances))
      throw Refusal("instances", statement.id, "another statement runs its instances too");
    seen = seen.unite(instances);
  }
  for (std::size_t i = 0; i < ran.size(); ++i) {
    const auto& source = subject.text.statements[i];
    if (source.domain.to_union_set().is_equal(ran[i])) continue;
    const auto missing = source.domain.to_union_set().subtract(ran[i]);
    const bool is_output = subject.text.tensors.at(range_name(source.write)).role != lang::Role::Temporary;
    if (ran[i].is_subset(source.domain.to_union_set()) && !is_output &&
        missing.apply(source.write.to_union_map()).is_disjoint(read_by(subject.text, ran)))
      continue;
    throw Refusal("instances", source.id,
                  missing.is_empty() ? str("the kernel runs instances that the text does not have")
                                     : str("an instance of the text does not run: ", missing.sample_point()));
  }
  check_tree(subject.launch.schedule, domain);
}

void check_body(Subject& subject) {
  const auto& launch = subject.launch;
  std::map<std::string, isl::union_map> found;
  // { P[p] -> A[x] } of the accesses seen so far; an element that means two of the text is refused.
  const auto learn = [&](const std::string& tensor, const isl::union_map& pairs, const std::string& statement) {
    auto& known = found.try_emplace(tensor, isl::union_map::empty(subject.ctx())).first->second;
    if (pairs.is_subset(known)) return;
    const auto all = known.unite(pairs).coalesce();
    if (!all.is_single_valued())
      throw Refusal("body", statement,
                    str("an element of '", tensor, "' that it uses stands for two elements of the text"));
    known = all;
  };
  for (const auto& [name, tensor] : subject.text.tensors)
    if (const auto* own = launch.find(name)) learn(name, identity_on(own->box(subject.ctx()).to_union_set()), "");
  for (const auto& statement : launch.statements) {
    check_kind(subject.text, statement);
    check_conditions(subject, statement);
  }
  for (const auto& use : uses_of(launch)) {
    const auto* text = of_text(subject.text, use);
    if (!text) continue;
    const auto& element = use.access().element;
    if (element.is_empty()) continue;
    const auto means = element.reverse().apply_range(use.statement->origin).apply_range(*text);
    if (!element.range().is_subset(means.domain()))
      throw Refusal("body", use.statement->id, "it accesses an element that the text does not");
    learn(range_name(element), means.to_union_map(), use.statement->id);
  }
  // Copies pass meanings on, both ways, until nothing is new.
  for (std::size_t round = 0; round <= launch.statements.size(); ++round)
    for (const auto& statement : launch.statements) {
      if (statement.body != Body::Copy) continue;
      const auto from = statement.reads[0].element.to_union_map(), to = statement.write.element.to_union_map();
      const auto a = range_name(statement.reads[0].element), b = range_name(statement.write.element);
      if (round == launch.statements.size() && (!found.count(a) || !found.count(b)))
        throw Refusal("body", statement.id, "it copies what no statement of the text uses");
      if (found.count(a)) learn(b, to.reverse().apply_range(from).apply_range(found.at(a)), statement.id);
      if (found.count(b)) learn(a, from.reverse().apply_range(to).apply_range(found.at(b)), statement.id);
    }
  for (const auto& [name, pairs] : found) subject.means[name] = pairs.is_empty() ? isl::map() : pairs.as_map();
}

namespace {

/// Throws unless \p tensor, of the text, is as the text says.
void check_declared(const TextTensor& text, const Tensor& tensor) {
  const auto refuse = [&](const std::string& why) {
    throw Refusal("bounds", "", str("the tensor '", tensor.name, "' ", why));
  };
  if (tensor.type != name(text.type))
    refuse(str("has elements of ", tensor.type, ", in the text of ", name(text.type)));
  if (tensor.extent.size() != text.box.size()) refuse("has another rank than in the text");
  for (std::size_t d = 0; d < text.box.size(); ++d)
    if (tensor.min[d] != text.box[d].min || tensor.extent[d] != text.box[d].extent)
      refuse("has another box than in the text");
  const bool temporary = text.role == lang::Role::Temporary;
  if (temporary == (tensor.storage == Tensor::Storage::Argument)) refuse("is stored as if it were of another role");
}

/// Throws unless the byte offsets of all elements of \p tensor fit 64 bits, and, if it is written, no two elements share a place.
void check_places(const Tensor& tensor, bool written) {
  const auto type = parse_dtype(tensor.type);
  if (!type) throw Refusal("bounds", "", str("the tensor '", tensor.name, "' has elements of no type: ", tensor.type));
  std::vector<std::pair<std::int64_t, std::int64_t>> dimensions;  // stride, extent
  for (std::size_t d = 0; d < tensor.extent.size(); ++d) {
    if (tensor.extent[d] <= 0) return;
    if (tensor.extent[d] > 1) dimensions.emplace_back(std::abs(tensor.strides[d]), tensor.extent[d]);
  }
  std::sort(dimensions.begin(), dimensions.end());
  __int128 reach = 0;
  for (const auto& [stride, extent] : dimensions) {
    if (written && stride <= reach)
      throw Refusal("bounds", "", str("two elements of '", tensor.name, "', which is written, share a place"));
    reach += static_cast<__int128>(stride) * (extent - 1);
    if (reach > std::numeric_limits<std::int64_t>::max() / byte_size(*type))
      throw Refusal("bounds", "", str("offsets in '", tensor.name, "' do not fit 64 bits"));
  }
}

/// The type of the tensor \p name of the evidence, which check_bounds has found.
const std::string& type_of(const Launch& launch, const std::string& name) { return launch.find(name)->type; }

/// Throws unless each tensor has elements of the type of those of the text that it stands for. A copy may hold halves in the type they are
/// computed in, if nothing but copies writes it.
void check_types(const Subject& subject) {
  for (const auto& use : uses_of(subject.launch)) {
    if (use.access().element.is_empty()) continue;
    const auto tensor = range_name(use.access().element);
    const auto& type = type_of(subject.launch, tensor);
    const auto refuse = [&](const std::string& other) {
      throw Refusal("bounds", use.statement->id,
                    str("'", tensor, "' has elements of ", type, ", and stands for ", other));
    };
    if (type_of(subject.launch, range_name(use.access().place)) != type) refuse("a buffer of another type");
    const auto& means = subject.means.at(tensor);
    const auto meant = subject.text.tensors.at(range_name(means)).type;
    const bool copied = !use.writes() || use.statement->body == Body::Copy;
    if (type != name(meant) && !(copied && !use.accumulates() && type == name(compute_type(meant))))
      refuse(str(name(meant)));
  }
}

}  // namespace

void check_bounds(const Subject& subject) {
  const auto& launch = subject.launch;
  std::map<std::string, bool> written;
  for (const auto& use : uses_of(launch)) {
    const auto& id = use.statement->id;
    for (const auto* touched : {&use.access().element, &use.access().place}) {
      if (touched->is_empty()) continue;
      const auto name = range_name(*touched);
      const auto* tensor = launch.find(name);
      if (!tensor) throw Refusal("bounds", id, str("it accesses '", name, "', which is no tensor"));
      const auto box = tensor->box(subject.ctx());
      if (!touched->space().range().is_equal(box.space()))
        throw Refusal("bounds", id, str("it accesses '", name, "' by another rank"));
      const auto outside = touched->range().subtract(box);
      if (!outside.is_empty())
        throw Refusal("bounds", id,
                      str("it accesses an element outside of '", name, "': ", isl::set(outside).lexmin()));
      if (use.writes()) written[name] = true;
    }
  }
  for (const auto& tensor : launch.tensors) {
    const auto declared = subject.text.tensors.find(tensor.name);
    if (declared != subject.text.tensors.end()) {
      check_declared(declared->second, tensor);
      if (declared->second.role == lang::Role::Input && written[tensor.name])
        throw Refusal("bounds", "", str("the parameter '", tensor.name, "' is written"));
    } else if (tensor.storage == Tensor::Storage::Argument) {
      throw Refusal("bounds", "", str("the argument '", tensor.name, "' is no tensor of the text"));
    }
    check_places(tensor, written[tensor.name]);
  }
  check_types(subject);
}

}  // namespace tc::proof
