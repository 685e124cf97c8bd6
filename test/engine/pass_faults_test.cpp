// Faults planted behind each stage of mapping: the law right behind that stage finds them.

#include <gtest/gtest.h>

#include <functional>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/map_cpu/cpu_passes.h"

namespace tc::engine::pass_faults_test {
namespace {

using polyhedral::Scop;

/// The scop that the passes work on: of the launch, or of its first kernel.
Scop& scop_of(CompileState& state) {
  auto& launch = state.launches[0];
  if (auto* on = std::get_if<GridLaunch>(&launch.on); on && !on->kernels.empty() && on->kernels[0].cluster)
    return on->kernels[0].cluster->scop;
  return *launch.scop;
}

/// Takes a last instance of the last statement out of the schedule.
bool lose_an_instance(CompileState& state) {
  auto& scop = scop_of(state);
  const auto& statement = scop.statements.back();
  auto rest = scop.domain().subtract(statement.domain.lexmax().to_union_set());
  scop.schedule = polyhedral::call(scop.ctx(), isl_schedule_intersect_domain, scop.schedule.copy(), rest.copy());
  return true;
}

/// Leaves one element in a row of the tensor whose name begins with \p prefix.
template <const char* const& prefix>
bool shorten(CompileState& state) {
  for (auto& tensor : scop_of(state).tensors) {
    if (tensor.name.rfind(prefix, 0) != 0) continue;
    tensor.extent.back() = 1;
    return true;
  }
  return false;
}
const char* const lanes = "lanes_";
const char* const parts = "parts_";
const char* const local = "local_";
const char* const packed = "local_packed_";
const char* const block = "block_";

/// Half of the lanes of each statement.
bool halve_lanes(CompileState& state) {
  bool any = false;
  for (auto& statement : scop_of(state).statements) {
    any = any || statement.vector_lanes > 1;
    statement.vector_lanes = std::max(1, statement.vector_lanes / 2);
  }
  return any;
}

/// Says of all loops that they carry no dependence.
bool call_coincident(CompileState& state) {
  auto& scop = scop_of(state);
  auto claim = [](isl::schedule_node node, auto& self) -> isl::schedule_node {
    if (node.isa<isl::schedule_node_band>()) {
      auto band = node.as<isl::schedule_node_band>();
      for (unsigned i = 0; i < band.n_member(); ++i) band = band.member_set_coincident(static_cast<int>(i), 1);
      node = band;
    }
    for (unsigned i = 0; i < node.n_children(); ++i) node = self(node.child(static_cast<int>(i)), self).parent();
    return node;
  };
  scop.schedule = claim(scop.schedule.root().child(0), claim).schedule();
  return true;
}

/// Leaves a thread of each block without work.
bool lose_a_thread(CompileState& state) {
  auto& launch = state.launches[0].grid();
  auto& tree = launch.kernels[0].cluster->tree;
  if (tree->block[0] < 2) return false;
  --tree->block[0];
  return true;
}

/// Makes the first kernel anew without the last pass: no thread waits for another.
bool forget_barriers(CompileState& state) {
  auto& launch = state.launches[0].grid();
  auto& cluster = *launch.kernels[0].cluster;
  polyhedral::GridCluster again(launch.parts[0], cluster.state.space, cluster.state.nest, cluster.state.warp_size);
  const auto& passes = polyhedral::grid_passes();
  for (std::size_t i = 0; i + 1 < passes.size(); ++i) passes[i].run(again);
  cluster.scop = again.scop;
  return true;
}

struct Fault {
  const char* stage;
  bool (*plant)(CompileState&);
  const char* program;
  const char* target;
  const char* options;
};

const char* const product = "def f(float(M,K) A, float(K,N) B) -> (O) { O(m,n) +=! A(m,k) * B(k,n) }";
const char* const square = "def f(float(M,K) A, float(K,N) B) -> (O) { O(i,j) +=! A(i,k) * A(j,k) }";
const char* const sums = "def f(float(M,K) A, float(K,N) B) -> (O) { O(i) +=! A(i,k) }";
const char* const chain =
    "def f(float(M,K) A, float(K,N) B) -> (O) { t(i,j) = A(i,j) * 2  s(i) +=! t(i,j)  O(i,j) = t(i,j) - s(i) }";

const Fault faults[] = {
    {"cut_reductions", lose_an_instance, sums, "cpu:avx2", "reduction_parts=4"},
    {"gather_coincident", call_coincident, product, "cpu:avx2", ""},
    {"collapse", lose_an_instance, product, "cpu:avx2", ""},
    {"privatise_reduction", shorten<lanes>, sums, "cpu:avx2", ""},
    {"block_reduction", shorten<parts>, product, "cpu:avx2,l1=1k,l2=4k", "reduction_block=16"},
    {"stage_tensor", lose_an_instance, product, "cpu:avx2", ""},
    {"tile_cluster", lose_an_instance, product, "cpu:avx2", ""},
    {"pack", shorten<packed>, square, "cpu:avx2,l1=1k,l2=4k", ""},
    {"contract", shorten<local>, chain, "cpu:avx2", "fusion=max"},
    {"vectorise", halve_lanes, product, "cpu:avx2", ""},
    {"mark_parallel", call_coincident, product, "cpu:avx2", ""},
    {"split_kernels", lose_an_instance, product, "cuda:sm_90", ""},
    {"fill_rows", lose_an_instance, sums, "cuda:sm_90", ""},
    {"reduce_in_block", shorten<lanes>, sums, "cuda:sm_90", ""},
    {"repeat_in_lanes", lose_an_instance, sums, "cuda:sm_90", ""},
    {"stage_tensor", lose_an_instance, product, "cuda:sm_90", ""},
    {"copy_reads", shorten<block>, product, "cuda:sm_90", ""},
    {"grid_tree", lose_a_thread, product, "cuda:sm_90", ""},
    {"hold_in_registers", lose_an_instance, product, "cuda:sm_75", ""},
    {"promote_in_block", shorten<local>, product, "cuda:sm_90", ""},
    {"as_kernel", lose_an_instance, sums, "cuda:sm_90", ""},
    {"insert_barriers", forget_barriers, sums, "cuda:sm_90", ""},
};

/// What the compile of the program of \p fault says with the fault in it.
std::string compiled(const Fault& fault) {
  auto function = define(fault.program).functions.front();
  CompileOptions options;
  options.target = Target::parse(fault.target);
  options.mapping = options::MappingOptions::parse(fault.options);
  options.stages.verify = true;
  bool done = false;
  options.stages.mutate = [&](const std::string& stage, CompileState& state) {
    if (stage == fault.stage) done = fault.plant(state);
  };
  const std::int64_t rows = options.target.is_cuda() ? 512 : 64, reduced = options.target.is_cuda() ? 512 : 66;
  auto arguments = make_arguments(
      *function, {contiguous(DType::Float32, {rows, reduced}), contiguous(DType::Float32, {reduced, rows})}, {},
      options);
  std::string message;
  try {
    map_launches(function, arguments, options);
  } catch (const InternalError& error) {
    message = error.what();
  }
  EXPECT_TRUE(done) << "there was nothing to spoil behind " << fault.stage;
  return message.substr(0, message.find('\n'));
}

class PassFaults : public testing::TestWithParam<Fault> {};

TEST_P(PassFaults, AreFoundRightBehindThePass) {
  auto message = compiled(GetParam());
  EXPECT_NE(message.find(str("behind stage '", GetParam().stage, "'")), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(Stages, PassFaults, testing::ValuesIn(faults), [](const auto& test) {
  return str(test.param.stage, std::string(test.param.target).rfind("cuda", 0) == 0 ? "_of_a_grid" : "");
});

/// Each pass is among the faults.
TEST(PassFaults, AreOfAllPasses) {
  for (const char* target : {"cpu", "cuda:sm_90"})
    for (const auto& stage : stage_names(Target::parse(target))) {
      bool is_pass = false, found = false;
      for (const auto& pass : polyhedral::cpu_passes()) is_pass = is_pass || (target[1] == 'p' && stage == pass.name);
      for (const auto& pass : polyhedral::grid_passes()) is_pass = is_pass || (target[1] == 'u' && stage == pass.name);
      for (const auto& fault : faults) found = found || (stage == fault.stage && fault.target[1] == target[1]);
      EXPECT_TRUE(found || !is_pass) << stage << " for " << target;
    }
}

}  // namespace
}  // namespace tc::engine::pass_faults_test
