// A digest of what the compiler decides for random programs, so that two revisions can be compared byte for byte: for
// each launch the fields of its mapping, its schedule, its AST and its loop nests or kernels.
//
//   TC_TARGET=cpu:avx512,cores=2,l1=48k,l2=2m,l3=32m build/bin/tc_compare_mappings 1 1300 > before.txt

#include <cstdio>
#include <cstdlib>
#include <functional>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/compile/pipeline.h"
#include "test/support/fuzz_settings.h"

namespace tc::test {
namespace {

using engine::CompileState;
using engine::LaunchState;

/// Seconds after which a program is given up, as refused.
constexpr double longest_compile = 60;

std::string digest(const std::string& text) {
  std::uint64_t hash = 14695981039346656037u;
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211u;
  TextStream out;
  out << std::hex << hash;
  return out.str();
}

/// Every field of a decision, one after another.
class Fields {
 public:
  std::string text() const { return out_.str(); }

  void add(const polyhedral::ClusterMapping& cluster) {
    out_ << "cluster ";
    for (const auto& member : cluster.members) all(member.block, member.points);
    all(cluster.outermost, cluster.parallel, join(cluster.above), cluster.register_tile);
    for (const auto& statement : cluster.statements) add(statement);
    all("staged", join(cluster.staged));
    all(cluster.reduction.statement, cluster.reduction.iterator, cluster.reduction.size);
    all(cluster.dot.statement, cluster.dot.iterator, cluster.dot.width, cluster.dot.steps);
    all(cluster.window.statement, cluster.window.iterator, cluster.window.row, cluster.window.width,
        cluster.window.step);
    for (const auto& pack : cluster.packed)
      all("pack", pack.statement, pack.read, pack.panel, pack.size, pack.panel_last, pack.below_blocks, pack.lanes,
          pack.once);
    add(cluster.copies);
  }

  void add(const polyhedral::GridClusterMapping& cluster) {
    out_ << "cluster ";
    for (const auto& member : cluster.members) all(member.tile, member.grid, text_of(member.threads));
    for (const auto& statement : cluster.statements) add(statement);
    add(cluster.others);
    all(cluster.blocks.statement, cluster.blocks.iterator, cluster.blocks.size, cluster.blocks.slots);
    all(cluster.separate);
    for (const auto& copy : cluster.copies)
      all("copy", copy.statement, copy.read, copy.contiguous, copy.run_along, copy.vector, copy.beside,
          static_cast<int>(copy.way));
    all("staged", join(cluster.staged), "promoted", join(cluster.promoted));
    all("grid", join(cluster.grid), "block", join(cluster.block));
    all(cluster.thread_elements, cluster.shared_bytes, cluster.blocks_per_multiprocessor);
  }

 private:
  template <typename... Values>
  void all(const Values&... values) {
    ((out_ << values << ";"), ...);
  }
  void add(const polyhedral::StatementMapping& statement) {
    all("lanes", statement.id, statement.iterator, statement.lanes, statement.unroll);
  }
  void add(const polyhedral::GridStatement& statement) {
    all("statement", statement.id, statement.together, statement.tile, statement.vector, statement.unroll);
    for (const auto& loop : statement.loops) all(loop.iterator, text_of(loop.threads));
  }
  static std::string text_of(const polyhedral::ThreadLoop& loop) { return str(loop.dimension, ":", loop.run); }

  TextStream out_;
};

std::string fields(const LaunchState& launch) {
  Fields fields;
  std::int64_t bytes = 0;
  if (const auto* cpu = std::get_if<engine::CpuLaunch>(&launch.on); cpu && cpu->mapping) {
    bytes = cpu->mapping->buffer_bytes;
    for (const auto& cluster : cpu->mapping->clusters) fields.add(cluster);
  }
  if (const auto* grid = std::get_if<engine::GridLaunch>(&launch.on); grid && grid->mapping)
    for (const auto& cluster : grid->mapping->clusters) fields.add(cluster);
  return str(bytes, fields.text());
}

std::string schedules(const LaunchState& launch) {
  std::string text = launch.scop && !launch.scop->schedule.is_null() ? print_block(launch.scop->schedule) : "";
  if (const auto* grid = std::get_if<engine::GridLaunch>(&launch.on))
    for (const auto& part : grid->kernels) text += print_block(part.kernel->scop.schedule);
  return text;
}

/// The texts of the stages from `generate` on, those aside that call LLVM.
std::string code(CompileState& state, std::size_t index) {
  std::string line;
  StageOptions<CompileState> options;
  options.keep_text = true;
  std::vector<Stage<CompileState>> stages;
  for (const auto& stage : engine::launch_stages(state, index, engine::Phase::Code))
    if (stage.print) stages.push_back(stage);
  for (const auto& record : run_stages(stages, state, options)) line += str(" ", record.step, " ", digest(record.text));
  return line;
}

std::string describe(const RandomProgram& program, const FuzzSetting& setting) {
  auto function = engine::define(program.text()).functions.back();
  auto arguments = arguments_for(program, *function, setting.strided);
  engine::CompileOptions options;
  options.target = Target::parse(setting.target);
  options.mapping = options::MappingOptions::parse(setting.options);
  options.time_limit = longest_compile;
  auto made = engine::make_arguments(*function, arguments.input_specs(), arguments.output_specs(), options);
  std::string text;
  engine::map_launches(function, made, options, [&](CompileState& state) {
    for (std::size_t i = 0; i < state.launches.size(); ++i) {
      const auto& launch = state.launches[i];
      auto decided = fields(launch);
      auto mapped = digest(schedules(launch));
      text += str("  launch ", i, " mapping ", digest(decided), " schedule ", mapped, code(state, i), "\n");
    }
    for (const auto& fallback : state.fallbacks) text += str("  ", fallback, "\n");
  });
  return text;
}

void print(const char* kind, const RandomProgram& program, const FuzzSetting& setting) {
  std::string text;
  try {
    text = describe(program, setting);
  } catch (const InternalError& error) {
    std::fprintf(stderr, "seed %llu %s: %s\n", static_cast<unsigned long long>(program.seed), kind, error.what());
    text = "  internal error\n";
  } catch (const Error& error) {
    text = "  refused\n";
  }
  std::printf("seed %llu %s\n%s", static_cast<unsigned long long>(program.seed), kind, text.c_str());
}

}  // namespace
}  // namespace tc::test

int main(int count, char** arguments) {
  using namespace tc::test;
  if (count != 3) {
    std::fprintf(stderr, "usage: tc_compare_mappings FIRST_SEED LAST_SEED\n");
    return 2;
  }
  RandomOptions of_the_grid;
  of_the_grid.contractions = 60;
  of_the_grid.whole_tiles = 60;
  const auto last = std::strtoull(arguments[2], nullptr, 10);
  for (auto seed = std::strtoull(arguments[1], nullptr, 10); seed <= last; ++seed) {
    auto program = random_program(seed);
    print("cpu", program, cpu_setting_of(program));
    program = random_program(seed, of_the_grid);
    print("grid", program, grid_setting_of(program));
  }
}
