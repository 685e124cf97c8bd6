#include "tc/cache/frame.h"
#include "test/cache/cache_fixture.h"

namespace tc::cache {
namespace {

Fault fault(std::string_view bytes) { return unseal(Kind::Options, bytes).fault; }

TEST(Frame, UnsealGivesBackThePayload) {
  for (const std::string& payload : {std::string(), std::string("a"), std::string(100000, '\0')}) {
    auto bytes = seal(Kind::Options, payload);
    EXPECT_EQ(bytes.size(), payload.size() + 56);
    auto unsealed = unseal(Kind::Options, bytes);
    EXPECT_EQ(unsealed.fault, Fault::None);
    EXPECT_EQ(unsealed.payload, payload);
  }
}

TEST(Frame, EveryBitCounts) {
  const auto bytes = seal(Kind::Options, "a payload of some bytes");
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_NE(fault(flipped), Fault::None) << "bit " << bit;
  }
}

TEST(Frame, EveryLengthButItsOwnIsAFault) {
  const auto bytes = seal(Kind::Options, "a payload of some bytes");
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(fault(std::string_view(bytes).substr(0, size)), Fault::Damaged) << size;
  EXPECT_EQ(fault(bytes + '\0'), Fault::Damaged);
  EXPECT_EQ(fault(bytes + bytes), Fault::Damaged);
}

TEST(Frame, OtherVersionsAndKindsAreForeign) {
  auto bytes = seal(Kind::Code, "payload");
  EXPECT_EQ(fault(bytes), Fault::Foreign);
  bytes[8] = 2;
  EXPECT_EQ(fault(bytes), Fault::Foreign);
}

}  // namespace
}  // namespace tc::cache
