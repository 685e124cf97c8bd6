#include "tc/derive/proof/certificate.h"

#include <sstream>

#include "tc/base/str.h"
#include "tc/derive/form/refusal.h"
#include "tc/polyhedral/core/isl_message.h"

namespace tc::derive {

std::string case_name(std::size_t index) { return str("c", index); }
std::string term_name(std::size_t index) { return str("t", index); }

bool speaks_of_terms(const isl::union_map& map) {
  bool result = false;
  map.foreach_map([&](const isl::map& part) {
    const char* name = isl_map_get_tuple_name(part.get(), isl_dim_in);
    result |= name && name[0] == 't';
  });
  return result;
}

std::string to_string(const Certificate& certificate) {
  std::string text;
  for (const auto& [tensor, map] : certificate.maps) {
    char* printed = isl_union_map_to_str(map.get());
    text += str(tensor, ": ", printed, "\n");
    std::free(printed);
  }
  for (const auto& [tensor, original] : certificate.duplicates) text += str(tensor, " = ", original, "\n");
  return text;
}

Certificate parse_certificate(const std::string& text, const ContextPtr& context) {
  Certificate result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(": "), equals = line.find(" = ");
    if (colon == std::string::npos && equals != std::string::npos) {
      result.duplicates.emplace(line.substr(0, equals), line.substr(equals + 3));
      continue;
    }
    if (colon == std::string::npos) throw Refusal{str("no line of a certificate: ", line)};
    try {
      result.maps.emplace(line.substr(0, colon), isl::union_map(*context, line.substr(colon + 2)));
    } catch (const isl::exception& error) {
      throw Refusal{str("no map: ", line, ": ", polyhedral::message_of(error))};
    }
  }
  return result;
}

}  // namespace tc::derive
