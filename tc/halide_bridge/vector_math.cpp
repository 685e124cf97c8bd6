#include "tc/halide_bridge/vector_math.h"

#include <functional>
#include <map>

#include "tc/halide_bridge/vector_functions.h"

namespace tc::halide_bridge {

using Halide::Expr;

std::optional<Expr> expand_math(const std::string& function, const std::vector<Expr>& args) {
  static const std::map<std::string, std::function<Vec(const Vec&)>> table = {
      {"tc_exp_f32", line::exp},         {"tc_log_f32", line::log},   {"tc_tanh_f32", line::tanh},
      {"tc_sigmoid_f32", line::sigmoid}, {"tc_silu_f32", line::silu}, {"tc_softplus_f32", line::softplus},
      {"tc_erf_f32", line::erf},         {"tc_gelu_f32", line::gelu},
  };
  auto found = table.find(function);
  if (found == table.end() || args.size() != 1) return std::nullopt;
  Steps steps;
  Vec result = found->second(Vec(steps, args[0]));
  return Vec::finish(steps, result);
}

}  // namespace tc::halide_bridge
