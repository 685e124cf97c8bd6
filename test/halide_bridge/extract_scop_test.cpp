#include "tc/halide_bridge/lower/extract_scop.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using Kind = ProgramStatement::Kind;

Expr iterator(const std::string& name) { return ir::Variable::make(Halide::Int(64), name); }
Expr number(std::int64_t value) { return ir::IntImm::make(Halide::Int(64), value); }
Expr read(const std::string& tensor, std::vector<Expr> subscripts) {
  return element_read(Halide::Float(32), tensor, subscripts);
}
Expr index_read(const std::string& tensor, std::vector<Expr> subscripts) {
  return element_read(Halide::Int(64), tensor, subscripts);
}
Expr when(const Expr& condition, const Expr& value, const Expr& otherwise) {
  return ir::Call::make(value.type(), ir::Call::if_then_else, {condition, value, otherwise}, ir::Call::PureIntrinsic);
}
const Expr i = iterator("i"), j = iterator("j"), k = iterator("k"), zero = ir::FloatImm::make(Halide::Float(32), 0);

/// O(i) = value for i in 0:8, j in 0:5 as a reduction where the value needs it, over tensors of 10 x 10 elements.
Program program_of(const Expr& value, bool reduction = false) {
  Program program;
  program.name = "f";
  const lang::Box ten = {{0, 10}};
  program.tensors = {{"A", DType::Float32, lang::Role::Input, {{0, 10}, {0, 10}}},
                     {"B", DType::Float32, lang::Role::Input, ten},
                     {"X", DType::Int64, lang::Role::Input, ten},
                     {"O", DType::Float32, lang::Role::Output, {{0, 8}}}};
  ProgramStatement statement;
  statement.id = "S0";
  statement.kind = reduction ? Kind::Update : Kind::Assign;
  statement.target = "O";
  statement.iterators = {"i", "j"};
  statement.domain = {{0, 8}, {0, 5}};
  statement.subscripts = iterator_values({"i"});
  statement.value = value;
  program.launches = {{{statement}, {}}};
  return program;
}

/// The relations of the reads as text, one a line; "~" in front of an over-approximated one.
std::string reads_of(const Expr& value) {
  const auto scop = extract_scop(program_of(value), 0);
  std::vector<std::string> lines;
  for (const auto& access : scop.statements.at(0).reads) {
    lines.push_back((access.exact ? "" : "~") + str(access.relation.gist_domain(scop.statements[0].domain)));
  }
  return join(lines, "\n");
}

TEST(ExtractScop, DomainIsTheBoxWithTheNamesOfIterators) {
  const auto scop = extract_scop(program_of(zero), 0);
  EXPECT_EQ(str(scop.statements.at(0).domain), "{ S0[i, j] : 0 <= i <= 7 and 0 <= j <= 4 }");
  EXPECT_EQ(str(scop.statements.at(0).write.function), "{ S0[i, j] -> O[(i)] }");
}

TEST(ExtractScop, NamesThatIslReservesStayAway) {
  auto program = program_of(zero);
  program.launches[0].statements[0].iterators = {"i", "mod"};
  EXPECT_EQ(str(extract_scop(program, 0).statements.at(0).domain), "{ S0[i, i1] : 0 <= i <= 7 and 0 <= i1 <= 4 }");
}

TEST(ExtractScop, ScalarsHaveNoDimension) {
  Program program;
  program.tensors = {{"a", DType::Float32, lang::Role::Input, {}}, {"s", DType::Float32, lang::Role::Output, {}}};
  ProgramStatement statement;
  statement.id = "S0";
  statement.target = "s";
  statement.value = read("a", {});
  program.launches = {{{statement}, {}}};
  const auto scop = extract_scop(program, 0);
  EXPECT_EQ(str(scop.domain()), "{ S0[] }");
  EXPECT_EQ(str(scop.reads()), "{ S0[] -> a[] }");
  EXPECT_EQ(str(scop.writes()), "{ S0[] -> s[] }");
}

struct ReadCase {
  const char* what;
  Expr value;
  const char* reads;
};

TEST(ExtractScop, ReadsInOrder) {
  const auto cast32 = [](const Expr& e) { return ir::Cast::make(Halide::Int(64), ir::Cast::make(Halide::Int(32), e)); };
  const auto cast8 = [](const Expr& e) { return ir::Cast::make(Halide::Int(64), ir::Cast::make(Halide::Int(8), e)); };
  const std::vector<ReadCase> cases = {
      {"plain", read("A", {i, j}), "{ S0[i, j] -> A[i, j] }"},
      {"sum", read("B", {i + j}), "{ S0[i, j] -> B[i + j] }"},
      {"linear", read("B", {2 * i - 3 * j + 1}), "{ S0[i, j] -> B[1 + 2i - 3j] }"},
      {"quotient", read("B", {ir::Div::make(i + 1, number(2))}), "{ S0[i, j] -> B[o0] : i <= 2o0 <= 1 + i }"},
      {"cast keeps", read("B", {cast32(i + 1)}), "{ S0[i, j] -> B[1 + i] }"},
      {"cast keeps small", read("B", {cast8(i + 1)}), "{ S0[i, j] -> B[1 + i] }"},
      {"cast wraps", read("B", {cast8(i + 121)}), "~{ S0[i, j] -> B[o0] : 0 <= o0 <= 9 }"},
      {"product", read("B", {i * j}), "~{ S0[i, j] -> B[o0] : 0 <= o0 <= 9 }"},
      {"order", read("A", {i, j}) + read("B", {j}) * read("A", {j, i}),
       "{ S0[i, j] -> A[i, j] }\n{ S0[i, j] -> B[j] }\n{ S0[i, j] -> A[j, i] }"},
      {"indirect", read("A", {index_read("X", {i}), j}),
       "{ S0[i, j] -> X[i] }\n~{ S0[i, j] -> A[o0, j] : 0 <= o0 <= 9 }"},
      {"indirect second", read("A", {i + 1, index_read("X", {i})}),
       "{ S0[i, j] -> X[i] }\n~{ S0[i, j] -> A[1 + i, o1] : 0 <= o1 <= 9 }"},
      {"guard", when(i >= 1, read("B", {i - 1}), zero), "{ S0[i, j] -> B[-1 + i] : i > 0 }"},
      {"else arm", when(i < 3, read("B", {i}), read("B", {j})),
       "{ S0[i, j] -> B[i] : i <= 2 }\n{ S0[i, j] -> B[j] : i >= 3 }"},
      {"and", when(i > 2 && j < 4, read("B", {i}), zero), "{ S0[i, j] -> B[i] : i >= 3 and j <= 3 }"},
      {"not or", when(!(i < 3 || j == 4), read("B", {i}), zero), "{ S0[i, j] -> B[i] : i >= 3 and j <= 3 }"},
      {"half affine and", when(i > 2 && read("B", {j}) > zero, read("B", {i}), zero),
       "{ S0[i, j] -> B[j] }\n{ S0[i, j] -> B[i] : i >= 3 }"},
      {"half affine else", when(i > 2 && read("B", {j}) > zero, zero, read("B", {i})),
       "{ S0[i, j] -> B[j] }\n{ S0[i, j] -> B[i] }"},
      {"lazy and", when(when(i > 2, read("B", {j}) > zero, ir::make_bool(false)), read("B", {i}), zero),
       "{ S0[i, j] -> B[j] : i >= 3 }\n{ S0[i, j] -> B[i] : i >= 3 }"},
      {"select does not guard", ir::Select::make(i > 2, read("B", {i}), zero), "{ S0[i, j] -> B[i] }"},
      {"guarded indirect", when(i > 2, read("B", {index_read("X", {i})}), zero),
       "{ S0[i, j] -> X[i] : i >= 3 }\n~{ S0[i, j] -> B[o0] : i >= 3 and 0 <= o0 <= 9 }"},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(reads_of(test.value), test.reads) << test.what;
  }
}

/// Functions that isl may write in several ways, by their meaning.
TEST(ExtractScop, QuasiAffineFunctions) {
  struct Case {
    Expr subscript;
    const char* relation;
  };
  const std::vector<Case> cases = {
      {ir::Max::make(ir::Min::make(i - 1, number(6)), number(0)),
       "{ S0[i, j] -> B[x] : (i <= 1 and x = 0) or (1 < i <= 7 and x = i - 1) or (i > 7 and x = 6) }"},
      {ir::Mod::make(i - 4, number(3)), "{ S0[i, j] -> B[(i - 4) mod 3] }"},
      {ir::Div::make(i - 4, number(3)), "{ S0[i, j] -> B[floor((i - 4)/3)] }"},
      {ir::Select::make(i > 2, i, j), "{ S0[i, j] -> B[i] : i > 2; S0[i, j] -> B[j] : i <= 2 }"},
      {when(i == j, j, i + 1), "{ S0[i, j] -> B[j] : i = j; S0[i, j] -> B[i + 1] : i != j }"},
  };
  for (const auto& test : cases) {
    const auto scop = extract_scop(program_of(read("B", {test.subscript})), 0);
    const auto& access = scop.statements.at(0).reads.at(0);
    const isl::map expected(scop.ctx(), test.relation);
    EXPECT_TRUE(access.exact) << test.relation;
    EXPECT_TRUE(access.relation.is_equal(expected.intersect_domain(scop.statements[0].domain))) << access.relation;
    EXPECT_TRUE(access.function.as_map().is_equal(expected)) << "total: " << access.function;
  }
}

TEST(ExtractScop, FunctionsIgnoreGuards) {
  const auto scop = extract_scop(program_of(when(i >= 1, read("B", {i - 1}), zero)), 0);
  EXPECT_EQ(str(scop.statements.at(0).reads.at(0).function), "{ S0[i, j] -> B[(-1 + i)] }");
}

TEST(ExtractScop, KindsOfStatements) {
  auto program = program_of(read("A", {i, j}), true);
  ProgramStatement init = program.launches[0].statements[0];
  init.id = "S9";
  init.kind = Kind::Init;
  init.op = ReductionOp::Max;
  init.iterators = {"i"};
  init.domain = {{0, 8}};
  init.value = {};
  program.launches[0].statements.insert(program.launches[0].statements.begin(), init);
  const auto scop = extract_scop(program, 0);
  EXPECT_EQ(scop.statement("S9").body, polyhedral::Statement::Body::Identity);
  EXPECT_EQ(scop.statement("S9").op, ReductionOp::Max);
  EXPECT_FALSE(scop.statement("S9").accumulates);
  EXPECT_EQ(scop.statement("S0").body, polyhedral::Statement::Body::Source);
  EXPECT_EQ(scop.statement("S0").source, "S0");
  EXPECT_TRUE(scop.statement("S0").accumulates);
  EXPECT_EQ(scop.statement("S0").iterators, (std::vector<std::string>{"i", "j"}));
}

/// "name live_in live_out workspace" of the tensors of a launch.
std::string tensors_of(const Program& program, std::size_t launch) {
  std::vector<std::string> lines;
  for (const auto& tensor : extract_scop(program, launch).tensors) {
    lines.push_back(str(tensor.name, tensor.live_in ? " in" : "", tensor.live_out ? " out" : "",
                        tensor.storage == polyhedral::Tensor::Storage::Workspace ? " workspace" : ""));
  }
  return join(lines, ", ");
}

TEST(ExtractScop, LivenessFollowsRolesAndLaunches) {
  Program program;
  const lang::Box box = {{0, 8}};
  for (const auto& [name, role] : std::vector<std::pair<std::string, lang::Role>>{{"A", lang::Role::Input},
                                                                                  {"O", lang::Role::Output},
                                                                                  {"P", lang::Role::InOut},
                                                                                  {"t", lang::Role::Temporary},
                                                                                  {"u", lang::Role::Temporary},
                                                                                  {"unused", lang::Role::Input}}) {
    program.tensors.push_back({name, DType::Float32, role, box});
  }
  program.tensors.push_back({"check0'", DType::Bool, lang::Role::Temporary, {}});
  int count = 0;
  const auto assign = [&](const std::string& target, const Expr& value) {
    ProgramStatement statement;
    statement.id = str('S', count++);
    statement.target = target;
    statement.iterators = {"i"};
    statement.subscripts = {i};
    statement.domain = box;
    statement.value = value;
    return statement;
  };
  ProgramStatement flag;
  flag.id = "S9";
  flag.kind = Kind::Init;
  flag.op = ReductionOp::Or;
  flag.target = "check0'";
  program.launches = {{{assign("t", read("A", {i})), assign("u", read("t", {i})), assign("O", read("u", {i})), flag},
                       {{"check0'", "m", true}}},
                      {{assign("P", read("t", {i})), assign("t", read("O", {i}))}, {}}};
  EXPECT_EQ(tensors_of(program, 0), "A in, O out, t out workspace, u workspace, check0' out workspace");
  EXPECT_EQ(tensors_of(program, 1), "O in out, P in out, t in workspace");
}

TEST(ExtractScop, StridesAreRowMajorOverTheBox) {
  auto program = program_of(read("A", {i, j}));
  program.tensors[0].box = {{-2, 12}, {1, 7}};
  const auto scop = extract_scop(program, 0);
  EXPECT_EQ(scop.tensor("A").min, (std::vector<std::int64_t>{-2, 1}));
  EXPECT_EQ(scop.tensor("A").extent, (std::vector<std::int64_t>{12, 7}));
  EXPECT_EQ(scop.tensor("A").strides, (std::vector<std::int64_t>{7, 1}));
}

}  // namespace
}  // namespace tc::halide_bridge
