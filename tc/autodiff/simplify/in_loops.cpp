#include "tc/autodiff/simplify/in_loops.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "tc/autodiff/terms/affine.h"

namespace tc::autodiff {

using namespace lang;

namespace {

ExprPtr in_normal_form(const ExprPtr& expr) { return to_expr(read_affine(expr)); }

/// The dimension of the target of \p step that the index of its loop \p depth subscripts.
std::size_t dimension_of(const Step& step, std::size_t depth) {
  const auto place = std::find_if(step.left.begin(), step.left.end(),
                                  [&](const IteratorRange& range) { return range.name == step.loops[depth].iterator; });
  return static_cast<std::size_t>(place - step.left.begin());
}

template <typename F>
void for_each_read(const Step& step, F&& visit) {
  for_each_expr(value_of(step), [&](const ExprPtr& part) {
    if (const auto* read = std::get_if<Access>(&part->node)) visit(*read);
  });
}

/// \p condition, solved for \p iterator where that is possible.
///
///   T - t < T      gives     t >= 1
ExprPtr solved_for(const std::string& iterator, const ExprPtr& condition) {
  const auto* pair = std::get_if<Binary>(&condition->node);
  const bool is_order = pair && (pair->op == BinaryOp::Lt || pair->op == BinaryOp::Le || pair->op == BinaryOp::Gt ||
                                 pair->op == BinaryOp::Ge);
  if (!is_order || pair->left->type != DType::Int64 || pair->right->type != DType::Int64) return condition;
  const bool is_above = pair->op == BinaryOp::Gt || pair->op == BinaryOp::Ge;
  Affine rest = read_affine(is_above ? pair->left : pair->right);  // rest >= 0, or > 0
  rest.add(read_affine(is_above ? pair->right : pair->left), -1);
  if (pair->op == BinaryOp::Gt || pair->op == BinaryOp::Lt) rest.constant -= 1;
  const std::int64_t factor = rest.coefficient(iterator);
  if (factor != 1 && factor != -1) return condition;
  rest.add(index_name(iterator), -factor);
  Affine bound;
  bound.add(rest, -factor);
  if (factor == 1) return binary(BinaryOp::Ge, index_name(iterator), to_expr(bound));
  bound.constant += 1;
  return binary(BinaryOp::Lt, index_name(iterator), to_expr(bound));
}

/// The steps that write one tensor.
struct Node {
  std::string target;
  std::vector<std::size_t> steps;
};

class Order {
 public:
  Order(std::vector<Step> steps, int first_loop, FreshNames& names, const NoOrder& no_order)
      : steps_(std::move(steps)), next_loop_(first_loop), names_(names), no_order_(no_order) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const auto [known, is_new] = places_.emplace(steps_[i].target, nodes_.size());
      if (is_new) nodes_.push_back({steps_[i].target, {}});
      nodes_[known->second].steps.push_back(i);
    }
  }

  std::vector<Step> run() {
    std::vector<std::size_t> all(nodes_.size());
    for (std::size_t n = 0; n < all.size(); ++n) all[n] = n;
    order(all, 0, {});
    std::vector<Step> result;
    for (const std::size_t i : ordered_) {
      result.push_back(std::move(steps_[i]));
      result.back().loops = placed_.at(i);
    }
    return result;
  }

 private:
  using Loops = std::vector<OrderedLoop>;

  /// A group of nodes that depend on each other, or one node.
  struct Component {
    std::vector<std::size_t> nodes;
    bool is_cycle = false;
  };

  /// Orders \p nodes, which stand in \p loops, by what the first \p depth loops of the def do not carry.
  void order(const std::vector<std::size_t>& nodes, std::size_t depth, const Loops& loops) {
    for (const Component& component : components(nodes, depth))
      if (component.is_cycle) {
        order_cycle(component.nodes, depth, loops);
      } else {
        for (const std::size_t i : nodes_[component.nodes[0]].steps) {
          ordered_.push_back(i);
          placed_[i] = loops;
        }
      }
  }

  /// How far \p read by \p step is from the element that the step computes, along loop \p depth; nothing if that is no constant.
  std::optional<std::int64_t> distance(const Step& step, const Access& read, std::size_t depth) const {
    const Step& writer = steps_[nodes_[places_.at(read.tensor)].steps[0]];
    if (step.loops.size() <= depth || writer.loops.size() <= depth) return std::nullopt;
    Affine difference = read_affine(read.subscripts[dimension_of(writer, depth)]);
    difference.add(read_affine(index_name(step.loops[depth].iterator)), -1);
    if (!difference.is_constant()) return std::nullopt;
    return difference.constant;
  }

  /// Does a loop outside of \p depth carry what \p step reads?
  bool is_carried(const Step& step, const Access& read, std::size_t depth) const {
    for (std::size_t k = 0; k < depth; ++k)
      if (distance(step, read, k) != 0) return true;
    return false;
  }

  /// The nodes among \p nodes that \p node reads in the same iteration of \p depth loops.
  std::set<std::size_t> sources(std::size_t node, const std::set<std::size_t>& nodes, std::size_t depth) const {
    std::set<std::size_t> result;
    for (const std::size_t i : nodes_[node].steps)
      for_each_read(steps_[i], [&](const Access& read) {
        const auto found = places_.find(read.tensor);
        if (found != places_.end() && nodes.count(found->second) && !is_carried(steps_[i], read, depth))
          result.insert(found->second);
      });
    return result;
  }

  std::vector<Component> components(const std::vector<std::size_t>& nodes, std::size_t depth);
  void order_cycle(const std::vector<std::size_t>& nodes, std::size_t depth, Loops loops);
  std::optional<int> direction(const std::vector<std::size_t>& nodes, std::size_t depth) const;
  bool widen(const std::vector<std::size_t>& nodes, std::size_t depth, IteratorRange& whole);
  void count_from_last(const std::vector<std::size_t>& nodes, std::size_t depth, const ExprPtr& ends);
  std::string common_index(const std::vector<std::size_t>& nodes, std::size_t depth);

  std::vector<Step> steps_;
  int next_loop_;
  FreshNames& names_;
  const NoOrder& no_order_;
  std::vector<Node> nodes_;
  std::map<std::string, std::size_t> places_;  ///< of nodes, by what they write
  std::vector<std::size_t> ordered_;           ///< steps
  std::map<std::size_t, Loops> placed_;
};

/// Tarjan's strongly connected components: sources first, else in the order of \p nodes.
class Components {
 public:
  explicit Components(std::map<std::size_t, std::set<std::size_t>> sources) : sources_(std::move(sources)) {}

  void visit(std::size_t node) {
    if (number_.count(node)) return;
    const std::size_t number = number_[node] = lowest_[node] = number_.size();
    stack_.push_back(node);
    for (const std::size_t source : sources_.at(node)) {
      visit(source);
      if (!done_.count(source)) lowest_[node] = std::min(lowest_[node], lowest_[source]);
    }
    if (lowest_[node] != number) return;
    const auto first = std::find(stack_.begin(), stack_.end(), node);
    result.emplace_back(first, stack_.end());
    done_.insert(first, stack_.end());
    stack_.erase(first, stack_.end());
  }

  std::vector<std::vector<std::size_t>> result;

 private:
  std::map<std::size_t, std::set<std::size_t>> sources_;
  std::map<std::size_t, std::size_t> number_, lowest_;
  std::vector<std::size_t> stack_;
  std::set<std::size_t> done_;
};

std::vector<Order::Component> Order::components(const std::vector<std::size_t>& nodes, std::size_t depth) {
  const std::set<std::size_t> among(nodes.begin(), nodes.end());
  std::map<std::size_t, std::set<std::size_t>> all;
  for (const std::size_t node : nodes) all[node] = sources(node, among, depth);
  Components found(all);
  for (const std::size_t node : nodes) found.visit(node);
  std::vector<Component> result;
  for (auto& members : found.result) {
    std::sort(members.begin(), members.end());
    result.push_back({members, members.size() > 1 || all.at(members[0]).count(members[0]) > 0});
  }
  return result;
}

/// Whether the steps of \p nodes read later elements of each other along loop \p depth, 1, or earlier ones, -1, or those of the same
/// iteration, 0. Nothing if that cannot be told, or they read both.
std::optional<int> Order::direction(const std::vector<std::size_t>& nodes, std::size_t depth) const {
  const std::set<std::size_t> among(nodes.begin(), nodes.end());
  bool later = false, earlier = false, is_known = true;
  for (const std::size_t node : nodes)
    for (const std::size_t i : nodes_[node].steps)
      for_each_read(steps_[i], [&](const Access& read) {
        const auto found = places_.find(read.tensor);
        if (found == places_.end() || !among.count(found->second) || is_carried(steps_[i], read, depth)) return;
        const auto along = distance(steps_[i], read, depth);
        is_known = is_known && along;
        later = later || along > 0;
        earlier = earlier || along < 0;
      });
  if (!is_known || (later && earlier)) return std::nullopt;
  return later ? 1 : earlier ? -1 : 0;
}

/// Lets the steps of \p nodes run over all iterations of loop \p depth that one of them has, with conditions; false if their ranges cannot be
/// compared.
bool Order::widen(const std::vector<std::size_t>& nodes, std::size_t depth, IteratorRange& whole) {
  const auto less = [](const ExprPtr& a, const ExprPtr& b) -> std::optional<bool> {
    Affine difference = read_affine(a);
    difference.add(read_affine(b), -1);
    if (!difference.is_constant()) return std::nullopt;
    return difference.constant < 0;
  };
  const auto range_of = [&](std::size_t i) -> IteratorRange& { return steps_[i].left[dimension_of(steps_[i], depth)]; };
  whole = range_of(nodes_[nodes[0]].steps[0]);
  for (const std::size_t node : nodes)
    for (const std::size_t i : nodes_[node].steps) {
      const auto lower = less(range_of(i).low, whole.low), higher = less(whole.high, range_of(i).high);
      if (!lower || !higher) return false;
      if (*lower) whole.low = range_of(i).low;
      if (*higher) whole.high = range_of(i).high;
    }
  for (const std::size_t node : nodes)
    for (const std::size_t i : nodes_[node].steps) {
      IteratorRange& own = range_of(i);
      std::vector<ExprPtr> conditions;
      if (*less(whole.low, own.low)) conditions.push_back(binary(BinaryOp::Ge, index_name(own.name), own.low));
      if (*less(own.high, whole.high)) conditions.push_back(binary(BinaryOp::Lt, index_name(own.name), own.high));
      if (!conditions.empty() && steps_[i].value) return false;
      for (Guarded& piece : steps_[i].pieces)
        piece.conditions.insert(piece.conditions.begin(), conditions.begin(), conditions.end());
      own = {own.name, whole.low, whole.high};
    }
  return true;
}

/// Counts the iterations of loop \p depth of \p nodes from the last: the index i becomes \p ends - i, here and in what others read.
void Order::count_from_last(const std::vector<std::size_t>& nodes, std::size_t depth, const ExprPtr& ends) {
  const auto mirrored = [&](const ExprPtr& subscript) {
    return in_normal_form(binary(BinaryOp::Sub, ends, subscript));
  };
  std::map<std::string, std::size_t> dimensions;
  for (const std::size_t node : nodes) {
    const Step& step = steps_[nodes_[node].steps[0]];
    dimensions[step.target] = dimension_of(step, depth);
  }
  const auto read_mirrored = [&](const ExprPtr& expr) {
    return rebuild(expr, [&](const ExprPtr& part) -> ExprPtr {
      const auto* read = std::get_if<Access>(&part->node);
      const auto found = read ? dimensions.find(read->tensor) : dimensions.end();
      if (found == dimensions.end()) return part;
      Access made = *read;
      made.subscripts[found->second] = mirrored(made.subscripts[found->second]);
      return make_expr(std::move(made), part->range, part->type);
    });
  };
  for (Step& step : steps_) {
    const bool is_inside = dimensions.count(step.target);
    const std::string index = is_inside ? step.loops[depth].iterator : "";
    const Renaming renaming = is_inside ? Renaming{{index, mirrored(index_name(index))}} : Renaming{};
    step = map_expressions(std::move(step), [&](const ExprPtr& expr) {
      const ExprPtr made = read_mirrored(is_inside ? normalised(replace_names(expr, renaming)) : expr);
      return made == expr ? expr : normalised(made);
    });
    for (Guarded& piece : step.pieces)
      for (ExprPtr& condition : piece.conditions)
        if (is_inside) condition = solved_for(index, condition);
  }
}

/// Gives loop \p depth of \p nodes one index in all of their steps.
std::string Order::common_index(const std::vector<std::size_t>& nodes, std::size_t depth) {
  std::string index = steps_[nodes_[nodes[0]].steps[0]].loops[depth].iterator;
  const auto is_other = [&](const Step& step, const IteratorRange& range) {
    return range.name == index && step.loops[depth].iterator != index;
  };
  const auto is_taken = [&] {
    for (const std::size_t node : nodes)
      for (const std::size_t i : nodes_[node].steps)
        for (const auto* ranges : {&steps_[i].left, &steps_[i].reduction})
          for (const auto& range : *ranges)
            if (is_other(steps_[i], range)) return true;
    return false;
  };
  const std::string wanted = index;
  for (int k = 1; is_taken(); ++k) index = names_.iterator(wanted + std::to_string(k));
  for (const std::size_t node : nodes)
    for (const std::size_t i : nodes_[node].steps) {
      Step& step = steps_[i];
      const Renaming renaming{{step.loops[depth].iterator, index_name(index)}};
      step = map_expressions(std::move(step), [&](const ExprPtr& expr) { return replace_names(expr, renaming); });
      step.left[dimension_of(step, depth)].name = index;
      step.loops[depth].iterator = index;
    }
  return index;
}

void Order::order_cycle(const std::vector<std::size_t>& nodes, std::size_t depth, Loops loops) {
  const Step& first = steps_[nodes_[nodes[0]].steps[0]];
  bool is_known = true;
  for (const std::size_t node : nodes)
    for (const std::size_t i : nodes_[node].steps)
      is_known = is_known && steps_[i].loops.size() > depth && steps_[i].loops[depth].id == first.loops[depth].id;
  const auto towards = is_known ? direction(nodes, depth) : std::nullopt;
  if (towards == 0) return order(nodes, depth + 1, loops);
  IteratorRange whole;
  if (!towards || !widen(nodes, depth, whole)) {
    no_order_(first.place);
    for (const std::size_t node : nodes)
      for (const std::size_t i : nodes_[node].steps) placed_[i] = {};
    return;
  }
  const std::string index = common_index(nodes, depth);
  if (*towards > 0)
    count_from_last(nodes, depth,
                    in_normal_form(binary(BinaryOp::Sub, binary(BinaryOp::Add, whole.low, whole.high), integer(1))));
  loops.push_back({next_loop_++, index});
  order(nodes, depth + 1, loops);
}

}  // namespace

std::vector<Step> in_loops(std::vector<Step> steps, int first_loop, FreshNames& names, const NoOrder& no_order) {
  const bool has_loops = std::any_of(steps.begin(), steps.end(), [](const Step& step) { return !step.loops.empty(); });
  if (!has_loops) return steps;
  return Order(std::move(steps), first_loop, names, no_order).run();
}

std::vector<Step> with_first_values(const std::vector<Step>& steps) {
  std::vector<Step> result;
  std::set<std::string> written;
  for (std::size_t first = 0, end = 0; first < steps.size(); first = end) {
    const auto& loops = steps[first].loops;
    end = first + 1;
    while (!loops.empty() && end < steps.size() && !steps[end].loops.empty() && steps[end].loops[0].id == loops[0].id)
      ++end;
    std::map<std::string, const Step*> writers;
    std::map<std::string, int> count;
    for (std::size_t i = end; i-- > first;) {
      writers[steps[i].target] = &steps[i];
      ++count[steps[i].target];
    }
    for (std::size_t i = first; i < end && !loops.empty(); ++i) {
      for (const auto& read : reads_of(steps[i])) {
        const auto writer = writers.find(read);
        const bool is_own = read == steps[i].target && !steps[i].op && count.at(read) == 1;
        if (writer == writers.end() || is_own || !written.insert(read).second) continue;
        Step made;
        made.target = read;
        made.type = writer->second->type;
        made.left = writer->second->left;
        made.value = cast(made.type, number(0, made.type));
        made.place = writer->second->place;
        result.push_back(std::move(made));
      }
      written.insert(steps[i].target);
    }
    result.insert(result.end(), steps.begin() + static_cast<std::ptrdiff_t>(first),
                  steps.begin() + static_cast<std::ptrdiff_t>(end));
    for (std::size_t i = first; i < end; ++i) written.insert(steps[i].target);
  }
  return result;
}

}  // namespace tc::autodiff
