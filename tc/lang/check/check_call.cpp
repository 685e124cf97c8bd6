#include <algorithm>
#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/check/check_statement.h"
#include "tc/lang/check/type_expr.h"
#include "tc/lang/syntax/builtins.h"

namespace tc::lang {
namespace {

class CallChecker {
 public:
  CallChecker(const CallStatement& call, SourceRange range, const StatementContext& context)
      : call_(call), range_(range), context_(context), scope_(context.scope) {}

  CallStatement run() {
    const bool names_good = check_arguments() & check_results();
    if (!scope_.defs.count(call_.def)) {
      const std::string what = find_builtin(call_.def) ? " is a built-in function, not a function of this program"
                                                       : " is not a function of this program";
      report({.code = "TC119",
              .range = def_range(),
              .message = str("'", call_.def, "'", what),
              .help = did_you_mean(call_.def, {scope_.defs.begin(), scope_.defs.end()})});
    } else if (const Def* def = names_good ? callee() : nullptr) {
      match(*def);
      call_.def = def->name;
    }
    for (const auto& result : call_.results)
      if (const auto found = scope_.tensors.find(result); found != scope_.tensors.end()) found->second.assigned = true;
    return call_;
  }

 private:
  void report(Report report) { scope_.diagnostics.add(report); }
  SourceRange def_range() const { return call_.def_range.end > 0 ? call_.def_range : range_; }
  SourceRange argument_range(std::size_t i) const { return place(call_.argument_ranges, i, range_); }
  SourceRange result_range(std::size_t i) const { return place(call_.result_ranges, i, range_); }

  /// The def for the arguments; null where there is none, which is reported.
  const Def* callee() {
    std::vector<Operand> operands;
    for (const auto& name : call_.arguments) {
      const auto& tensor = scope_.tensors.at(name);
      operands.push_back({tensor.type, tensor.rank.value_or(0)});
    }
    try {
      return context_.find(call_.def, operands);
    } catch (const ArgumentError& error) {
      report({.code = "TC119", .range = def_range(), .message = error.what()});
      return nullptr;
    }
  }

  bool check_arguments() {
    bool good = true;
    for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
      const std::string& name = call_.arguments[i];
      const auto found = scope_.tensors.find(name);
      if (found == scope_.tensors.end()) {
        report({.code = "TC101",
                .range = argument_range(i),
                .message = str("'", name, "' is not a tensor"),
                .note = "the arguments of a call are names of tensors",
                .help = did_you_mean(name, scope_.readable_tensors())});
        good = false;
      } else if (!found->second.assigned && found->second.kind != TensorState::Kind::Param) {
        report({.code = "TC117",
                .range = argument_range(i),
                .message = str("'", name, "' is read before it is assigned")});
        good = false;
      }
    }
    return good;
  }

  bool check_results() {
    bool good = true;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < call_.results.size(); ++i) {
      const auto found = scope_.tensors.find(call_.results[i]);
      const bool param = found != scope_.tensors.end() && found->second.kind == TensorState::Kind::Param;
      if (param)
        report({.code = "TC104",
                .range = result_range(i),
                .message = str("the parameter '", call_.results[i], "' cannot be assigned"),
                .also = {{found->second.range, "a parameter: parameters are immutable"}}});
      const bool is_new = seen.insert(call_.results[i]).second;
      if (!is_new)
        report(
            {.code = "TC102", .range = result_range(i), .message = str("'", call_.results[i], "' is a result twice")});
      good = good && !param && is_new && found != scope_.tensors.end();
    }
    return good;
  }

  bool check_count(const Def& def, std::size_t given, std::size_t wanted, const std::string& noun, SourceRange range) {
    if (given == wanted) return true;
    report({.code = "TC119",
            .range = range,
            .message = str("'", def.name, "' has ", counted(wanted, noun), " but ", given, given == 1 ? " is" : " are",
                           " given"),
            .also = {{def.name_range, "defined here"}}});
    return false;
  }

  /// Compares arguments and results with the callee's declarations and gives new results their types.
  void match(const Def& def) {
    const bool arguments_good = check_count(def, call_.arguments.size(), def.params.size(), "parameter", def_range());
    const bool results_good = check_count(def, call_.results.size(), def.returns.size(), "return", result_range(0));
    for (std::size_t i = 0; arguments_good && i < call_.arguments.size(); ++i)
      match_argument(def, def.params[i].name, scope_.tensors.at(call_.arguments[i]), call_.arguments[i],
                     argument_range(i));
    for (std::size_t i = 0; arguments_good && i < call_.arguments.size(); ++i)
      if (std::find(def.sizes.begin(), def.sizes.end(), def.params[i].name) != def.sizes.end() && !def.params[i].dims)
        match_value(def, def.params[i].name, call_.arguments[i], argument_range(i));
    for (std::size_t i = 0; results_good && i < call_.results.size(); ++i) match_result(def, i);
  }

  /// Reports an argument that is no parameter although the callee makes ranges of its value.
  void match_value(const Def& def, const std::string& inner, const std::string& name, SourceRange range) {
    if (scope_.is_integer_parameter(name)) {
      with_parameter_values(make_expr(Name{name}, range), scope_);
      return;
    }
    report({.code = "TC119",
            .range = range,
            .message =
                str("'", def.name, "' makes ranges of the value of '", inner, "', and '", name, "' is no parameter"),
            .also = {{def.tensors.at(inner).range, "declared here"}},
            .note = "such values are known before anything runs",
            .help = "make it an integer scalar parameter of this function"});
  }

  /// Reports a tensor that differs from the callee's \p inner in type or rank.
  void match_argument(const Def& def, const std::string& inner, const TensorState& tensor, const std::string& name,
                      SourceRange range) {
    const TensorInfo& info = def.tensors.at(inner);
    if (tensor.type && *tensor.type != info.type)
      report({.code = "TC119",
              .range = range,
              .message = str("'", name, "' is ", tc::name(*tensor.type), " but '", inner, "' of '", def.name, "' is ",
                             tc::name(info.type)),
              .also = {{info.range, str("'", inner, "' is ", tc::name(info.type))}},
              .help = "convert it in a statement before the call"});
    if (tensor.rank && *tensor.rank != info.rank)
      report({.code = "TC119",
              .range = range,
              .message = str("'", name, "' has ", counted(static_cast<std::size_t>(*tensor.rank), "dimension"),
                             " but '", inner, "' of '", def.name, "' has ", info.rank),
              .also = {{info.range, "declared here"}}});
  }

  void match_result(const Def& def, std::size_t i) {
    const std::string& inner = def.returns[i].name;
    const TensorInfo& info = def.tensors.at(inner);
    TensorState& tensor = scope_.tensors.at(call_.results[i]);
    match_argument(def, inner, tensor, call_.results[i], result_range(i));
    if (info.role == Role::InOut && !tensor.assigned) {
      if (tensor.kind == TensorState::Kind::Return)
        tensor.accumulates_into_caller = true;
      else
        report({.code = "TC118",
                .range = result_range(i),
                .message = str("'", call_.results[i], "' has no value yet but '", def.name, "' accumulates into it"),
                .help = "assign it before the call"});
    }
    if (!tensor.type) tensor.type = info.type;
    if (!tensor.rank) tensor.rank = info.rank;
  }

  CallStatement call_;
  SourceRange range_;
  const StatementContext& context_;
  Scope& scope_;
};

}  // namespace

SourceRange place(const std::vector<SourceRange>& ranges, std::size_t i, SourceRange fallback) {
  return i < ranges.size() ? ranges[i] : fallback;
}

CallStatement check_call(const CallStatement& call, SourceRange range, const StatementContext& context) {
  return CallChecker(call, range, context).run();
}

}  // namespace tc::lang
