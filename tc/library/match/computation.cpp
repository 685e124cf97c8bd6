#include "tc/library/match/computation.h"

#include <algorithm>
#include <map>
#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/parse.h"
#include "tc/library/match/expression.h"

namespace tc::library {
namespace {

/// More nodes are not written out: no routine computes as much.
constexpr std::size_t most_nodes = 1000;

/// What a tensor holds, for each index of it.
struct Definition {
  std::vector<int> iterators;
  NodePtr value;
  bool rounds = false;  ///< is another number stored than the value is?
};

/// Does a tensor of \p type hold another number than \p value, which the text \p expr gave? Halves compute in float32.
bool rounds(const NodePtr& value, const lang::ExprPtr& expr, DType type) {
  if (!expr->type || std::holds_alternative<Constant>(value->value)) return false;
  if (!is_half(type)) return !converts_exactly(*expr->type, type);
  const auto* read = std::get_if<Read>(&value->value);
  return !read || read->type != type;
}

/// Follows the statements of a def. What the defs of users and of routines differ in is left to those below.
class Follower {
 public:
  Follower(const lang::Def& def, bool finite) : def_(def) {
    result_.finite = finite;
    for (std::size_t i = 0; i < def.params.size(); ++i) arguments_[def.params[i].name] = i;
    for (std::size_t o = 0; o < def.returns.size(); ++o) arguments_[def.returns[o].name] = def.params.size() + o;
  }
  virtual ~Follower() = default;

  Computation run() {
    if (def_.returns.size() != 1) throw NotUnderstood();
    for (std::size_t s = 0; s < def_.statements.size(); ++s) {
      const auto* assignment = std::get_if<lang::Assignment>(&def_.statements[s].node);
      if (!assignment) throw NotUnderstood();
      follow_or_mark(*assignment, s);
    }
    const auto found = defined_.find(def_.returns[0].name);
    if (found == defined_.end() || unknown_.count(found->first)) throw NotUnderstood();
    result_.outer = found->second.iterators;
    result_.result = def_.params.size();
    result_.value = found->second.value;
    return std::move(result_);
  }

 protected:
  virtual Iterator iterator(const std::string& name, std::size_t statement) = 0;
  /// The lowest value of \p name in a statement; of the indices of a tensor.
  virtual std::int64_t lowest(const std::string& name, std::size_t statement) = 0;
  virtual std::vector<std::int64_t> mins(const std::string& tensor) = 0;
  virtual Affine size_of(const lang::SizeOf& size) = 0;
  /// Throws NotUnderstood unless \p assignment, statement \p statement, writes all of its tensor.
  virtual void check_whole(const lang::Assignment& assignment, std::size_t statement) = 0;
  /// Other names that a subscript may hold, and the iterators of a sum, of which a text that is not checked tells none.
  virtual std::map<std::string, Affine> names() = 0;
  virtual std::vector<std::string> reduced(const lang::Assignment& assignment) = 0;
  virtual DType type_of(const std::string& tensor) = 0;

  const lang::Def& def_;

 private:
  int add_iterator(const std::string& name, std::size_t statement, Names& names) {
    const int id = static_cast<int>(result_.iterators.size());
    result_.iterators.push_back(iterator(name, statement));
    Affine value;
    value.constant = lowest(name, statement);
    value.terms[id] = {1, ""};
    names.values[name] = value;
    return id;
  }

  /// What is not understood matters only where it is read.
  void follow_or_mark(const lang::Assignment& assignment, std::size_t statement) try {
    follow(assignment, statement);
  } catch (const NotUnderstood&) {
    unknown_.insert(assignment.target);
  }

  void follow(const lang::Assignment& assignment, std::size_t statement) {
    check_whole(assignment, statement);
    Names known{names(), [&](const lang::SizeOf& size) { return size_of(size); },
                [&](const lang::Access& access, std::vector<Affine> subscripts) {
                  return read(access.tensor, std::move(subscripts));
                },
                result_.finite};
    Definition made;
    for (const auto& name : lang::left_iterators(assignment))
      made.iterators.push_back(add_iterator(name, statement, known));
    std::vector<int> inner;
    for (const auto& name : reduced(assignment)) inner.push_back(add_iterator(name, statement, known));
    made.value = node_of(assignment.rhs, known);
    if (assignment.reduction) {
      made.value = make_reduce(*assignment.reduction, inner, std::move(made.value));
      if (!assignment.initialise) made.value = joined(assignment, made.iterators, std::move(made.value));
    }
    made.rounds = rounds(made.value, assignment.rhs, type_of(assignment.target));
    defined_[assignment.target] = std::move(made);
  }

  /// \p value accumulated into what the target of \p assignment holds.
  NodePtr joined(const lang::Assignment& assignment, const std::vector<int>& iterators, NodePtr value) {
    std::vector<Affine> own;
    const auto begin = mins(assignment.target);
    for (std::size_t d = 0; d < iterators.size(); ++d) {
      Affine subscript;
      subscript.constant = begin[d];
      subscript.terms[iterators[d]] = {1, ""};
      own.push_back(subscript);
    }
    auto before = read(assignment.target, std::move(own));
    if (const auto least = neutral(*assignment.reduction); least && is_constant(before, *least)) return value;
    return make_node(Apply{std::string(spelling(*assignment.reduction)), {std::move(before), std::move(value)}});
  }

  /// The element of \p tensor at \p subscripts: what it was defined as, or an element that the caller gave.
  NodePtr read(const std::string& tensor, std::vector<Affine> subscripts) {
    if (unknown_.count(tensor) || result_.iterators.size() > most_nodes) throw NotUnderstood();
    const auto begin = mins(tensor);
    for (std::size_t d = 0; d < subscripts.size(); ++d) subscripts[d].constant -= begin[d];
    const auto known = defined_.find(tensor);
    if (known == defined_.end()) {
      const auto argument = arguments_.find(tensor);
      if (argument == arguments_.end()) throw NotUnderstood();
      return make_node(Read{argument->second, type_of(tensor), std::move(subscripts)});
    }
    auto value = written_out(known->second, subscripts);
    return known->second.rounds ? make_node(Apply{str("to ", type_of(tensor)), {std::move(value)}}) : value;
  }

  NodePtr written_out(const Definition& definition, const std::vector<Affine>& subscripts) {
    std::map<int, Affine> values;
    for (std::size_t d = 0; d < subscripts.size(); ++d) values[definition.iterators[d]] = subscripts[d];
    std::size_t nodes = 0;
    for_each_node(definition.value, [&](const Node& node) {
      ++nodes;
      const auto* reduce = std::get_if<Reduce>(&node.value);
      if (!reduce) return;
      for (int inner : reduce->iterators) {
        const int id = static_cast<int>(result_.iterators.size());
        result_.iterators.push_back(Iterator(result_.iterators[static_cast<std::size_t>(inner)]));
        values[inner] = Affine();
        values[inner].terms[id] = {1, ""};
      }
    });
    if ((nodes_ += nodes) > most_nodes) throw NotUnderstood();
    return with_functions(
        definition.value, [&](const Affine& function) { return substitute(function, values); },
        [&](int inner) { return values.at(inner).terms.begin()->first; });
  }

  Computation result_;
  std::map<std::string, std::size_t> arguments_;
  std::map<std::string, Definition> defined_;
  std::set<std::string> unknown_;  ///< tensors with a statement that is not understood
  std::size_t nodes_ = 0;
};

/// A def of a user, whose sizes are numbers.
class UserDef : public Follower {
 public:
  UserDef(const lang::InlinedDef& def, const std::vector<TensorSpec>& arguments, bool finite)
      : Follower(def.def, finite), all_(def) {
    std::vector<std::vector<std::int64_t>> shapes;
    for (std::size_t i = 0; i < def.def.params.size(); ++i) shapes.push_back(arguments.at(i).shape);
    sizes_ = lang::bind_sizes(def.def, shapes);
  }

 protected:
  Iterator iterator(const std::string& name, std::size_t statement) override {
    return {name, lang::evaluate_size(range(name, statement).extent, sizes_)};
  }
  std::int64_t lowest(const std::string& name, std::size_t statement) override {
    return lang::evaluate_size(range(name, statement).min, sizes_);
  }
  std::vector<std::int64_t> mins(const std::string& tensor) override {
    std::vector<std::int64_t> result;
    for (const auto& interval : box(tensor)) result.push_back(interval.min);
    return result;
  }
  Affine size_of(const lang::SizeOf& size) override {
    Affine result;
    result.constant = box(size.tensor).at(static_cast<std::size_t>(size.dimension)).extent;
    return result;
  }
  void check_whole(const lang::Assignment& assignment, std::size_t statement) override {
    const auto whole = box(assignment.target);
    const auto names = lang::left_iterators(assignment);
    for (std::size_t d = 0; d < names.size(); ++d)
      if (lowest(names[d], statement) != whole[d].min || iterator(names[d], statement).extent != whole[d].extent)
        throw NotUnderstood();
  }
  std::map<std::string, Affine> names() override {
    std::map<std::string, Affine> result;
    for (const auto& [name, value] : sizes_) result[name].constant = value;
    return result;
  }
  std::vector<std::string> reduced(const lang::Assignment& assignment) override {
    return assignment.reduction_iterators;
  }
  DType type_of(const std::string& tensor) override { return def_.tensors.at(tensor).type; }

 private:
  const lang::Range& range(const std::string& name, std::size_t statement) const {
    return all_.ranges.statements.at(statement).at(name);
  }
  lang::Box box(const std::string& tensor) const { return lang::evaluate_box(all_.ranges.tensors.at(tensor), sizes_); }

  const lang::InlinedDef& all_;
  lang::SizeMap sizes_;
};

bool is_upper(const std::string& name) { return !name.empty() && name[0] >= 'A' && name[0] <= 'Z'; }

/// The def of a routine, parsed: names in upper case are sizes and attributes.
class RoutineDef : public Follower {
 public:
  explicit RoutineDef(const lang::Def& def) : Follower(def, false) {}

 protected:
  Iterator iterator(const std::string& name, std::size_t statement) override {
    return {name, 0, size_name(name, def_.statements[statement])};
  }
  std::int64_t lowest(const std::string&, std::size_t) override { return 0; }
  std::vector<std::int64_t> mins(const std::string& tensor) override {
    for (const auto& param : def_.params)
      if (param.name == tensor) return std::vector<std::int64_t>(param.dims ? param.dims->size() : 0, 0);
    for (const auto& statement : def_.statements)
      if (const auto& assignment = std::get<lang::Assignment>(statement.node); assignment.target == tensor)
        return std::vector<std::int64_t>(assignment.subscripts.size(), 0);
    throw NotUnderstood();
  }
  Affine size_of(const lang::SizeOf&) override { throw NotUnderstood(); }
  void check_whole(const lang::Assignment&, std::size_t) override {}
  std::map<std::string, Affine> names() override {
    std::map<std::string, Affine> result;
    for (const auto& statement : def_.statements) {
      const auto& assignment = std::get<lang::Assignment>(statement.node);
      lang::for_each_expr(assignment.rhs, [&](const lang::ExprPtr& expr) {
        if (const auto* name = std::get_if<lang::Name>(&expr->node); name && is_upper(name->id))
          result[name->id] = named(name->id);
      });
    }
    return result;
  }
  std::vector<std::string> reduced(const lang::Assignment& assignment) override {
    auto seen = lang::left_iterators(assignment);
    std::vector<std::string> result;
    lang::for_each_expr(assignment.rhs, [&](const lang::ExprPtr& expr) {
      const auto* name = std::get_if<lang::Name>(&expr->node);
      if (!name || is_upper(name->id) || std::find(seen.begin(), seen.end(), name->id) != seen.end()) return;
      seen.push_back(name->id);
      result.push_back(name->id);
    });
    return result;
  }
  DType type_of(const std::string&) override { return DType::Float32; }

 private:
  /// What the extent of \p iterator is called: the end of its range, else the size of a dimension that it runs along.
  std::string size_name(const std::string& iterator, const lang::Statement& statement) const {
    const auto& assignment = std::get<lang::Assignment>(statement.node);
    for (const auto& clause : assignment.clauses)
      if (const auto* range = std::get_if<lang::RangeClause>(&clause.node); range && range->index == iterator)
        return std::get<lang::Name>(range->high->node).id;
    std::string result;
    lang::for_each_expr(assignment.rhs, [&](const lang::ExprPtr& expr) {
      const auto* access = std::get_if<lang::Access>(&expr->node);
      for (std::size_t d = 0; access && d < access->subscripts.size(); ++d)
        if (const auto* name = std::get_if<lang::Name>(&access->subscripts[d]->node); name && name->id == iterator)
          if (const auto size = size_of_dimension(access->tensor, d); !size.empty()) result = size;
    });
    return result;
  }
  std::string size_of_dimension(const std::string& tensor, std::size_t dimension) const {
    for (const auto& param : def_.params)
      if (param.name == tensor) return std::get<lang::Name>((*param.dims)[dimension]->node).id;
    for (const auto& statement : def_.statements)
      if (const auto& assignment = std::get<lang::Assignment>(statement.node); assignment.target == tensor)
        return size_name(lang::left_iterators(assignment)[dimension], statement);
    return "";
  }
  static Affine named(const std::string& name) {
    Affine result;
    result.names[name] = 1;
    return result;
  }
};

Computation with_result(Computation computation) {
  std::vector<Affine> subscripts;
  for (int id : computation.outer) {
    Affine subscript;
    subscript.terms[id] = {1, ""};
    subscripts.push_back(subscript);
  }
  computation.written = std::move(subscripts);
  return computation;
}

}  // namespace

std::optional<Computation> understand(const lang::InlinedDef& def, const std::vector<TensorSpec>& arguments,
                                      bool finite) try {
  if (lang::has_loops(def.def)) return std::nullopt;
  auto result = with_result(UserDef(def, arguments, finite).run());
  result.arguments = arguments;
  return result;
} catch (const NotUnderstood&) {
  return std::nullopt;
}

Computation understand_routine(const std::string& def) try {
  const auto file = lang::parse(def, "<routine>");
  auto result = with_result(RoutineDef(file.defs.at(0)).run());
  for (const auto& param : file.defs[0].params) {
    auto& sizes = result.sizes.emplace_back();
    if (!param.dims) continue;
    for (const auto& size : *param.dims) sizes.push_back(std::get<lang::Name>(size->node).id);
  }
  return result;
} catch (const NotUnderstood&) {
  throw InternalError(str("this is no def of a routine:\n", def));
}

std::vector<int> iterators_run(const Computation& computation) {
  auto result = computation.outer;
  for_each_node(computation.value, [&](const Node& node) {
    if (const auto* reduce = std::get_if<Reduce>(&node.value))
      result.insert(result.end(), reduce->iterators.begin(), reduce->iterators.end());
  });
  return result;
}

NodePtr with_functions(const NodePtr& node, const std::function<Affine(const Affine&)>& change,
                       const std::function<int(int)>& rename) {
  auto deeper = [&](const NodePtr& child) { return with_functions(child, change, rename); };
  auto changed = [&](Conditions conditions) {
    for (auto& condition : conditions) condition = change(condition);
    return conditions;
  };
  return std::visit(overloaded{[&](Read read) {
                                 for (auto& subscript : read.subscripts) subscript = change(subscript);
                                 return make_node(std::move(read));
                               },
                               [&](const Constant&) { return node; },
                               [&](Apply apply) {
                                 for (auto& argument : apply.arguments) argument = deeper(argument);
                                 return make_node(std::move(apply));
                               },
                               [&](const Guarded& guarded) {
                                 return make_node(Guarded{changed(guarded.conditions), deeper(guarded.value),
                                                          deeper(guarded.otherwise)});
                               },
                               [&](Reduce reduce) {
                                 for (auto& iterator : reduce.iterators) iterator = rename(iterator);
                                 reduce.conditions = changed(reduce.conditions);
                                 reduce.body = deeper(reduce.body);
                                 return make_node(std::move(reduce));
                               }},
                    node->value);
}

}  // namespace tc::library
