#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "test/options/options_cases.h"

namespace tc::options {
namespace {

/// \p text with a few places changed: letters of \p alphabet put in, over or out, pieces cut and doubled.
std::string mutate(std::string text, const std::string& alphabet, std::mt19937& random) {
  for (int n = 1 + static_cast<int>(random() % 4); n > 0; --n) {
    std::size_t at = random() % (text.size() + 1), length = random() % 6;
    char letter = alphabet[random() % alphabet.size()];
    switch (random() % 4) {
      case 0:
        text.insert(at, 1, letter);
        break;
      case 1:
        if (at < text.size()) text[at] = letter;
        break;
      case 2:
        text.erase(at, length);
        break;
      default:
        text.insert(at, text.substr(random() % (text.size() + 1), length));
    }
  }
  return text;
}

/// Whether \p read makes options of \p input, which must then survive both round trips; else it must throw
/// OptionsError.
template <typename Read>
bool holds(const std::string& input, Read&& read) {
  try {
    MappingOptions options = read(input);
    EXPECT_EQ(MappingOptions::from_bytes(options.to_bytes()), options);
    EXPECT_EQ(MappingOptions::parse(options.to_text()).values(), options.values()) << options.to_text();
    return true;
  } catch (const OptionsError& error) {
    for (const char* c = error.what(); *c; ++c) EXPECT_TRUE(*c >= 0x20 && *c < 0x7f) << error.what();
    return false;
  }
}

TEST(OptionsFuzz, TextsAreReadOrRefused) {
  std::mt19937 random(4);
  int read = 0, refused = 0;
  for (int i = 0; i < 8000; ++i) {
    auto text = mutate(random_options(random).to_text(), "0123456789x=,-_ aefgilmnopqrstuvz\n\xff", random);
    ++(holds(text, [](const std::string& input) { return MappingOptions::parse(input); }) ? read : refused);
  }
  EXPECT_GT(read, 200);
  EXPECT_GT(refused, 400);
}

TEST(OptionsFuzz, BytesAreReadOrRefused) {
  std::mt19937 random(5);
  std::string alphabet;
  for (int c = 0; c < 256; ++c) alphabet += static_cast<char>(c);
  int read = 0, refused = 0;
  testing::internal::CaptureStderr();
  for (int i = 0; i < 8000; ++i) {
    auto bytes = mutate(random_options(random).to_bytes(), alphabet, random);
    ++(holds(bytes, [](const std::string& input) { return MappingOptions::from_bytes(input); }) ? read : refused);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "the library prints nothing";
  EXPECT_GT(read, 300);
  EXPECT_GT(refused, 400);
}

}  // namespace
}  // namespace tc::options
