#include "tc/engine/describe/sections.h"

#include <algorithm>

#include "tc/base/str.h"
#include "tc/cpu/marked/marked_nest.h"
#include "tc/cpu/marked_assembly.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/engine/describe/describe.h"
#include "tc/engine/describe/shown_nest.h"
#include "tc/engine/describe/uses_of.h"
#include "tc/engine/graph/compile.h"
#include "tc/engine/graph/graph_plan.h"
#include "tc/halide_bridge/lower/program.h"
#include "tc/halide_bridge/raise/run_values.h"
#include "tc/lang/syntax/print.h"

namespace tc::engine {
namespace {

using Kind = halide_bridge::ProgramStatement::Kind;

/// The number of the statement of \p def that \p statement was made of; -1: none.
int source_of(const halide_bridge::ProgramStatement& statement, const lang::Def& def) {
  int found = -1;
  for (std::size_t i = 0; i < def.statements.size(); ++i) {
    const auto& assignment = std::get<lang::Assignment>(def.statements[i].node);
    const bool same_place = def.statements[i].range.begin == statement.source.begin;
    if (assignment.target == statement.target && (found < 0 || same_place)) found = static_cast<int>(i);
    if (same_place && found < 0) found = static_cast<int>(i);
  }
  return found;
}

std::vector<ShownStatement> shown_statements(const CompileState& state) {
  std::vector<ShownStatement> result;
  for (const auto& launch : state.program->launches)
    for (const auto& statement : launch.statements) {
      const auto kind = statement.kind == Kind::Assign ? "assign" : statement.kind == Kind::Init ? "init" : "update";
      result.push_back({statement.id, kind, statement.target, source_of(statement, state.function->def)});
      for (std::size_t i = 0; i < statement.iterators.size(); ++i)
        result.back().iterators.push_back(
            {statement.iterators[i], statement.domain[i].min, statement.domain[i].extent});
    }
  return result;
}

std::set<std::string> ids_of(const CompileState& state) {
  std::set<std::string> ids;
  for (const auto& launch : state.program->launches)
    for (const auto& statement : launch.statements) ids.insert(statement.id);
  return ids;
}

void append(std::vector<MarkedLine>& lines, std::vector<MarkedLine> more) {
  std::move(more.begin(), more.end(), std::back_inserter(lines));
}

/// What the stages of a compile leave behind, taken down while it runs.
class Notes {
 public:
  /// The statements of the program that statement number i of the def has become.
  std::set<std::string> made_of(std::size_t i) const {
    std::set<std::string> ids;
    for (const auto& statement : part.statements)
      if (statement.source == static_cast<int>(i)) ids.insert(statement.id);
    return ids;
  }

  void take(const std::string& stage, CompileState& state) {
    if (stage == "lower") part.statements = shown_statements(state);
    const auto dot = stage.find('.');
    const auto step = stage.substr(0, dot);
    const auto index = dot == std::string::npos ? 0 : static_cast<std::size_t>(std::stoul(stage.substr(dot + 1)));
    if (index >= state.launches.size() || !state.launches[index].scop) return;
    const auto& launch = state.launches[index];
    if (step == "nest") take_nest(launch);
    if (step == "map") take_names(state, launch);
    if (std::holds_alternative<CpuLaunch>(launch.on))
      take_code(step, index, state, launch);
    else
      take_kernels(step, state, launch);
  }

  ShownPart part;
  std::map<std::string, std::set<std::string>> whose;  ///< the statements of scops, by id: run_for()

 private:
  void take_nest(const LaunchState& launch) {
    auto nests = shown_nests(launch);
    std::move(nests.begin(), nests.end(), std::back_inserter(part.nests));
  }
  void take_names(const CompileState& state, const LaunchState& launch) {
    whose.merge(run_for(*launch.scop, ids_of(state)));
    if (const auto* on = std::get_if<GridLaunch>(&launch.on))
      for (const auto& kernel : on->kernels)
        if (kernel.kernel) whose.merge(run_for(kernel.kernel->scop, ids_of(state)));
  }
  void take_code(const std::string& step, std::size_t index, const CompileState& state, const LaunchState& launch) {
    if (step == "unswitch_guards")
      part.sections.push_back(
          {"loop nest", cpu::marked_nest(*launch.cpu().body, uses_of(*launch.scop, ids_of(state)))});
    if (step != "emit") return;
    const auto body = halide_bridge::with_run_values(*launch.cpu().body, state.run_values);
    part.sections.push_back(
        {"assembly", cpu::marked_assembly(str("tc_", state.program->name, "_", index), body, launch.buffers,
                                          state.target, uses_of(*launch.scop, ids_of(state)), contraction_of(state))});
  }
  void take_kernels(const std::string& step, const CompileState& state, const LaunchState& launch) {
    if (step != "raise" && step != "emit") return;
    std::vector<MarkedLine> lines;
    std::vector<cpu::BufferUse> all;
    for (const auto& kernel : launch.grid().kernels) {
      auto uses = uses_of(kernel.kernel->scop, ids_of(state));
      if (step == "raise") append(lines, cpu::marked_nest(*kernel.body, uses));
      std::move(uses.begin(), uses.end(), std::back_inserter(all));
    }
    if (step == "emit")
      for (const auto& text : launch.grid().texts) append(lines, marked_source(text.text, all));
    part.sections.push_back({step == "raise" ? "loop nest" : "CUDA", lines});
  }
};

std::vector<MarkedLine> comprehension(const lang::Def& def, const Notes& notes) {
  auto lines = unmarked_lines(lang::print(def));
  std::size_t at = 0;
  for (std::size_t i = 0; i < def.statements.size(); ++i) {
    const auto text = lang::print(def.statements[i]);
    for (auto line = at; line < lines.size(); ++line)
      if (lines[line].text.find(text) != std::string::npos) {
        lines[line].statements = notes.made_of(i);
        at = line + 1;
        break;
      }
  }
  return lines;
}

std::vector<MarkedLine> ranges(const Function& function, const lang::SizeMap& sizes, const Notes& notes) {
  std::vector<MarkedLine> lines;
  for (const auto& text : describe_ranges(function, sizes)) lines.push_back({text, notes.made_of(lines.size())});
  for (const auto& text : describe_preconditions(function)) lines.push_back({"needs " + text});
  return lines;
}

ShownPart describe_part(const std::shared_ptr<const Function>& given, const std::vector<Argument>& arguments,
                        const CompileOptions& options) {
  const auto function = inlined(given);
  auto how = options;
  auto notes = std::make_shared<Notes>();
  how.stages.verify = how.stages.keep_text = false;
  how.stages.keep_text_of = {"nest", "map"};
  how.stages.dump_directory.clear();
  how.stages.mutate = [notes](const std::string& stage, CompileState& state) { notes->take(stage, state); };
  const auto executable = compile(function, specs(arguments, false), specs(arguments, true), how);
  auto& part = notes->part;
  part.name = function->name();
  std::vector<Section> texts = {{"comprehension", comprehension(function->def, *notes)},
                                {"ranges", ranges(*function, bind_inputs(*function, specs(arguments, false)), *notes)}};
  for (const auto& [step, title] : {std::pair("nest", "nest"), std::pair("map", "schedule")})
    for (const auto& record : executable->stats().records)
      if (record.step == step && !record.text.empty())
        texts.push_back({title, marked_names(record.text, notes->whose)});
  part.sections.insert(part.sections.begin(), texts.begin(), texts.end());
  std::stable_partition(part.sections.begin(), part.sections.end(),
                        [](const auto& section) { return section.title != "assembly" && section.title != "CUDA"; });
  return part;
}

}  // namespace

std::vector<ShownPart> describe_sections(const std::shared_ptr<const Function>& function,
                                         const std::vector<Argument>& arguments, const CompileOptions& options) {
  auto how = options;
  how.interpret = false;
  const auto plan = plan_graph(function, arguments, how);
  if (!plan) return {describe_part(function, arguments, how)};
  how.partition = graph::Partition::One;
  how.layouts = graph::LayoutMode::Off;
  how.derive = 0;
  std::vector<ShownPart> parts;
  for (const auto& problem : plan->problems) {
    how.unaligned = problem.unaligned;
    how.held = problem.held;
    parts.push_back(
        describe_part(problem.function, make_arguments(*problem.function, problem.inputs, problem.outputs, how), how));
  }
  return parts;
}

}  // namespace tc::engine
