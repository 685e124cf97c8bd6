#include "tc/cpu/stmt/transposition.h"

#include "tc/halide_bridge/stmt/value_name.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// The lanes of \p a and \p b in turns, from the first or the second half of both.
Expr interleaved_half(const Expr& a, const Expr& b, bool second) {
  int lanes = a.type().lanes();
  std::vector<int> indices;
  for (int i = 0; i < lanes / 2; ++i) {
    int from = i + (second ? lanes / 2 : 0);
    indices.push_back(from);
    indices.push_back(from + lanes);
  }
  return ir::Shuffle::make({a, b}, indices);
}

}  // namespace

Expr Steps::operator()(const Expr& value) {
  auto name = halide_bridge::value_name("t");
  steps_.emplace_back(name, value);
  return ir::Variable::make(value.type(), name);
}

ir::Stmt Steps::around(ir::Stmt body) const {
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
    body = ir::LetStmt::make(step->first, step->second, body);
  return body;
}

std::vector<Expr> transposed(Steps& steps, std::vector<Expr> rows) {
  auto count = rows.size();
  for (std::size_t round = 1; round < count; round *= 2) {
    std::vector<Expr> next;
    for (std::size_t i = 0; i < count / 2; ++i)
      for (bool second : {false, true}) next.push_back(steps(interleaved_half(rows[i], rows[i + count / 2], second)));
    rows = std::move(next);
  }
  return rows;
}

}  // namespace tc::cpu
