#include "tc/polyhedral/core/instances.h"

#include <algorithm>
#include <functional>

#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/cluster_view.h"

namespace tc::polyhedral {

std::vector<std::string> dimension_names(int count, const std::string& prefix) {
  std::vector<std::string> result;
  for (int i = 0; i < count; ++i) result.push_back(str(prefix, i));
  return result;
}

bool is_of_whole_tiles(const isl::set& set, const std::vector<std::int64_t>& tiles) {
  if (set.is_empty()) return true;
  const auto ranges = box(set);
  std::vector<std::string> shared;
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    const auto tile = [&](const char* name) {
      return str("floor((", name, d, " - ", ranges[d].min, ") / ", tiles[d], ")");
    };
    shared.push_back(str(tile("i"), " = ", tile("j"), " and ", ranges[d].min, " <= j", d, " <= ", ranges[d].max));
  }
  const auto count = static_cast<int>(ranges.size());
  const auto tuple = [&](const char* name) {
    return str(isl_set_has_tuple_name(set.get()) == isl_bool_true ? isl_set_get_tuple_name(set.get()) : "", "[",
               join(dimension_names(count, name)), "]");
  };
  const isl::map together(set.ctx(), str("{ ", tuple("i"), " -> ", tuple("j"), " : ", join(shared, " and "), " }"));
  return set.apply(together).is_subset(set);
}

std::vector<int> kept_dimensions(const Statement& statement) {
  const auto& write = statement.write;
  std::vector<int> result;
  for (int i = 0; i < dimensions(statement.domain); ++i)
    if (isl_pw_multi_aff_involves_dims(write.function.get(), isl_dim_in, i, 1) == isl_bool_true ||
        (!write.exact && contains(write.indirection->iterators, i)))
      result.push_back(i);
  return result;
}

Access exact_access(const isl::map& relation) {
  return {relation, true, relation.as_pw_multi_aff().gist(relation.domain())};
}

Access redirect(const Access& access, const std::string& tensor) {
  auto result = access;
  result.relation = access.relation.set_range_tuple(tensor);
  if (access.function.is_null()) return result;
  auto id = isl::id(access.relation.ctx(), tensor);
  result.function = call(id.ctx(), isl_pw_multi_aff_set_tuple_id, access.function.copy(), isl_dim_out, id.copy());
  return result;
}

namespace {

Access moved(const Access& access, const isl::multi_aff& from, const isl::set& domain) {
  auto result = access;
  auto old = isl::map(from.to_pw_multi_aff().as_map()).intersect_domain(domain);
  result.relation = old.apply_range(access.relation);
  if (!access.function.is_null()) result.function = access.function.pullback(from);
  return result;
}

}  // namespace

Statement moved(const Statement& statement, const isl::multi_aff& from, const isl::set& domain) {
  auto result = statement;
  result.domain = domain;
  result.origin = statement.origin.is_null() ? from : isl::multi_aff(statement.origin.pullback(from));
  result.write = moved(statement.write, from, domain);
  for (auto& read : result.reads) read = moved(read, from, domain);
  return result;
}

isl::pw_multi_aff clamped(const isl::pw_multi_aff& element, const Tensor& tensor) {
  const auto names = dimension_names(static_cast<int>(tensor.extent.size()));
  std::vector<std::string> last;
  for (std::size_t d = 0; d < names.size(); ++d)
    last.push_back(str("min(", names[d], ", ", tensor.min[d] + tensor.extent[d] - 1, ")"));
  const auto text = str("{ ", tensor.name, "[", join(names), "] -> ", tensor.name, "[", join(last), "] }");
  return isl::pw_multi_aff(element.ctx(), text).pullback(element);
}

bool touches(const Access& access, const std::string& tensor) { return range_name(access.relation) == tensor; }

std::vector<Access*> accesses(Statement& statement) {
  std::vector<Access*> result{&statement.write};
  for (auto& read : statement.reads) result.push_back(&read);
  return result;
}

std::vector<const Access*> accesses(const Statement& statement) {
  std::vector<const Access*> result{&statement.write};
  for (const auto& read : statement.reads) result.push_back(&read);
  return result;
}

std::string unused_name(const Scop& scop, const std::string& wish) {
  auto taken = [&](const std::string& name) {
    return scop.has_tensor(name) || std::any_of(scop.statements.begin(), scop.statements.end(),
                                                [&](const Statement& statement) { return statement.id == name; });
  };
  auto name = wish;
  name.erase(std::remove(name.begin(), name.end(), '\''), name.end());
  while (taken(name)) name += "_";
  return name;
}

std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& extent) {
  std::vector<std::int64_t> strides(extent.size(), 1);
  for (std::size_t i = extent.size(); i-- > 1;) strides[i - 1] = strides[i] * extent[i];
  return strides;
}

}  // namespace tc::polyhedral
