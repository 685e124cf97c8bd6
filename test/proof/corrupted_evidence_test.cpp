#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <map>
#include <set>

#include "tc/base/str.h"
#include "tc/polyhedral/core/isl.h"
#include "tc/proof/check.h"
#include "test/proof/evidence_fixture.h"
#include "test/support/from_environment.h"

/// Evidence that states something false is refused. Each corruption says why what it states is false; where it would state something that is
/// true, or nothing new, it does not apply.
namespace tc::proof::corrupted_evidence_test {
namespace {

using polyhedral::call;
using polyhedral::elements;
using Launch = proto::EvidenceLaunch;
using Statement = proto::EvidenceStatement;

/// Evidence of one launch to be corrupted.
struct Corrupted {
  const polyhedral::Context& context;
  proto::Evidence& evidence;

  Launch& launch() const { return *evidence.mutable_launches(0); }
  isl::ctx ctx() const { return context; }
  isl::schedule schedule() const { return isl::schedule(ctx(), launch().schedule()); }
  void set(const isl::schedule& schedule) const { launch().set_schedule(polyhedral::print_block(schedule)); }
  isl::set domain(const Statement& statement) const { return isl::set(ctx(), statement.domain()); }
  isl::map relation(const proto::EvidenceAccess& access) const { return isl::map(ctx(), access.relation()); }
};

/// Applies to statement number `statement` of a launch; false: it does not apply there.
using Corrupt = std::function<bool(const Corrupted&, Statement&)>;

bool of_text(const Statement& statement) { return !statement.source().empty(); }

/// All nodes of \p schedule for which \p wanted holds.
std::vector<isl::schedule_node> nodes(const isl::schedule& schedule,
                                      const std::function<bool(const isl::schedule_node&)>& wanted) {
  std::vector<isl::schedule_node> result;
  std::function<void(const isl::schedule_node&)> visit = [&](const isl::schedule_node& node) {
    if (wanted(node)) result.push_back(node);
    for (unsigned i = 0; i < node.n_children(); ++i) visit(node.child(static_cast<int>(i)));
  };
  visit(schedule.root());
  return result;
}

/// The instances that reach \p node are all of one statement, \p id.
bool stands_above(const isl::schedule_node& node, const std::string& id) {
  const auto instances = call(node.ctx(), isl_schedule_node_get_domain, node.get());
  for (const auto& set : elements(instances.set_list()))
    if (polyhedral::tuple_name(set) != id) return false;
  return true;
}

/// The schedule of \p target without \p instances.
void run_without(const Corrupted& target, const isl::set& instances) {
  const auto schedule = target.schedule();
  target.set(call(target.ctx(), isl_schedule_intersect_domain, schedule.copy(),
                  schedule.domain().subtract(instances.to_union_set()).release()));
}

/// One instance less: the text's would not run.
bool drop_instance(const Corrupted& target, Statement& statement) {
  if (!of_text(statement)) return false;
  const auto domain = target.domain(statement);
  const auto last = domain.lexmax();
  run_without(target, last);
  statement.set_domain(str(domain.subtract(last)));
  statement.mutable_write()->set_relation(
      str(target.relation(statement.write()).intersect_domain(domain.subtract(last))));
  for (auto& read : *statement.mutable_reads())
    read.set_relation(str(target.relation(read).intersect_domain(domain.subtract(last))));
  return true;
}

/// The instance stays a statement's, and the schedule does not run it.
bool unschedule_instance(const Corrupted& target, Statement& statement) {
  run_without(target, target.domain(statement).lexmin());
  return true;
}

/// A statement less: what it computes, starts, moves or joins is missing.
bool drop_statement(const Corrupted& target, Statement& statement) {
  run_without(target, target.domain(statement));
  auto& all = *target.launch().mutable_statements();
  for (int i = 0; i < all.size(); ++i)
    if (&all[i] == &statement) {
      all.DeleteSubrange(i, 1);
      return true;
    }
  return false;
}

/// { T[x] -> T[x + 1] } along dimension \p d.
isl::map shift(const isl::map& relation, int d) {
  const int rank = static_cast<int>(isl_map_dim(relation.get(), isl_dim_out));
  std::vector<std::string> from, to;
  for (int i = 0; i < rank; ++i) {
    from.push_back(str("x", i));
    to.push_back(i == d ? str("x", i, " + 1") : from.back());
  }
  const auto name = polyhedral::range_name(relation);
  return isl::map(relation.ctx(), str("{ ", name, "[", join(from), "] -> ", name, "[", join(to), "] }"));
}

/// The neighbour of the element: of a tensor of the text another one, and of a copy one that holds, or will hold, another one.
bool shift_access(const Corrupted& target, proto::EvidenceAccess& access, bool last) {
  const auto relation = target.relation(access);
  const int rank = static_cast<int>(isl_map_dim(relation.get(), isl_dim_out));
  if (rank == 0 || relation.is_empty()) return false;
  access.set_relation(str(relation.apply_range(shift(relation, last ? rank - 1 : 0))));
  return true;
}
bool shift_write(const Corrupted& target, Statement& statement) {
  return shift_access(target, *statement.mutable_write(), true);
}
bool shift_first_read(const Corrupted& target, Statement& statement) {
  return statement.reads_size() > 0 && shift_access(target, *statement.mutable_reads(0), false);
}
bool shift_last_read(const Corrupted& target, Statement& statement) {
  return statement.reads_size() > 0 && shift_access(target, *statement.mutable_reads(statement.reads_size() - 1), true);
}

/// The neighbour in memory: a place that is another element's, or none.
bool shift_place(const Corrupted& target, Statement& statement) {
  auto& access = *statement.mutable_write();
  if (!access.has_function()) return false;
  const auto place = isl::pw_multi_aff(target.ctx(), access.function()).as_map();
  const int rank = static_cast<int>(isl_map_dim(place.get(), isl_dim_out));
  if (rank == 0) return false;
  access.set_function(str(place.apply_range(shift(place, rank - 1)).as_pw_multi_aff()));
  return true;
}

/// All elements at one place: two at a time where the buffer has two.
bool fold_place(const Corrupted& target, Statement& statement) {
  auto& access = *statement.mutable_write();
  if (!access.has_function()) return false;
  const auto place =
      isl::pw_multi_aff(target.ctx(), access.function()).as_map().intersect_domain(target.domain(statement));
  if (place.is_empty() || place.range().lexmin().is_equal(place.range().lexmax())) return false;
  const auto buffer = polyhedral::range_name(place);
  // For every use of the buffer, so that reads and writes still agree.
  for (auto& each : *target.launch().mutable_statements()) {
    const auto fold = [&](proto::EvidenceAccess& use) {
      if (!use.has_function() || use.function().find(buffer + "[") == std::string::npos) return;
      const auto instances = isl::set(target.ctx(), each.domain());
      use.set_function(str(isl::map(call(target.ctx(), isl_map_from_domain_and_range, instances.copy(),
                                         place.range().lexmin().release()))
                               .as_pw_multi_aff()));
    };
    fold(*each.mutable_write());
    for (auto& read : *each.mutable_reads()) fold(read);
  }
  return true;
}

/// Reads in another order: the value would take the one for the other.
bool swap_reads(const Corrupted& target, Statement& statement) {
  for (int i = 0; i + 1 < statement.reads_size(); ++i) {
    if (target.relation(statement.reads(i)).is_equal(target.relation(statement.reads(i + 1)))) continue;
    statement.mutable_reads()->SwapElements(i, i + 1);
    return true;
  }
  return false;
}

/// Another statement's value.
bool swap_source(const Corrupted& target, Statement& statement) {
  for (auto& other : *target.launch().mutable_statements()) {
    if (!of_text(statement) || !of_text(other) || other.source() == statement.source()) continue;
    statement.set_source(other.source());
    return true;
  }
  return false;
}

/// The instance next to the own one: an origin outside of the text's instances, or of two instances.
bool shift_origin(const Corrupted& target, Statement& statement) {
  const auto domain = target.domain(statement);
  const int rank = static_cast<int>(isl_set_dim(domain.get(), isl_dim_set));
  if (!of_text(statement) || statement.has_origin() || rank == 0) return false;
  std::vector<std::string> from, to;
  for (int i = 0; i < rank; ++i) {
    from.push_back(str("i", i));
    to.push_back(i == 0 ? "i0 + 1" : from.back());
  }
  statement.set_origin(str("{ ", statement.id(), "[", join(from), "] -> ", statement.source(), "[", join(to), "] }"));
  return true;
}

/// Instances that the text does not have.
bool widen_domain(const Corrupted& target, Statement& statement) {
  const auto domain = target.domain(statement);
  const int rank = static_cast<int>(isl_set_dim(domain.get(), isl_dim_set));
  if (!of_text(statement) || rank == 0) return false;
  std::vector<std::string> from, to;
  for (int i = 0; i < rank; ++i) {
    from.push_back(str("i", i));
    to.push_back(i == 0 ? "i0 + 1" : from.back());
  }
  const isl::map next(target.ctx(),
                      str("{ ", statement.id(), "[", join(from), "] -> ", statement.id(), "[", join(to), "] }"));
  const auto wider = domain.unite(domain.apply(next));
  statement.set_domain(str(wider));
  const auto extend = [&](proto::EvidenceAccess& access) {
    const auto relation = target.relation(access);
    access.set_relation(
        str(relation.unite(next.reverse().apply_range(relation).intersect_domain(wider.subtract(domain)))));
  };
  extend(*statement.mutable_write());
  for (auto& read : *statement.mutable_reads()) extend(read);
  return true;
}

/// The same instances a second time, in another statement.
bool run_twice(const Corrupted& target, Statement& statement) {
  if (!of_text(statement)) return false;
  const auto id = statement.id();
  auto& copy = *target.launch().add_statements();
  for (auto& each : *target.launch().mutable_statements())
    if (each.id() == id) {
      copy.CopyFrom(each);
      break;
    }
  const auto rename = [&](const std::string& text) {
    auto result = text;
    for (std::size_t at = 0; (at = result.find(id + "[", at)) != std::string::npos; at += id.size() + 7)
      result.replace(at, id.size(), "again_" + id);
    return result;
  };
  if (!copy.has_origin()) {
    const auto domain = target.domain(copy);
    const int rank = static_cast<int>(isl_set_dim(domain.get(), isl_dim_set));
    std::vector<std::string> names;
    for (int i = 0; i < rank; ++i) names.push_back(str("i", i));
    copy.set_origin(str("{ again_", id, "[", join(names), "] -> ", copy.source(), "[", join(names), "] }"));
  }
  copy.set_id("again_" + id);
  copy.set_domain(rename(copy.domain()));
  const auto rename_access = [&](proto::EvidenceAccess& access) {
    access.set_relation(rename(access.relation()));
    if (access.has_function()) access.set_function(rename(access.function()));
  };
  rename_access(*copy.mutable_write());
  for (auto& read : *copy.mutable_reads()) rename_access(read);
  return true;
}

/// A sum of the text that is no sum, or the other way.
bool flip_accumulation(const Corrupted&, Statement& statement) {
  statement.set_accumulates(!statement.accumulates());
  return true;
}

/// Another operator.
bool change_operator(const Corrupted&, Statement& statement) {
  if (!statement.accumulates()) return false;
  statement.set_op(statement.op() == "+" ? "*" : "+");
  return true;
}

/// Below the sequence above it, the statement runs before all others: the examples have only sequences in which each child uses what the one before
/// it writes, or initialises or joins what the others add up.
bool run_first(const Corrupted& target, Statement& statement) {
  const auto own = nodes(target.schedule(), [&](const isl::schedule_node& node) {
    return node.isa<isl::schedule_node_filter>() && node.child_position() > 0 &&
           stands_above(node.child(0), statement.id());
  });
  if (own.empty()) return false;
  const auto instances = own.front().as<isl::schedule_node_filter>().filter();
  target.set(own.front().parent().order_before(instances).schedule());
  return true;
}

/// A loop that adds up in one place runs on threads.
bool spread_sum(const Corrupted& target, Statement& statement) {
  if (!statement.accumulates()) return false;
  const auto write = target.relation(statement.write());
  const auto loops = nodes(target.schedule(), [&](const isl::schedule_node& node) {
    if (!node.isa<isl::schedule_node_band>() || !stands_above(node, statement.id())) return false;
    const auto band = node.as<isl::schedule_node_band>();
    if (band.n_member() == 0) return false;
    const auto loop =
        call(node.ctx(), isl_union_map_from_union_pw_aff, isl::union_pw_aff(band.partial_schedule().at(0)).release());
    // Two iterations below one of the loops above write one element.
    const auto prefix = node.prefix_schedule_union_map();
    return !prefix.range_product(write.to_union_map()).reverse().apply_range(loop).is_single_valued();
  });
  if (loops.empty()) return false;
  target.set(loops.front().insert_mark("parallel").schedule());
  return true;
}

/// Without its allocation a buffer has no memory.
bool drop_allocation(const Corrupted& target, Statement& statement) {
  if (!statement.write().has_function()) return false;
  const auto buffer = polyhedral::range_name(isl::pw_multi_aff(target.ctx(), statement.write().function()));
  const auto marks = nodes(target.schedule(), [&](const isl::schedule_node& node) {
    return node.isa<isl::schedule_node_mark>() && polyhedral::mark_name(node) == "allocate_" + buffer;
  });
  if (marks.empty()) return false;
  target.set(polyhedral::erase(marks.front()).schedule());
  return true;
}

/// The tensors that \p statement writes, as the evidence lists them: the element's and the place's.
bool of_written(const Corrupted& target, const Statement& statement,
                const std::function<bool(proto::EvidenceTensor&)>& change) {
  std::string name = polyhedral::range_name(target.relation(statement.write()));
  if (statement.write().has_function())
    name = polyhedral::range_name(isl::pw_multi_aff(target.ctx(), statement.write().function()));
  for (auto& tensor : *target.launch().mutable_tensors())
    if (tensor.name() == name) return change(tensor);
  return false;
}

/// One element less: the last one is written outside.
bool shrink_tensor(const Corrupted& target, Statement& statement) {
  const auto write = statement.write().has_function() ? isl::pw_multi_aff(target.ctx(), statement.write().function())
                                                            .as_map()
                                                            .intersect_domain(target.domain(statement))
                                                      : target.relation(statement.write());
  return of_written(target, statement, [&](proto::EvidenceTensor& tensor) {
    if (tensor.extent_size() == 0 || write.is_empty()) return false;
    const auto last = call(target.ctx(), isl_set_dim_max_val, write.range().release(), 0);
    tensor.set_extent(0, last.num_si() - tensor.min(0));
    return true;
  });
}

/// A stride so small that two elements share a place.
bool shrink_stride(const Corrupted& target, Statement& statement) {
  return of_written(target, statement, [](proto::EvidenceTensor& tensor) {
    for (int d = 0; d < tensor.extent_size(); ++d)
      if (tensor.extent(d) > 1) {
        tensor.set_strides(d, 0);
        return true;
      }
    return false;
  });
}

/// Elements that cannot hold the values of the text.
bool change_type(const Corrupted& target, Statement& statement) {
  return of_written(target, statement, [](proto::EvidenceTensor& tensor) {
    tensor.set_type("int8");
    return true;
  });
}

/// A circular buffer with one slot less: an element would take the place of one that is read later.
bool shrink_circle(const Corrupted& target, Statement& statement) {
  if (statement.id() != "S0") return false;
  bool found = false;
  const auto shrink = [&](proto::EvidenceAccess& access) {
    const auto at = access.function().find("mod 3)");
    if (access.function().find("local_H") == std::string::npos || at == std::string::npos) return;
    auto function = access.function();
    access.set_function(function.replace(at, 6, "mod 2)"));
    found = true;
  };
  shrink(*statement.mutable_write());
  for (auto& read : *statement.mutable_reads()) shrink(read);
  for (auto& other : *target.launch().mutable_statements())
    for (auto& read : *other.mutable_reads())
      if (found && other.id() != statement.id() && read.function().find("local_H") != std::string::npos)
        read.set_function(str(isl::pw_multi_aff(target.ctx(), "{ S2[m, n] -> local_H[0, n] }")));
  return found;
}

/// A range that is not the text's.
bool change_range(const Corrupted& target, Statement& statement) {
  if (statement.id() != "S0") return false;
  auto& assignment = *target.evidence.mutable_assignments(0);
  if (assignment.ranges_size() == 0) return false;
  assignment.mutable_ranges(0)->set_extent(assignment.ranges(0).extent() - 1);
  return true;
}

/// A size that is not the kernel's.
bool change_size(const Corrupted& target, Statement& statement) {
  if (statement.id() != "S0") return false;
  target.evidence.mutable_sizes(0)->set_value(target.evidence.sizes(0).value() + 1);
  return true;
}

/// A text that subtracts what the kernel's adds has the same accesses, and is proved of it: bodies are bound by their numbers (docs/proofs.md). One
/// that reads other elements is refused.
bool change_text(const Corrupted& target, Statement& statement) {
  if (statement.id() != "S0") return false;
  auto text = target.evidence.text();
  const auto at = text.find("A(");
  if (at == std::string::npos) return false;
  const auto close = text.find_first_of(",)", text.find("A(", text.find('{')));
  text.insert(close, " - 1");
  target.evidence.set_text(text);
  return true;
}

const std::map<std::string, Corrupt>& corruptions() {
  static const std::map<std::string, Corrupt> all = {
      {"drop an instance", drop_instance},
      {"do not schedule an instance", unschedule_instance},
      {"drop a statement", drop_statement},
      {"shift a write", shift_write},
      {"shift a read", shift_first_read},
      {"shift the last read", shift_last_read},
      {"shift a place", shift_place},
      {"put all elements at one place", fold_place},
      {"swap reads", swap_reads},
      {"swap sources", swap_source},
      {"shift an origin", shift_origin},
      {"widen a domain", widen_domain},
      {"run twice", run_twice},
      {"flip accumulation", flip_accumulation},
      {"change the operator", change_operator},
      {"run first", run_first},
      {"spread a sum over threads", spread_sum},
      {"drop an allocation", drop_allocation},
      {"shrink a tensor", shrink_tensor},
      {"shrink a stride", shrink_stride},
      {"one slot less", shrink_circle},
      {"change a type", change_type},
      {"change a range", change_range},
      {"change a size", change_size},
      {"change the text", change_text},
  };
  return all;
}

/// Statements of an example that a corruption is tried on, at most, unless TC_ALL_RUNS=1.
const int most_statements = test::from_environment("TC_ALL_RUNS", 0) != 0 ? 1000 : 1;

TEST(CorruptedEvidence, IsRefused) {
  std::map<std::string, int> refused;
  std::map<std::string, int> laws;
  int all = 0;
  for (const auto& example : examples()) {
    const auto evidence = evidence_of(example.text, example.shapes, example.options, example.target);
    const int statements = evidence.launches(0).statements_size();
    for (const auto& [name, corrupt] : corruptions())
      for (int i = 0, applied = 0; i < statements && applied < most_statements; ++i) {
        const polyhedral::Context context;
        auto corrupted = evidence;
        const auto id = corrupted.launches(0).statements(i).id();
        auto& statement = *corrupted.mutable_launches(0)->mutable_statements(i);
        if (!corrupt({context, corrupted}, statement)) continue;
        const auto verdict = check(corrupted.SerializeAsString());
        ++all, ++applied;
        EXPECT_EQ(verdict.outcome, Outcome::Refused)
            << example.name << ", " << name << ", " << id << ": " << to_string(verdict);
        if (verdict.outcome != Outcome::Refused) continue;
        ++refused[name];
        ++laws[verdict.law];
      }
  }
  for (const auto& [name, corrupt] : corruptions()) EXPECT_GT(refused[name], 0) << name;
  std::cout << all << " corruptions; refused by law:";
  for (const auto& [law, count] : laws) std::cout << " " << law << " " << count;
  std::cout << "\n";
  EXPECT_GE(all, 200);
  for (const char* law : {"instances", "body", "bounds", "storage", "partials", "order", "copies", "races", "ranges"})
    EXPECT_GT(laws[law], 0) << law;
}

/// What stays true is proved: the checker does not compare with the compiler's choice.
TEST(CorruptedEvidence, TrueChangesAreProved) {
  const auto& example = examples()[1];
  const auto evidence = evidence_of(example.text, example.shapes, example.options, example.target);
  const polyhedral::Context context;
  auto changed = evidence;
  const Corrupted target{context, changed};
  const auto parallel = nodes(target.schedule(), [](const isl::schedule_node& node) {
    return node.isa<isl::schedule_node_mark>() && polyhedral::mark_name(node) == "parallel";
  });
  ASSERT_EQ(parallel.size(), 1u);
  target.set(polyhedral::erase(parallel[0]).schedule());
  EXPECT_EQ(to_string(check(changed.SerializeAsString())), "proved");
  for (auto& tensor : *changed.mutable_launches(0)->mutable_tensors())
    if (tensor.name() == "A") tensor.set_strides(0, tensor.strides(0) + 8);
  EXPECT_EQ(to_string(check(changed.SerializeAsString())), "proved");
}

}  // namespace
}  // namespace tc::proof::corrupted_evidence_test
