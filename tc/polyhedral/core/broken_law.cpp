#include "tc/polyhedral/core/broken_law.h"

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/polyhedral/core/isl.h"

namespace tc::polyhedral {

void broken_law(const char* law, const std::string& what, const isl::schedule& schedule) {
  throw InternalError(str("law '", law, "' is broken: ", what, "\nin the schedule\n", print_block(schedule)));
}

std::string first_pair(const isl::union_map& relation) {
  auto maps = elements(relation.map_list());
  auto first = std::min_element(maps.begin(), maps.end(), [](const isl::map& a, const isl::map& b) {
    return std::pair(domain_name(a), range_name(a)) < std::pair(domain_name(b), range_name(b));
  });
  auto point = first->wrap().lexmin().sample_point();
  std::vector<std::string> source, sink;
  int inputs = isl_map_dim(first->get(), isl_dim_in), outputs = isl_map_dim(first->get(), isl_dim_out);
  for (int i = 0; i < inputs + outputs; ++i) {
    auto value = call(point.ctx(), isl_point_get_coordinate_val, point.get(), isl_dim_set, i);
    (i < inputs ? source : sink).push_back(str(value));
  }
  return str(domain_name(*first), "[", join(source), "] -> ", range_name(*first), "[", join(sink), "]");
}

}  // namespace tc::polyhedral
