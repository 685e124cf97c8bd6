#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

namespace tc {

/// Does \p run throw an \p Error whose message contains \p text?
template <typename Error, typename Run>
testing::AssertionResult throws(const Run& run, const std::string& text) {
  try {
    run();
  } catch (const Error& error) {
    if (std::string(error.what()).find(text) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "another message: " << error.what();
  } catch (const std::exception& error) {
    return testing::AssertionFailure() << "an error of another type: " << error.what();
  }
  return testing::AssertionFailure() << "nothing was thrown";
}

}  // namespace tc

/// EXPECT_THROW that asks what the message says, too: it contains \p text.
#define EXPECT_ERROR(statement, Error, text) \
  EXPECT_TRUE(::tc::throws<Error>([&] { static_cast<void>(statement); }, text))
