#include "tc/polyhedral/core/isl_message.h"

namespace tc::polyhedral {

std::string message_of(const isl::exception& error) {
  const std::string what = error.what();
  constexpr const char* digits = "0123456789";
  for (auto colon = what.find(':'); colon != std::string::npos; colon = what.find(':', colon + 1)) {
    const auto end = what.find_first_not_of(digits, colon + 1);
    if (end != std::string::npos && end > colon + 1 && what.compare(end, 2, ": ") == 0) return what.substr(end + 2);
  }
  return what;
}

}  // namespace tc::polyhedral
