#pragma once

#include <Halide.h>

#include <map>
#include <string>
#include <vector>

namespace tc::cpu {

/// Vectors that are bound one after the other, each a row or a shuffle of earlier ones, and what stands below them.
struct ShuffledLanes {
  std::map<std::string, std::vector<int>> lanes;  ///< of each vector, by name
  int rows = 0;
  Halide::Internal::Stmt body;

  /// The lanes of \p vector, a name.
  const std::vector<int>& of(const Halide::Expr& vector) const {
    return lanes.at(vector.as<Halide::Internal::Variable>()->name);
  }
};

/// Interprets the shuffles of \p stmt: lane l of row r is 100 r + l.
inline ShuffledLanes interpret_shuffles(const Halide::Internal::Stmt& stmt) {
  ShuffledLanes result;
  result.body = stmt;
  while (const auto* let = result.body.as<Halide::Internal::LetStmt>()) {
    std::vector<int> lanes;
    if (const auto* shuffle = let->value.as<Halide::Internal::Shuffle>()) {
      std::vector<int> all;
      for (const auto& vector : shuffle->vectors)
        all.insert(all.end(), result.of(vector).begin(), result.of(vector).end());
      for (int index : shuffle->indices) lanes.push_back(all.at(index));
    } else {
      for (int lane = 0; lane < let->value.type().lanes(); ++lane) lanes.push_back(100 * result.rows + lane);
      ++result.rows;
    }
    result.lanes[let->name] = lanes;
    result.body = let->body;
  }
  return result;
}

}  // namespace tc::cpu
