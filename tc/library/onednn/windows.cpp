#include "tc/library/onednn/windows.h"

#include "tc/base/str.h"

namespace tc::library {

std::vector<std::int64_t> numbers_of(const Call& call, const std::string& name, int dimensions) {
  std::vector<std::int64_t> result;
  for (int d = 0; d < dimensions; ++d) result.push_back(call.number(str(name, d)));
  return result;
}

Windows windows_of(const Call& call, int dimensions) {
  Windows result;
  for (int d = 0; d < dimensions; ++d) {
    const auto stride = call.number(str("S", d)), dilation = call.number(str("D", d)), left = call.number(str("P", d));
    const auto length = (call.number(str("R", d)) - 1) * dilation + 1;
    auto right = (call.number(str("O", d)) - 1) * stride + length - call.number(str("I", d)) - left;
    if (right < 0 && -right < stride) right = 0;  // elements that no window reaches
    result.strides.push_back(stride);
    result.dilations.push_back(dilation - 1);
    result.left.push_back(left);
    result.right.push_back(right);
    result.may_be_empty =
        result.may_be_empty || left >= length || right >= length || (dilation > 1 && (left > 0 || right > 0));
  }
  return result;
}

}  // namespace tc::library
