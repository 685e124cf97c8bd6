#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tc/base/str.h"
#include "tc/polyhedral/core/scop.h"

namespace tc::polyhedral {

/// Builds a Scop from text, for tests:
///
///   ScopBuilder(context)
///       .tensor("A", {8, 4}).tensor("C", {8})
///       .statement("S0[i] : 0 <= i < 8", "C[i]", {}, Statement::Body::Identity)
///       .accumulate("S1[i, k] : 0 <= i < 8 and 0 <= k < 4", "C[i]", {"A[i, k]"})
///       .scop()
///
/// Accesses are right-hand sides of { S[i] -> T[x] }; a guard may follow ("A[i - 1] : i >= 1"). Tensors named in
/// `inputs` are live in; every other tensor is an argument that is live out unless it was declared a workspace.
class ScopBuilder {
 public:
  explicit ScopBuilder(std::shared_ptr<Context> context) { scop_.context = std::move(context); }

  ScopBuilder& input(const std::string& name, std::vector<std::int64_t> extent) {
    return add_tensor(name, std::move(extent), Tensor::Storage::Argument, true, false);
  }
  ScopBuilder& output(const std::string& name, std::vector<std::int64_t> extent) {
    return add_tensor(name, std::move(extent), Tensor::Storage::Argument, false, true);
  }
  ScopBuilder& temporary(const std::string& name, std::vector<std::int64_t> extent) {
    return add_tensor(name, std::move(extent), Tensor::Storage::Workspace, false, false);
  }
  ScopBuilder& local(const std::string& name, std::vector<std::int64_t> extent) {
    return add_tensor(name, std::move(extent), Tensor::Storage::Local, false, false);
  }
  ScopBuilder& copy(const std::string& domain, const std::string& write, const std::string& read) {
    return add_statement(domain, write, {read}, Statement::Body::Copy, false);
  }
  ScopBuilder& combine(const std::string& domain, const std::string& write, const std::string& read) {
    return add_statement(domain, write, {read}, Statement::Body::Copy, true);
  }
  ScopBuilder& statement(const std::string& domain, const std::string& write, std::vector<std::string> reads = {},
                         Statement::Body body = Statement::Body::Source) {
    return add_statement(domain, write, reads, body, false);
  }
  ScopBuilder& identity(const std::string& domain, const std::string& write) {
    return add_statement(domain, write, {}, Statement::Body::Identity, false);
  }
  ScopBuilder& accumulate(const std::string& domain, const std::string& write, std::vector<std::string> reads) {
    return add_statement(domain, write, reads, Statement::Body::Source, true);
  }
  /// The last statement also reads some unknown elements, here all of \p elements.
  ScopBuilder& read_any(const std::string& elements) {
    auto& statement = scop_.statements.back();
    auto tensor = isl::set(scop_.ctx(), "{ " + elements + " }");
    statement.reads.push_back(
        {isl::map(call(scop_.ctx(), isl_map_from_domain_and_range, statement.domain.copy(), tensor.copy())),
         false,
         {},
         {}});
    return *this;
  }
  /// The last statement also reads an element of \p elements that its iterators \p iterators decide on, with its last
  /// \p subscript_reads reads in subscripts.
  ScopBuilder& read_through(const std::string& elements, std::vector<int> iterators, int subscript_reads) {
    read_any(elements);
    scop_.statements.back().reads.back().indirection = Indirection{std::move(iterators), subscript_reads};
    return *this;
  }
  /// The functions of all accesses to \p tensor go to \p place, in terms of the tensor's indices: "buffer[x1]".
  ScopBuilder& redirect(const std::string& tensor, const std::string& place) {
    for (auto& statement : scop_.statements) {
      redirect(statement.write, tensor, place);
      for (auto& read : statement.reads) redirect(read, tensor, place);
    }
    return *this;
  }
  Scop scop() {
    scop_.schedule = program_order(scop_);
    return scop_;
  }

 private:
  ScopBuilder& add_tensor(const std::string& name, std::vector<std::int64_t> extent, Tensor::Storage storage,
                          bool live_in, bool live_out) {
    Tensor tensor;
    tensor.name = name;
    tensor.min.assign(extent.size(), 0);
    tensor.strides.assign(extent.size(), 1);
    for (std::size_t i = extent.size(); i-- > 1;) tensor.strides[i - 1] = tensor.strides[i] * extent[i];
    tensor.extent = std::move(extent);
    tensor.storage = storage;
    tensor.live_in = live_in;
    tensor.live_out = live_out;
    scop_.tensors.push_back(tensor);
    return *this;
  }

  ScopBuilder& add_statement(const std::string& domain, const std::string& write, const std::vector<std::string>& reads,
                             Statement::Body body, bool accumulates) {
    auto set = isl::set(scop_.ctx(), "{ " + domain + " }");
    Statement statement{.id = tuple_name(set), .domain = set, .body = body, .accumulates = accumulates};
    statement.source = statement.id;
    auto tuple = domain.substr(0, domain.find(']') + 1);
    for (int i = 0; i < dimensions(set); ++i)
      statement.iterators.push_back(isl_set_get_dim_name(set.get(), isl_dim_set, i));
    statement.write = access(tuple, set, write);
    for (const auto& read : reads) statement.reads.push_back(access(tuple, set, read));
    scop_.statements.push_back(statement);
    return *this;
  }

  void redirect(Access& access, const std::string& tensor, const std::string& place) {
    if (range_name(access.relation) != tensor) return;
    std::vector<std::string> indices;
    for (std::size_t i = 0; i < scop_.tensor(tensor).extent.size(); ++i) indices.push_back(str("x", i));
    auto to = isl::multi_aff(scop_.ctx(), str("{ ", tensor, "[", join(indices), "] -> ", place, " }"));
    access.function = to.to_pw_multi_aff().pullback(access.function);
  }

  /// The access \p text of \p tuple; its guard restricts the relation, not the function.
  Access access(const std::string& tuple, const isl::set& domain, const std::string& text) {
    auto relation = isl::map(scop_.ctx(), "{ " + tuple + " -> " + text + " }").intersect_domain(domain);
    auto colon = text.find(':');
    auto function = isl::pw_multi_aff(scop_.ctx(), "{ " + tuple + " -> " + text.substr(0, colon) + " }");
    return {relation, true, function, {}};
  }

  Scop scop_;
};

}  // namespace tc::polyhedral
