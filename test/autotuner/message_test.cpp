#include "tc/autotuner/worker/message.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <clocale>

namespace tc::autotuner {
namespace {

TEST(Message, DecodeIsTheInverse) {
  for (const Message& message :
       {Message{}, Message{""}, Message{"a", "", std::string("\0b", 2)}, Message{encode({"x"})}})
    EXPECT_EQ(decode(encode(message)), message);
}

TEST(Message, CutsAreNoMessages) {
  auto bytes = encode({"one", "two"});
  for (std::size_t size = 1; size < bytes.size(); ++size)
    EXPECT_EQ(decode(bytes.substr(0, size)).has_value(), size == encode({"one"}).size()) << size;
}

TEST(Message, NumbersComeBackExactly) {
  for (double number : {0.0, 1.0 / 3, 1e-300, -2.5e17}) EXPECT_EQ(exact_number(exact_text(number)), number);
  EXPECT_EQ(whole_number("-12345678901"), -12345678901);
}

TEST(Message, NumbersDoNotDependOnTheLocale) {
  const char* before = std::setlocale(LC_NUMERIC, nullptr);
  std::string kept = before ? before : "C";
  if (!std::setlocale(LC_NUMERIC, "de_DE.UTF-8") && !std::setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
    GTEST_SKIP() << "no locale with a decimal comma is installed";
  auto text = exact_text(0.25);
  auto number = exact_number("0.25");
  std::setlocale(LC_NUMERIC, kept.c_str());
  EXPECT_EQ(text, "0.25");
  EXPECT_EQ(number, 0.25);
}

TEST(Message, GoesThroughASocketAndEndsWithIt) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  ASSERT_TRUE(send(ends[0], {"a", "bc"}));
  EXPECT_EQ(receive(ends[1]), (Message{"a", "bc"}));
  ::close(ends[0]);
  EXPECT_EQ(receive(ends[1]), std::nullopt);
  EXPECT_FALSE(send(ends[1], {"nobody"}));
  ::close(ends[1]);
}

}  // namespace
}  // namespace tc::autotuner
