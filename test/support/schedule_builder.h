#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tc/polyhedral/core/isl.h"

/// Schedule trees written as nested calls, where sizes or shapes vary; where the tree is the point of a test, write
/// YAML.
///
///   domain(ctx, "{ S[i, j] : 0 <= i, j < 8; T[i] : 0 <= i < 8 }",
///          band("[{ S[i, j] -> [(i)]; T[i] -> [(i)] }]",
///               sequence({{"{ T[i] }"}, {"{ S[i, j] }", mark("vector", band("[{ S[i, j] -> [(j)] }]"))}})))
namespace tc::polyhedral::build {

/// Inserts itself at a leaf and returns the node of the same depth.
using Tree = std::function<isl::schedule_node(isl::schedule_node)>;

inline isl::schedule_node insert(isl::schedule_node leaf, const Tree& tree) {
  return tree ? tree(std::move(leaf)) : leaf;
}

struct Flags {
  bool permutable = false;
  std::vector<int> coincident = {};
};

inline Tree band(std::string members, Tree child = {}, Flags flags = {}) {
  return [=](isl::schedule_node leaf) {
    auto node =
        leaf.insert_partial_schedule(isl::multi_union_pw_aff(leaf.ctx(), members)).as<isl::schedule_node_band>();
    node = node.set_permutable(flags.permutable).as<isl::schedule_node_band>();
    for (std::size_t i = 0; i < flags.coincident.size(); ++i)
      node = node.member_set_coincident(static_cast<int>(i), flags.coincident[i]);
    return insert(node.child(0), child).parent();
  };
}

/// A band of coincident members.
inline Tree coincident_band(std::string members, int count, Tree child = {}) {
  return band(std::move(members), std::move(child), {true, std::vector<int>(count, 1)});
}

inline Tree mark(std::string name, Tree child = {}) {
  return [=](isl::schedule_node leaf) {
    return insert(leaf.insert_mark(isl::id(leaf.ctx(), name)).child(0), child).parent();
  };
}

struct Branch {
  std::string filter;
  Tree child = {};
};

inline Tree sequence(std::vector<Branch> branches) {
  return [=](isl::schedule_node node) {
    isl::union_set_list filters(node.ctx(), static_cast<int>(branches.size()));
    for (const auto& branch : branches) filters = filters.add(isl::union_set(node.ctx(), branch.filter));
    node = node.insert_sequence(filters);
    for (std::size_t i = 0; i < branches.size(); ++i)
      node = insert(node.child(static_cast<int>(i)).child(0), branches[i].child).ancestor(2);
    return node;
  };
}

/// The tree of \p added, instances that \p extension adds for the members of the outer bands, runs before \p child.
inline Tree before(std::string extension, Tree added, Tree child) {
  return [=](isl::schedule_node leaf) {
    auto node = insert(std::move(leaf), child);
    auto graft = isl::schedule_node::from_extension(isl::union_map(node.ctx(), extension));
    graft = insert(graft.child(0), added).root();
    return node.graft_before(graft);
  };
}

inline isl::schedule domain(isl::ctx ctx, const std::string& instances, const Tree& child = {}) {
  auto schedule = isl::schedule::from_domain(isl::union_set(ctx, instances));
  return insert(schedule.root().child(0), child).root().schedule();
}
inline isl::schedule domain(const isl::union_set& instances, const Tree& child = {}) {
  return insert(isl::schedule::from_domain(instances).root().child(0), child).root().schedule();
}

}  // namespace tc::polyhedral::build
