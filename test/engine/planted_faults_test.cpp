// Compiler faults, planted behind a stage through the stage runner: each must be found, by a law or by the comparison
// with the interpreter; the same compile without the fault must be right.

#include <Halide.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <functional>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/halide_bridge/lower/program.h"
#include "test/support/oracle.h"

namespace tc::engine {
namespace {

namespace ir = Halide::Internal;
using halide_bridge::ProgramStatement;
using Mutation = std::function<bool(CompileState&)>;

/// A fault: what \p plant changes after \p stage. It returns whether it found something to change.
struct Fault {
  const char* name;
  const char* stage;
  Mutation plant;
  const char* text;
  const char* options;
};

test::Arguments arguments_for(const Function& function, const std::vector<std::vector<std::int64_t>>& shapes) {
  std::mt19937_64 random(7);
  test::Arguments arguments;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    auto type = function.def.tensors.at(function.def.params[i].name).type;
    arguments.inputs.push_back(test::random_integers(contiguous(type, shapes[i]), 1, 5, random));
  }
  for (const auto& info : infer_output_tensor_info(function, arguments.input_specs()))
    arguments.outputs.push_back(test::random_integers(contiguous(info.dtype, info.shape), 7, 9, random));
  return arguments;
}

/// How the compiler with \p plant after \p stage was found out: the law's message, the wrong element, or nothing.
std::string finding(const std::shared_ptr<const Function>& function, const Fault& fault, bool planted) {
  CompileOptions options;
  options.mapping = options::MappingOptions::parse(fault.options);
  bool done = false;
  if (planted)
    options.stages.mutate = [&](const std::string& stage, CompileState& state) {
      if (stage == fault.stage) done = fault.plant(state) || done;
    };
  std::vector<std::vector<std::int64_t>> shapes;
  for (const auto& param : function->def.params) shapes.emplace_back(function->def.tensors.at(param.name).rank, 37);
  std::string found;
  try {
    found = test::mismatch(function, arguments_for(*function, shapes), options).value_or("");
  } catch (const InternalError& error) {
    found = str("law: ", error.what());
  }
  EXPECT_EQ(done, planted) << "the fault was not planted";
  return found;
}

ProgramStatement* find_statement(CompileState& state, const std::function<bool(const ProgramStatement&)>& test) {
  for (auto& launch : state.program->launches)
    for (auto& statement : launch.statements)
      if (test(statement)) return &statement;
  return nullptr;
}

/// The last value of the first iterator is never executed.
bool shorten_schedule(CompileState& state) {
  auto& scop = *state.launches[0].scop;
  const auto& statement = scop.statements.back();
  auto all_but_last = statement.domain.subtract(statement.domain.lexmax());
  auto rest = scop.domain().subtract(statement.domain.to_union_set()).unite(all_but_last.to_union_set());
  scop.schedule = polyhedral::call(scop.ctx(), isl_schedule_intersect_domain, scop.schedule.copy(), rest.copy());
  return true;
}

/// What reads t, or accumulates into it, no longer waits for it.
bool forget_dependences(CompileState& state) {
  auto& launch = state.launches[0];
  auto writers = isl::union_set::empty(launch.scop->ctx());
  for (const auto& statement : launch.scop->statements)
    if (polyhedral::range_name(statement.write.relation) == "t")
      writers = writers.unite(statement.domain.to_union_set());
  auto& dependences = *launch.dependences;
  for (auto* relation : {&dependences.flow, &dependences.validity, &dependences.coincidence})
    *relation = relation->subtract_domain(writers);
  return !writers.is_empty();
}

bool start_from_one(CompileState& state) {
  auto* init = find_statement(state, [](const auto& s) { return s.kind == ProgramStatement::Kind::Init; });
  if (init) init->op = ReductionOp::Product;
  return init;
}

/// A rewriting of the calls in one value.
class RewriteCalls : public ir::IRMutator {
 public:
  explicit RewriteCalls(std::function<Halide::Expr(const ir::Call*)> rewrite) : rewrite_(std::move(rewrite)) {}
  bool changed = false;

 private:
  using ir::IRMutator::visit;
  Halide::Expr visit(const ir::Call* op) override {
    Halide::Expr result = rewrite_(op);
    if (!result.defined()) return ir::IRMutator::visit(op);
    changed = true;
    return result;
  }
  std::function<Halide::Expr(const ir::Call*)> rewrite_;
};

bool rewrite_values(CompileState& state, const std::function<Halide::Expr(const ir::Call*)>& rewrite) {
  RewriteCalls rewriter(rewrite);
  for (auto& launch : state.program->launches)
    for (auto& statement : launch.statements)
      if (statement.value.defined()) statement.value = rewriter.mutate(statement.value);
  return rewriter.changed;
}

bool swap_subscripts(CompileState& state) {
  return rewrite_values(state, [](const ir::Call* op) -> Halide::Expr {
    if (op->name != "A" || op->args.size() != 2) return {};
    return halide_bridge::element_read(op->type, op->name, {op->args[1], op->args[0]});
  });
}

bool lose_guard(CompileState& state) {
  return rewrite_values(state, [](const ir::Call* op) {
    return op->is_intrinsic(ir::Call::if_then_else) ? op->args[1] : Halide::Expr();
  });
}

bool combine_by_max(CompileState& state) {
  bool changed = false;
  for (auto& statement : state.launches[0].scop->statements) {
    if (statement.body != polyhedral::Statement::Body::Copy || !statement.accumulates) continue;
    statement.op = ReductionOp::Max;
    changed = true;
  }
  return changed;
}

bool skip_initialisation(CompileState& state) {
  for (auto& launch : state.program->launches) {
    auto& all = launch.statements;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].target != "t" || all[i].kind != ProgramStatement::Kind::Init) continue;
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
  }
  return false;
}

const Fault faults[] = {
    {"wrong tile bound", "schedule", shorten_schedule, "def f(float(M,N) A) -> (O) { O(i,j) = A(i,j) * 2 }",
     "promote=0"},
    {"dropped dependence", "depend", forget_dependences,
     "def f(float(M,N) A) -> (O) { b(i,j) = A(i,j) * 2  t(i) +=! b(i,j)  O(i,j) = b(i,j) - t(i) }", "fusion=max"},
    {"wrong initial value", "lower", start_from_one, "def f(float(M,K) A) -> (O) { O(i) +=! A(i,k) }", ""},
    {"swapped indices", "lower", swap_subscripts, "def f(float(M,M) A) -> (O) { O(i,j) = A(i,j) + i }", ""},
    {"lost guard", "lower", lose_guard,
     "def f(float(N) A) -> (O) { O(i) = (i >= 1 && i <= N) ? A(i-1) : 0 where i in 0:N+2 }", ""},
    {"wrong combine", "map", combine_by_max, "def f(float(M,K) A) -> (O) { O(i) +=! A(i,k) }", ""},
    {"stale temporary", "lower", skip_initialisation,
     "def f(int32(M,K) A) -> (O) { t(i) *=! A(i,k)  O(i,j) = t(i) + A(i,j) }", ""},
};

TEST(PlantedFaults, EachIsFound) {
  for (const auto& fault : faults) {
    SCOPED_TRACE(fault.name);
    auto function = define(fault.text).functions.front();
    EXPECT_EQ(finding(function, fault, false), "");
    auto found = finding(function, fault, true);
    EXPECT_NE(found, "");
    RecordProperty(fault.name, found);
  }
}

/// Addresses cut to 32 bits.
class CutAddresses : public ir::IRMutator {
 public:
  bool changed = false;

 private:
  using ir::IRMutator::visit;
  Halide::Expr visit(const ir::Load* op) override {
    if (op->index.type().bits() != 64 || op->name != "A") return ir::IRMutator::visit(op);
    changed = true;
    auto wide = op->index.type(), narrow = wide.with_bits(32);
    auto index = ir::Cast::make(wide, ir::Cast::make(narrow, op->index));
    return ir::Load::make(op->type, op->name, index, op->image, op->param, op->predicate, op->alignment);
  }
};

/// Addresses beyond 2^31 elements: a tensor of three rows that stand 2^31 bytes apart, the middle of a sparse mapping.
TEST(PlantedFaults, OffsetsCutTo32BitsAreFound) {
  constexpr std::int64_t row = std::int64_t{1} << 31;
  constexpr std::size_t bytes = 5 * static_cast<std::size_t>(row);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* first = static_cast<std::uint8_t*>(memory) + 2 * row;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 40; ++j) first[i * row + j] = static_cast<std::uint8_t>(10 * i + j + 1);

  auto function = define("def f(uint8(M,N) A) -> (O) { O(i,j) = A(i,j) }").functions.front();
  TensorView input, output;
  static_cast<TensorSpec&>(input) = {DType::UInt8, {3, 40}, {row, 1}};
  static_cast<TensorSpec&>(output) = contiguous(DType::UInt8, {3, 40});
  input.data = first;
  std::vector<std::uint8_t> result(120);
  output.data = result.data();
  auto wrong_elements = [&](bool planted) {
    CompileOptions options;
    bool done = false;
    if (planted)
      options.stages.mutate = [&](const std::string& stage, CompileState& state) {
        if (stage != "raise") return;
        CutAddresses cut;
        auto& body = state.launches[0].cpu().body;
        body = std::make_shared<ir::Stmt>(cut.mutate(*body));
        done = cut.changed;
      };
    compile(function, {input}, {output}, options)->run(std::vector<TensorView>{input}, std::vector<TensorView>{output});
    EXPECT_EQ(done, planted);
    int wrong = 0;
    for (int i = 0; i < 120; ++i) wrong += result[i] != 10 * (i / 40) + i % 40 + 1;
    return wrong;
  };
  EXPECT_EQ(wrong_elements(false), 0);
  EXPECT_GT(wrong_elements(true), 0);
  munmap(memory, bytes);
}

}  // namespace
}  // namespace tc::engine
