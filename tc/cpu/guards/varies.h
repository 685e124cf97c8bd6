#pragma once

#include <Halide.h>

#include <string>

namespace tc::cpu {

/// Does \p expr depend on the variable \p name or on memory?
class Varies : public Halide::Internal::IRVisitor {
 public:
  Varies(const Halide::Expr& expr, const std::string& name) : name_(name) { expr.accept(this); }
  bool result = false;

 private:
  using Halide::Internal::IRVisitor::visit;
  void visit(const Halide::Internal::Variable* op) override { result = result || op->name == name_; }
  void visit(const Halide::Internal::Load*) override { result = true; }
  const std::string& name_;
};

}  // namespace tc::cpu
