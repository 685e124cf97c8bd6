#include "tc/cache/entry.h"

#include <cmath>
#include <limits>
#include <random>

#include "tc/proto/cache_entry.pb.h"
#include "test/cache/cache_fixture.h"
#include "test/support/from_environment.h"

namespace tc::cache {
namespace {

/// The message in \p bytes, changed by \p change and sealed again.
template <typename Message, typename Change>
std::string changed(Kind kind, const std::string& bytes, Change&& change) {
  Message message;
  auto payload = unseal(kind, bytes).payload;
  EXPECT_TRUE(message.ParseFromArray(payload.data(), static_cast<int>(payload.size())));
  change(message);
  return seal(kind, message.SerializeAsString());
}

template <typename Change>
Fault fault_of_options(Change&& change) {
  OptionsEntry entry;
  return parse(changed<proto::OptionsEntry>(Kind::Options, to_bytes(tuned(product_key(3, 4, 5), 8, 100)), change),
               entry);
}

TEST(OptionsEntry, SurvivesBytes) {
  auto entry = tuned(product_key(3, 4, 5), 8, 123.5);
  entry.note = "a note";
  OptionsEntry read;
  ASSERT_EQ(parse(to_bytes(entry), read), Fault::None);
  EXPECT_EQ(read, entry);
  entry.measured.reset();
  entry.origin = Origin::Injected;
  ASSERT_EQ(parse(to_bytes(entry), read), Fault::None);
  EXPECT_EQ(read, entry);
}

TEST(CodeEntry, SurvivesBytes) {
  auto entry = code(product_key(3, 4, 5), std::string("\0code\xff", 6));
  entry.build = "a build";
  entry.key.tools = "nvrtc 13.0, driver 13.0";
  entry.key.tensors[1].aligned = false;
  entry.key.sizes = {{"K", 1, 1}, {"M", 2, 8}};
  CodeEntry read;
  ASSERT_EQ(parse(to_bytes(entry, some_secret), some_secret, read), Fault::None);
  EXPECT_EQ(read.key, entry.key);
  EXPECT_EQ(read.options, entry.options);
  EXPECT_EQ(read.source, entry.source);
  EXPECT_EQ(read.build, entry.build);
  EXPECT_EQ(read.generated, entry.generated);
  EXPECT_EQ(read.image, entry.image);
  EXPECT_EQ(read.verified_stages, entry.verified_stages);
  EXPECT_EQ(read.compile_milliseconds, entry.compile_milliseconds);
  EXPECT_EQ(read.created_at, entry.created_at);
}

/// Files that earlier libraries wrote, one for each version of the schema: tuned options outlive releases.
TEST(OptionsEntry, OfEarlierSchemasAreRead) {
  auto expected = tuned(product_key(3, 4, 5), 8, 123.5);
  expected.note = "a note";
  for (const char* name : {"schema1.options", "schema2.options"}) {
    auto bytes = text_of(str(TC_SOURCE_DIR, "/test/cache/fixtures/", name));
    OptionsEntry entry;
    ASSERT_EQ(parse(bytes, entry), Fault::None) << name;
    EXPECT_EQ(entry, expected) << name;
  }
}

TEST(OptionsEntry, OfANewerSchemaIsReadWhereThatSaysSo) {
  auto newer = [](proto::OptionsEntry& message) {
    message.set_schema_version(9);
    message.GetReflection()->MutableUnknownFields(&message)->AddVarint(999, 1);
  };
  EXPECT_EQ(fault_of_options(newer), Fault::None);
  EXPECT_EQ(fault_of_options([](proto::OptionsEntry& message) { message.set_oldest_reader(9); }), Fault::Foreign);
  EXPECT_EQ(fault_of_options([](proto::OptionsEntry& message) { message.mutable_options()->set_oldest_reader(99); }),
            Fault::Foreign);
}

TEST(OptionsEntry, WhatIsNoEntryIsIgnored) {
  EXPECT_EQ(fault_of_options([](proto::OptionsEntry& message) {}), Fault::None);
  EXPECT_NE(fault_of_options([](proto::OptionsEntry& message) { message.Clear(); }), Fault::None);
  EXPECT_NE(fault_of_options([](proto::OptionsEntry& message) { message.clear_key(); }), Fault::None);
  EXPECT_NE(fault_of_options([](proto::OptionsEntry& message) { message.clear_origin(); }), Fault::None);
  EXPECT_NE(fault_of_options([](proto::OptionsEntry& message) { message.clear_options(); }), Fault::None);
  EXPECT_NE(fault_of_options([](proto::OptionsEntry& m) { m.mutable_key()->mutable_tensors(0)->set_dtype("quux"); }),
            Fault::None);
  EXPECT_NE(fault_of_options([](proto::OptionsEntry& m) { m.mutable_key()->mutable_tensors(0)->add_shape(3); }),
            Fault::None);
  EXPECT_NE(fault_of_options([](proto::OptionsEntry& m) { m.mutable_key()->mutable_tensors(0)->set_shape(0, -1); }),
            Fault::None);
  EXPECT_NE(fault_of_options([](proto::OptionsEntry& m) { m.mutable_measured()->set_median_ns(-1); }), Fault::None);
  EXPECT_NE(fault_of_options([](proto::OptionsEntry& m) { m.mutable_measured()->set_median_ns(std::nan("")); }),
            Fault::None);
  EXPECT_NE(fault_of_options([](proto::OptionsEntry& m) { m.mutable_options()->mutable_generic()->add_tile(-5); }),
            Fault::None);
}

TEST(OptionsEntry, EveryBitAndLengthCounts) {
  const auto bytes = to_bytes(tuned(product_key(3, 4, 5), 8, 100));
  OptionsEntry entry;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_NE(parse(flipped, entry), Fault::None) << "bit " << bit;
  }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(parse(bytes.substr(0, size), entry), Fault::None) << size;
  EXPECT_EQ(entry, OptionsEntry());
}

TEST(CodeEntry, EveryBitAndLengthCounts) {
  auto whole = code(product_key(3, 4, 5), std::string(64, 'x'));
  const auto bytes = to_bytes(whole, some_secret);
  CodeEntry entry;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_NE(parse(flipped, some_secret, entry), Fault::None) << "bit " << bit;
  }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(parse(bytes.substr(0, size), some_secret, entry), Fault::None) << size;
}

std::string mutated(std::string bytes, std::mt19937& random) {
  for (int n = 1 + static_cast<int>(random() % 4); n > 0; --n) {
    std::size_t at = random() % (bytes.size() + 1), length = random() % 8;
    switch (random() % 4) {
      case 0:
        bytes.insert(at, 1, static_cast<char>(random()));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = static_cast<char>(random());
        break;
      case 2:
        bytes.erase(at, length);
        break;
      default:
        bytes.insert(at, bytes.substr(random() % (bytes.size() + 1), length));
    }
  }
  return bytes;
}

/// A file of code that holds \p message, under a right checksum and a right signature.
std::string signed_file(std::string message) {
  auto signature = code_signature(message, some_secret);
  return seal(Kind::Code, message.insert(0, reinterpret_cast<const char*>(signature.data()), signature.size()));
}

/// Payloads under a right checksum, as a program with another idea of the schema would write them: read or refused, and
/// what is read can be written and read again.
TEST(EntryFuzz, PayloadsAreReadOrRefused) {
  const unsigned seed = static_cast<unsigned>(test::from_environment("TC_FUZZ_SEED", std::random_device()()));
  std::cout << "TC_FUZZ_SEED=" << seed << "\n";
  std::mt19937 random(seed);
  const auto options_bytes = to_bytes(tuned(product_key(3, 4, 5), 8, 100));
  const auto code_bytes = to_bytes(code(product_key(3, 4, 5), "image"), some_secret);
  const std::string options_payload(unseal(Kind::Options, options_bytes).payload);
  const std::string code_payload(unseal(Kind::Code, code_bytes).payload.substr(sizeof(Digest)));
  int read = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    OptionsEntry options, again;
    if (parse(seal(Kind::Options, mutated(options_payload, random)), options) == Fault::None) {
      ++read;
      ASSERT_EQ(parse(to_bytes(options), again), Fault::None) << "case " << i;
      EXPECT_EQ(again, options) << "case " << i;
    } else {
      ++refused;
    }
    CodeEntry entry, entry_again;
    bool is_code = parse(signed_file(mutated(code_payload, random)), some_secret, entry) == Fault::None;
    bool survives = parse(to_bytes(entry, some_secret), some_secret, entry_again) == Fault::None;
    EXPECT_TRUE(!is_code || survives) << "case " << i;
  }
  EXPECT_GT(read, 500);
  EXPECT_GT(refused, 1000);
}

TEST(EntryFuzz, FilesAreRefused) {
  std::mt19937 random(7);
  const auto bytes = to_bytes(tuned(product_key(3, 4, 5), 8, 100));
  OptionsEntry entry;
  for (int i = 0; i < 20000; ++i) {
    auto file = mutated(bytes, random);
    EXPECT_TRUE(file == bytes || parse(file, entry) != Fault::None) << "case " << i;
  }
}

TEST(Better, InjectedThenFastest) {
  auto slow = tuned(product_key(3, 4, 5), 8, 200), fast = tuned(product_key(3, 4, 5), 16, 100);
  auto unmeasured = tuned(product_key(3, 4, 5), 32, 1);
  unmeasured.measured.reset();
  auto injected = unmeasured, later = unmeasured;
  injected.origin = later.origin = Origin::Injected;
  later.created_at += 1;
  const OptionsEntry* order[] = {&later, &injected, &fast, &slow, &unmeasured};
  for (std::size_t i = 0; i < std::size(order); ++i)
    for (std::size_t j = 0; j < std::size(order); ++j) {
      EXPECT_EQ(better(*order[i], *order[j]), i < j) << i << " " << j;
      EXPECT_EQ(better(*order[i], *order[j], {}), i < j) << i << " " << j;
      EXPECT_EQ(better(*order[i], *order[j], {"a machine", 2}), i < j) << i << " " << j;
    }
}

TEST(Better, TakesAnyMomentOfAnInjection) {
  auto first = tuned(product_key(3, 4, 5), 8, 100), last = first;
  first.origin = last.origin = Origin::Injected;
  first.created_at = std::numeric_limits<std::int64_t>::min();
  last.created_at = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(better(last, first));
  EXPECT_FALSE(better(first, last));
}

TEST(Better, InjectedThenMeasuredHereThenOnThisMachine) {
  auto of = [](const char* machine, int threads, double nanoseconds) {
    auto entry = tuned(product_key(3, 4, 5), 8, nanoseconds);
    entry.measured->machine = machine;
    entry.measured->threads = threads;
    return entry;
  };
  auto unmeasured = tuned(product_key(3, 4, 5), 32, 1), injected = unmeasured;
  unmeasured.measured.reset();
  injected.measured.reset();
  injected.origin = Origin::Injected;
  const OptionsEntry order[] = {injected,           of("this", 4, 800), of("this", 4, 900), of("this", 2, 700),
                                of("other", 2, 50), of("other", 4, 60), unmeasured};
  for (std::size_t i = 0; i < std::size(order); ++i)
    for (std::size_t j = 0; j < std::size(order); ++j)
      EXPECT_EQ(better(order[i], order[j], {"this", 4}), i < j) << i << " " << j;
  EXPECT_TRUE(better(order[3], order[1], {"this", 0})) << "however many threads";
  EXPECT_TRUE(better(order[5], order[1], {"", 4})) << "wherever";
}

}  // namespace
}  // namespace tc::cache
