// Faults planted in the statement of a kernel: the law of body accesses, which runs its threads on symbols, finds them.

#include <Halide.h>
#include <gtest/gtest.h>

#include <functional>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/compile/pipeline.h"

namespace tc::engine {
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

using Shapes = std::vector<std::vector<std::int64_t>>;

struct Fault {
  const char* name;
  void (*plant)(Mutator&);
  const char* program;
  Shapes shapes;
  const char* found;
};

const char* const product = "def f(float(M,K) A, float(K,N) B) -> (O) { O(m,n) +=! A(m,k) * B(k,n) }";
const char* const transposition = "def f(float(M,K) A) -> (O) { O(k,m) = A(m,k) }";
const char* const sums = "def f(float(M,K) A) -> (O) { O(i) +=! A(i,k) }";
const char* const chain = "def f(float(M,K) A) -> (O) { s(i) +=! A(i,k)  O(i,k) = A(i,k) - s(i) }";
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
};

/// What the compile of the program of \p fault says behind raise, "" where it goes on.
std::string raised(const Fault& fault) {
  auto function = define(fault.program).functions.front();
  CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  options.stages.verify = true;
  Mutator mutator;
  fault.plant(mutator);
  options.stages.mutate = [&](const std::string& stage, CompileState& state) {
    if (stage == "emit") throw ArgumentError("done");
    if (stage != "raise") return;
    for (auto& kernel : state.launches[0].grid().kernels)
      kernel.body = std::make_shared<Stmt>(mutator.mutate(*kernel.body));
  };
  std::vector<TensorSpec> inputs;
  for (const auto& shape : fault.shapes) inputs.push_back(contiguous(DType::Float32, shape));
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
  auto message = raised(GetParam());
  EXPECT_NE(message.find(str("law 'body accesses' is broken: ", GetParam().found)), std::string::npos) << message;
}

TEST(KernelBodies, OfRightKernelsAreAccepted) {
  for (const auto& fault : faults)
    EXPECT_EQ(raised({"None", [](Mutator& mutator) { mutator.done = true; }, fault.program, fault.shapes, ""}), "")
        << fault.program;
}

INSTANTIATE_TEST_SUITE_P(Raise, KernelBodyFaults, testing::ValuesIn(faults),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tc::engine
