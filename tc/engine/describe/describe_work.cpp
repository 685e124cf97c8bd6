#include "tc/engine/describe/describe_work.h"

#include <algorithm>
#include <iomanip>
#include <map>

#include "tc/base/str.h"
#include "tc/engine/compile/body_operations.h"
#include "tc/engine/compile/library_call.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/engine/compile/price_function.h"
#include "tc/engine/graph/graph_plan.h"
#include "tc/engine/machine/machine_kind.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/nest/branch_points.h"

namespace tc::engine {
namespace {

using strategy::Traffic;

/// Adds what one launch moves to that of those before it. What is read at least is so once for all launches.
void add(Traffic& all, const Traffic& launch) {
  for (const auto& tensor : launch.tensors) {
    auto found =
        std::find_if(all.tensors.begin(), all.tensors.end(), [&](const auto& t) { return t.name == tensor.name; });
    if (found == all.tensors.end()) {
      all.tensors.push_back(tensor);
      continue;
    }
    for (std::size_t level = 0; level < tensor.levels.size(); ++level) {
      found->levels[level].read += tensor.levels[level].read;
      found->levels[level].written += tensor.levels[level].written;
    }
    found->unique.read = std::max(found->unique.read, tensor.unique.read);
    found->unique.written = std::max(found->unique.written, tensor.unique.written);
  }
}

/// The harmonic mean of the lanes along which instances of statements run.
double mean_lanes(const CompileState& state) {
  double instances = 0, vectors = 0;
  for (const auto& launch : state.launches) {
    const auto* on = std::get_if<CpuLaunch>(&launch.on);
    if (!launch.plain || !on || !on->mapping) continue;
    for (const auto& statement : launch.plain->statements) {
      double count = 1;
      for (const auto& range : polyhedral::box(statement.domain)) count *= static_cast<double>(range.extent());
      int lanes = 1;
      for (const auto& nest : on->nests)
        for (const auto& branch : nest.branches)
          if (branch.statement == statement.id && !branch.loops.empty())
            lanes = std::max(lanes, branch.loops.back().lanes);
      instances += count;
      vectors += count / lanes;
    }
  }
  return vectors > 0 ? instances / vectors : 1;
}

/// Predicts the traffic of the launches of \p state into \p report.
void add_traffic(const CompileState& state, WorkReport& report) {
  report.traffic.emplace();
  for (const auto& launch : state.launches) {
    if (!launch.scop || launch.scop->schedule.is_null() || launch.scop->schedule.domain().is_empty()) continue;
    if (const auto* on = std::get_if<CpuLaunch>(&launch.on); on && on->mapping)
      for (const auto& nest : on->nests) report.parallel |= polyhedral::is_on_cores(nest);
    polyhedral::OperationQuota quota(launch.scop->ctx(), state.mapping.quota);
    try {
      add(*report.traffic, strategy::predict_traffic(*launch.scop, state.target));
    } catch (const isl::exception& error) {
      report.traffic.reset();
      report.no_traffic =
          quota.caused(error) ? "isl ran out of its quota of operations" : str("isl failed: ", error.what());
      return;
    }
  }
}

/// Prices the mappings that are chosen for the clusters of \p state; none where isl fails or runs out of its quota.
std::vector<strategy::Price> prices_of(const CompileState& state) {
  std::vector<strategy::Price> result;
  auto bodies = body_operations(*state.program);
  for (const auto& launch : state.launches) {
    const auto* on = std::get_if<CpuLaunch>(&launch.on);
    if (!on || !on->mapping || !launch.scop) continue;
    polyhedral::OperationQuota quota(launch.scop->ctx(), state.mapping.quota);
    try {
      for (std::size_t i = 0; i < launch.clusters.size(); ++i)
        result.push_back(strategy::price({*launch.scop, launch.clusters[i], state.target, bodies}, on->nests[i],
                                         on->mapping->buffer_bytes));
    } catch (const isl::exception&) {
      return {};
    }
  }
  return result;
}

std::string bytes_text(double bytes) {
  TextStream out;
  out << std::fixed;
  if (bytes < 1e4)
    out << std::setprecision(0) << bytes << " B";
  else if (bytes < 1e6)
    out << std::setprecision(1) << bytes / 1e3 << " kB";
  else
    out << std::setprecision(1) << bytes / 1e6 << " MB";
  return out.str();
}

/// A line of the table of bytes.
void print_row(std::ostream& out, const std::string& head, const strategy::Transfer& transfer) {
  out << "  " << std::left << std::setw(22) << head << std::right << std::setw(12) << bytes_text(transfer.read)
      << std::setw(12) << bytes_text(transfer.written) << "\n";
}

/// What is read of each tensor: its bytes, and those that come in between two levels.
void print_reads(std::ostream& out, const Traffic& traffic) {
  out << std::left << std::setw(24) << "read of each tensor:" << std::right << std::setw(12) << "once";
  for (std::size_t level = 1; level < Traffic::names.size(); ++level) out << std::setw(12) << Traffic::names[level];
  out << "\n";
  for (const auto& tensor : traffic.tensors) {
    if (tensor.unique.read <= 0) continue;
    out << "  " << std::left << std::setw(22) << tensor.name << std::right << std::setw(12)
        << bytes_text(tensor.unique.read);
    for (std::size_t level = 1; level < tensor.levels.size(); ++level)
      out << std::setw(12) << bytes_text(tensor.levels[level].read);
    out << "\n";
  }
}

/// A line for each cluster: its predicted time, by what takes it.
void print_prices(std::ostream& out, const std::vector<strategy::Price>& prices) {
  for (const auto& price : prices) out << "predicted: " << strategy::to_string(price) << "\n";
}

/// A line for each kernel.
void print_kernels(std::ostream& out, const std::vector<strategy::GridPrice>& prices) {
  for (std::size_t k = 0; k < prices.size(); ++k)
    out << "kernel " << k << " predicted: " << strategy::to_string(prices[k]) << "\n";
}

}  // namespace

double WorkReport::intensity() const {
  double bytes = traffic ? traffic->total(3).total() : 0;
  return bytes > 0 ? static_cast<double>(work.flops()) / bytes : 0;
}

namespace {

/// Adds what a part does to \p all, the report of those before it.
void add(WorkReport& all, const WorkReport& part) {
  all.work = all.work + part.work;
  all.parallel |= part.parallel;
  all.lanes = std::max(all.lanes, part.lanes);
  all.prices.insert(all.prices.end(), part.prices.begin(), part.prices.end());
  all.grid_prices.insert(all.grid_prices.end(), part.grid_prices.begin(), part.grid_prices.end());
  if (part.type == DType::Float64) all.type = part.type;
  if (!part.traffic) all.no_traffic = part.no_traffic;
  if (all.traffic && part.traffic)
    add(*all.traffic, *part.traffic);
  else
    all.traffic.reset();
}

/// \p report with the tensors called as the graph calls them.
WorkReport renamed(WorkReport report, const graph::Graph& graph, const graph::Part& part, const lang::Def& def) {
  if (!report.traffic) return report;
  std::map<std::string, std::string> names;
  for (std::size_t i = 0; i < part.inputs.size(); ++i) names[def.params[i].name] = graph.tensors[part.inputs[i]].name;
  for (std::size_t o = 0; o < part.outputs.size(); ++o)
    names[def.returns[o].name] = graph.tensors[part.outputs[o]].name;
  for (auto& tensor : report.traffic->tensors)
    if (auto found = names.find(tensor.name); found != names.end()) tensor.name = found->second;
  return report;
}

WorkReport describe_parts(const GraphPlan& plan, const CompileOptions& options) {
  auto how = options;
  how.partition = graph::Partition::One;
  how.layouts = graph::LayoutMode::Off;
  how.derive = 0;
  std::vector<WorkReport> reports;
  for (const auto& problem : plan.problems) {
    how.unaligned = problem.unaligned;
    how.held = problem.held;
    reports.push_back(
        describe_work(problem.function, make_arguments(*problem.function, problem.inputs, problem.outputs, how), how));
  }
  WorkReport all;
  for (std::size_t p = 0; p < plan.parts.size(); ++p) {
    const auto k = plan.problem_of[p];
    auto report = renamed(reports[k], plan.graph, plan.parts[p], plan.problems[k].function->def);
    if (p == 0)
      all = std::move(report);
    else
      add(all, report);
  }
  return all;
}

/// Why nothing is said about the bytes that \p function moves; "": something is.
std::string why_unpredicted(const Function& function, const std::vector<Argument>& arguments,
                            const CompileOptions& options) {
  if (options.interpret) return "it runs by the interpreter";
  if (const auto choice = choose_library_call(function, arguments, options); choice.call)
    return str(choice.call->library, " computes ", function.name());
  return std::string(machine_kind_of(options.target).no_model);
}

/// Are the kernels of \p function priced, though not what they move between caches?
bool prices_kernels(const Function& function, const std::vector<Argument>& arguments, const CompileOptions& options) {
  return options.target.grid && !options.interpret && !choose_library_call(function, arguments, options).call;
}

/// Maps \p function again, for what \p report says of its mapping.
void fill(const std::shared_ptr<const Function>& function, const std::vector<Argument>& arguments,
          const CompileOptions& options, WorkReport& report) {
  auto how = options;
  how.stages.verify = how.stages.keep_text = false;
  how.stages.dump_directory.clear();
  auto filled = std::make_shared<WorkReport>(report);
  how.stages.mutate = [filled](const std::string& stage, CompileState& state) {
    if (stage != "nest") return;
    filled->prices = prices_of(state);
    filled->grid_prices = grid_prices_of(state);
  };
  map_launches(function, arguments, how, [filled](CompileState& state) {
    if (!filled->no_traffic.empty()) return;
    add_traffic(state, *filled);
    filled->lanes = mean_lanes(state);
  });
  report = *filled;
}

}  // namespace

WorkReport describe_work(const std::shared_ptr<const Function>& given, const std::vector<Argument>& arguments,
                         const CompileOptions& options) {
  if (!options.interpret)
    if (const auto plan = plan_graph(given, arguments, options)) return describe_parts(*plan, options);
  const auto function = inlined(given);
  WorkReport report;
  auto sizes = bind_inputs(*function, specs(arguments, false));
  report.work = strategy::count_work(function->def, function->ranges, sizes);
  for (const auto& [name, tensor] : function->def.tensors)
    if (tensor.type == DType::Float64) report.type = DType::Float64;
  report.no_traffic = why_unpredicted(*function, arguments, options);
  if (report.no_traffic.empty() || prices_kernels(*function, arguments, options))
    fill(function, arguments, options, report);
  return report;
}

WorkReport describe_work(const Image& image) {
  auto module = define(image.source);
  CompileOptions options;
  options.target = Target::parse(image.target);
  options.mapping = options::MappingOptions::parse(image.options);
  auto report = describe_work(module.functions.back(), image.all_arguments(), options);
  if (image.calls.empty()) return report;
  report.traffic.reset();
  report.no_traffic = str(image.calls.front().library, " computes some of it");
  return report;
}

std::string to_string(const WorkReport& report) {
  TextStream out;
  out << "FLOPs: " << (report.work.exact ? "" : "at most ") << report.work.flops() << " ("
      << strategy::to_string(report.work) << ")\n";
  if (!report.traffic) {
    out << "bytes: not predicted, " << report.no_traffic << "\n";
    print_kernels(out, report.grid_prices);
    return out.str();
  }
  out << std::left << std::setw(24) << "bytes, predicted:" << std::right << std::setw(12) << "read" << std::setw(12)
      << "written"
      << "\n";
  for (int level = 0; level < 4; ++level)
    print_row(out, Traffic::names[static_cast<std::size_t>(level)], report.traffic->total(level));
  print_row(out, "arguments, each once", report.traffic->compulsory());
  print_reads(out, *report.traffic);
  out << "intensity: " << std::setprecision(2) << std::fixed << report.intensity()
      << " FLOPs a byte between L3 and memory\n";
  print_prices(out, report.prices);
  return out.str();
}

}  // namespace tc::engine
