// Faults planted in the statement of a kernel: the law of body accesses, which runs its threads on symbols, finds them.

#include <Halide.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/halide_bridge/laws/verify_body.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"

namespace tc::engine::kernel_body_faults_test {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

/// A statement with what its hooks change; `done` says whether they did.
class Mutator : public ir::IRMutator {
 public:
  std::function<Expr(const ir::Load*)> load;
  std::function<Expr(const ir::Call*)> call;
  std::function<Stmt(const ir::Evaluate*)> evaluate;
  std::function<Stmt(const ir::IfThenElse*)> branch;
  bool done = false;

 protected:
  using ir::IRMutator::visit;
  Expr visit(const ir::Load* op) override { return changed(load, op); }
  Expr visit(const ir::Call* op) override { return changed(call, op); }
  Stmt visit(const ir::Evaluate* op) override { return changed(evaluate, op); }
  Stmt visit(const ir::IfThenElse* op) override { return changed(branch, op); }

 private:
  template <typename Result, typename Node>
  Result changed(const std::function<Result(const Node*)>& change, const Node* op) {
    auto result = change ? change(op) : Result();
    done = done || result.defined();
    return result.defined() ? result : ir::IRMutator::visit(op);
  }
};

bool is_barrier(const ir::Evaluate* op) {
  const auto* call = op->value.as<ir::Call>();
  return call && call->name == "tc_barrier";
}

void shift_what_is_read(Mutator& mutator) {
  mutator.load = [](const ir::Load* op) {
    if (op->name.rfind("local_", 0) != 0) return Expr();
    return ir::Load::make(op->type, op->name, op->index - ir::make_one(op->index.type()), op->image, op->param,
                          op->predicate, op->alignment);
  };
}

void forget_barriers(Mutator& mutator) {
  mutator.evaluate = [](const ir::Evaluate* op) { return is_barrier(op) ? ir::Evaluate::make(0) : Stmt(); };
}

void let_one_thread_wait(Mutator& mutator) {
  mutator.evaluate = [](const ir::Evaluate* op) {
    Expr is_first = ir::Variable::make(Halide::Int(32), "thread_x") == 0;
    return is_barrier(op) ? ir::IfThenElse::make(is_first, op) : Stmt();
  };
}

void run_everywhere(Mutator& mutator) {
  mutator.branch = [](const ir::IfThenElse* op) { return op->then_case; };
}

void exchange_with_itself(Mutator& mutator) {
  mutator.call = [](const ir::Call* op) {
    return op->name == "tc_shuffle_xor" && ir::is_const(op->args[1], 8) ? op->args[0] : Expr();
  };
}

void exchange_twice(Mutator& mutator) {
  mutator.call = [](const ir::Call* op) {
    if (op->name != "tc_shuffle_xor" || !ir::is_const(op->args[1], 8)) return Expr();
    return ir::Call::make(op->type, op->name, {op->args[0], 4}, op->call_type);
  };
}

bool begins(const ir::Call* op, const char* name) { return op->name.rfind(name, 0) == 0; }

Expr with_arguments(const ir::Call* op, const std::vector<Expr>& arguments) {
  return ir::Call::make(op->type, op->name, arguments, op->call_type);
}

/// The unit's arguments, four sums and both fragments, in the order that \p order says.
void rearrange_products(Mutator& mutator, const std::vector<std::size_t>& order) {
  mutator.call = [order](const ir::Call* op) {
    if (!begins(op, "tc_multiply_")) return Expr();
    std::vector<Expr> arguments;
    for (auto from : order) arguments.push_back(op->args[from]);
    return with_arguments(op, arguments);
  };
}
void swap_halves_of_rows(Mutator& mutator) { rearrange_products(mutator, {2, 3, 0, 1, 4, 5}); }
void swap_neighbouring_columns(Mutator& mutator) { rearrange_products(mutator, {1, 0, 3, 2, 4, 5}); }
void swap_operands(Mutator& mutator) { rearrange_products(mutator, {0, 1, 2, 3, 5, 4}); }

void load_with_name(Mutator& mutator, const char* from, const char* to) {
  mutator.call = [=](const ir::Call* op) {
    if (op->name != from) return Expr();
    return ir::Call::make(op->type, to, op->args, op->call_type);
  };
}
void transpose_rows(Mutator& mutator) { load_with_name(mutator, "tc_load_matrix_4", "tc_load_matrix_4_transposed"); }
void leave_columns(Mutator& mutator) { load_with_name(mutator, "tc_load_matrix_4_transposed", "tc_load_matrix_4"); }

/// Argument number \p argument of functions \p name, an address, by \p distance elements away.
void move_address(Mutator& mutator, const char* name, std::size_t argument, int distance) {
  mutator.call = [=](const ir::Call* op) {
    if (!begins(op, name)) return Expr();
    auto arguments = op->args;
    const auto* at = arguments[argument].as<ir::Load>();
    arguments[argument] =
        ir::Load::make(at->type, at->name, at->index ^ distance, at->image, at->param, at->predicate, at->alignment);
    return with_arguments(op, arguments);
  };
}
void load_other_steps(Mutator& mutator) { move_address(mutator, "tc_load_matrix_", 1, 8); }
void multiply_another_column(Mutator& mutator) { move_address(mutator, "tc_multiply_", 5, 2); }
void fill_another_fragment(Mutator& mutator) { move_address(mutator, "tc_load_matrix_", 0, 4); }

using Shapes = std::vector<std::vector<std::int64_t>>;

struct Fault {
  const char* name;
  void (*plant)(Mutator&);
  const char* program;
  Shapes shapes;
  const char* found;
  DType type = DType::Float32;
};

const char* const by_units = "def f(bfloat16(M,K) A, bfloat16(K,N) B) -> (O) { O(m,n) +=! A(m,k) * B(k,n) }";
const char* const product = "def f(float(M,K) A, float(K,N) B) -> (O) { O(m,n) +=! A(m,k) * B(k,n) }";
const char* const transposition = "def f(float(M,K) A) -> (O) { O(k,m) = A(m,k) }";
const char* const sums = "def f(float(M,K) A) -> (O) { O(i) +=! A(i,k) }";
const char* const chain = "def f(float(M,K) A) -> (O) { s(i) +=! A(i,k)  O(i,k) = A(i,k) - s(i) }";
const Shapes of_units = {{32, 64}, {64, 32}};
const Shapes factors = {{16, 8}, {8, 16}}, square = {{40, 40}}, wide = {{3, 300}};

const Fault faults[] = {
    {"AShiftedReadOfACopy", shift_what_is_read, product, factors, "the body "},
    {"AShiftedReadOfAPermutedCopy", shift_what_is_read, transposition, square, "the body "},
    {"ForgottenBarriers", forget_barriers, product, factors, "the body computes "},
    {"ForgottenBarriersOfATransposition", forget_barriers, transposition, square, "the body computes "},
    {"ForgottenBarriersOfASum", forget_barriers, chain, wide, "the body computes "},
    {"ABarrierOfOneThread", let_one_thread_wait, product, factors,
     "threads of the body wait for threads that do not come"},
    {"ForgottenGuards", run_everywhere, sums, wide, "the body "},
    {"AForgottenExchange", exchange_with_itself, sums, wide, "the body computes "},
    {"AnExchangeWithTheWrongThread", exchange_twice, sums, wide, "the body computes "},
    {"HalvesOfRowsSwapped", swap_halves_of_rows, by_units, of_units, "the body ", DType::BFloat16},
    {"NeighbouringColumnsSwapped", swap_neighbouring_columns, by_units, of_units, "the body ", DType::BFloat16},
    {"OperandsOfUnitsSwapped", swap_operands, by_units, of_units, "a matrix unit ", DType::BFloat16},
    {"TransposedRowsOfUnits", transpose_rows, by_units, of_units, "the body ", DType::BFloat16},
    {"ColumnsOfUnitsThatAreNotTransposed", leave_columns, by_units, of_units, "the body ", DType::BFloat16},
    {"OtherStepsOfUnits", load_other_steps, by_units, of_units, "the body ", DType::BFloat16},
    {"AnotherColumnOfUnits", multiply_another_column, by_units, of_units, "the body ", DType::BFloat16},
    {"AnotherFragmentOfUnits", fill_another_fragment, by_units, of_units, "a matrix unit ", DType::BFloat16},
};

/// What the stage itself runs behind raise.
void verify_bodies(const CompileState& state) {
  for (const auto& kernel : state.launches[0].grid().kernels)
    halide_bridge::verify_body(*kernel.body, *kernel.ast, kernel.kernel->scop, *state.program,
                               {kernel.kernel->grid, kernel.kernel->block, kernel.kernel->warp_size});
}

/// The invariants of all stages as a compile checks them, or that of body accesses alone, which takes less time.
enum class Laws { OfTheStage, OfTheBody };

/// What the compile of the program of \p fault says behind raise, "" where it goes on.
std::string raised(const Fault& fault, Laws how) {
  auto function = define(fault.program).functions.front();
  CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  options.stages.verify = how == Laws::OfTheStage;
  Mutator mutator;
  fault.plant(mutator);
  options.stages.mutate = [&](const std::string& stage, CompileState& state) {
    if (stage == "emit") throw ArgumentError("done");
    if (stage != "raise") return;
    for (auto& kernel : state.launches[0].grid().kernels)
      kernel.body = std::make_shared<Stmt>(mutator.mutate(*kernel.body));
    if (how == Laws::OfTheBody) verify_bodies(state);
  };
  std::vector<TensorSpec> inputs;
  for (const auto& shape : fault.shapes) inputs.push_back(contiguous(fault.type, shape));
  auto arguments = make_arguments(*function, inputs, {}, options);
  std::string message;
  try {
    map_launches(function, arguments, options, {}, Phase::Code);
  } catch (const ArgumentError&) {
  } catch (const InternalError& error) {
    message = error.what();
  }
  EXPECT_TRUE(mutator.done) << "there was nothing to spoil";
  return message;
}

class KernelBodyFaults : public testing::TestWithParam<Fault> {};

TEST_P(KernelBodyFaults, AreFound) {
  auto message = raised(GetParam(), Laws::OfTheBody);
  EXPECT_NE(message.find(str("law 'body accesses' is broken: ", GetParam().found)), std::string::npos) << message;
}

TEST(KernelBodies, OfRightKernelsAreAccepted) {
  std::set<std::string> seen;
  for (const auto& fault : faults)
    if (seen.insert(fault.program).second) {
      EXPECT_EQ(
          raised({"None", [](Mutator& mutator) { mutator.done = true; }, fault.program, fault.shapes, "", fault.type},
                 Laws::OfTheBody),
          "")
          << fault.program;
    }
}

TEST(KernelBodies, AreCheckedByTheStage) {
  EXPECT_NE(raised(faults[4], Laws::OfTheStage).find("behind stage 'raise': "), std::string::npos);
}

/// Digits of threads that no unit has, behind the check of mappings.
struct WrongDigits {
  const char* name;
  void (*plant)(polyhedral::GridClusterMapping& mapping, polyhedral::Nest& nest);
};

polyhedral::NestBranch& update_of(polyhedral::Nest& nest) {
  return *std::find_if(nest.branches.begin(), nest.branches.end(),
                       [](const polyhedral::NestBranch& branch) { return !branch.unit.empty(); });
}

/// Changes the threads of the update, and of nothing else.
void swap_threads(polyhedral::Nest& nest) {
  for (auto& loop : update_of(nest).loops)
    if (loop.place == polyhedral::NestPlace::Thread && loop.dimension < 2) loop.dimension = 1 - loop.dimension;
}

/// No threads share the rows of the update.
void leave_rows_to_one_thread(polyhedral::Nest& nest) {
  for (auto& loop : update_of(nest).loops)
    if (loop.place == polyhedral::NestPlace::Thread && loop.dimension == 1)
      loop.place = polyhedral::NestPlace::Unrolled;
}

/// Two warps have the halves of the rows of a unit.
void halve_warps(polyhedral::GridClusterMapping& mapping) {
  mapping.members[0].threads.warps = {1, 8, 2};
  mapping.block[1] = 16;
}

const WrongDigits wrong_digits[] = {
    {"SingleColumns", [](auto& mapping, auto&) { mapping.members[1].threads.run = 1; }},
    {"PairsOfRows", [](auto& mapping, auto&) { mapping.members[0].threads.run = 2; }},
    {"FourThreadsOfRows", [](auto& mapping, auto&) { mapping.members[0].threads.count = 4; }},
    {"EightThreadsOfColumns", [](auto& mapping, auto&) { mapping.members[1].threads.count = 8; }},
    {"RowsAreColumns", [](auto&, auto& nest) { swap_threads(nest); }},
    {"RowsOfOneThread", [](auto&, auto& nest) { leave_rows_to_one_thread(nest); }},
    {"NoCopyOfAnOperand", [](auto& mapping, auto&) { mapping.copies.pop_back(); }},
    {"PartsOfWarps", [](auto& mapping, auto&) { halve_warps(mapping); }},
};

class DigitsOfUnits : public testing::TestWithParam<WrongDigits> {};

TEST_P(DigitsOfUnits, AreRefused) {
  auto function = define(by_units).functions.front();
  CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  options.stages.verify = true;
  options.stages.mutate = [&](const std::string& stage, CompileState& state) {
    if (stage != "nest") return;
    auto& launch = state.launches[0].grid();
    auto& nests = launch.nests.at(0);
    auto mapping = launch.mapping->clusters.at(0);
    auto nest = nests.nest;
    GetParam().plant(mapping, nest);
    nests.nest = nest == nests.nest ? polyhedral::nest_of(nests.space, mapping) : nest;
  };
  std::vector<TensorSpec> inputs;
  for (const auto& shape : of_units) inputs.push_back(contiguous(DType::BFloat16, shape));
  EXPECT_THROW(map_launches(function, make_arguments(*function, inputs, {}, options), options, {}, Phase::Code),
               InternalError);
}

INSTANTIATE_TEST_SUITE_P(Plan, DigitsOfUnits, testing::ValuesIn(wrong_digits),
                         [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(Raise, KernelBodyFaults, testing::ValuesIn(faults),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tc::engine::kernel_body_faults_test
