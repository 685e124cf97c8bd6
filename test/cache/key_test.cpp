#include "tc/cache/key.h"

#include <functional>
#include <set>

#include "test/cache/cache_fixture.h"

namespace tc::cache {
namespace {

TEST(Sha256, OfKnownTexts) {
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256("abc"), 4), "ba7816bf");
}

TEST(Encoder, ListsOfTextsDifferWhereverTheyAreCut) {
  auto bytes = [](std::string_view a, std::string_view b) { return Encoder("kind").put(a).put(b).bytes(); };
  EXPECT_NE(bytes("ab", "c"), bytes("a", "bc"));
  EXPECT_NE(bytes("", "abc"), bytes("abc", ""));
  EXPECT_NE(Encoder("a").put("b").bytes(), Encoder("b").put("b").bytes());
}

TEST(Key, DigestIsTheSameOnEveryMachineAndInEveryVersion) {
  EXPECT_EQ(hex(digest(product_key(3, 4, 5)), 8), "de92175dbf4b4dfa");
  EXPECT_EQ(hex(family(product_key(3, 4, 5)), 8), "3260dce183307e45");
}

struct Change {
  const char* what;
  std::function<void(Key&)> apply;
  bool same_family;
};

TEST(Key, EveryPartCounts) {
  const Change changes[] = {
      {"program", [](Key& key) { key.program += " "; }, false},
      {"target", [](Key& key) { key.target = "cpu:avx512"; }, false},
      {"type", [](Key& key) { key.tensors[1].spec.dtype = DType::Int32; }, false},
      {"extent", [](Key& key) { key.tensors[1].spec.shape[0] += 1; }, true},
      {"stride", [](Key& key) { key.tensors[1].spec.strides[0] += 1; }, true},
      {"role", [](Key& key) { key.tensors[1].output = true; }, false},
      {"rank", [](Key& key) { key.tensors[1].spec = contiguous(DType::Float32, {4, 5, 1}); }, false},
      {"alignment", [](Key& key) { key.tensors[1].aligned = false; }, true},
      {"alignment of another", [](Key& key) { key.tensors[0].aligned = false; }, true},
      {"tools", [](Key& key) { key.tools = "nvrtc 13.0"; }, true},
      {"other tools", [](Key& key) { key.tools = "nvrtc 13.1"; }, true},
      {"symbolic size", [](Key& key) { key.sizes = {{"M", 2, 3}}; }, true},
      {"least size", [](Key& key) { key.sizes = {{"M", 1, 3}}; }, true},
      {"largest size", [](Key& key) { key.sizes = {{"M", 2, 4}}; }, true},
      {"symbolic size of another name", [](Key& key) { key.sizes = {{"N", 2, 3}}; }, true},
      {"number of tensors", [](Key& key) { key.tensors.pop_back(); }, false},
      {"order of tensors", [](Key& key) { std::swap(key.tensors[0], key.tensors[1]); }, true},
  };
  const auto key = product_key(3, 4, 5);
  std::set<std::string> digests = {hex(digest(key))};
  for (const auto& change : changes) {
    auto changed = key;
    change.apply(changed);
    EXPECT_TRUE(digests.insert(hex(digest(changed))).second) << change.what;
    EXPECT_EQ(family(changed) == family(key), change.same_family) << change.what;
  }
}

TEST(Key, LayoutsAreKeptApartFromOptions) {
  const auto key = product_key(3, 4, 5), layouts = of_layouts(key);
  EXPECT_NE(hex(digest(layouts)), hex(digest(key)));
  EXPECT_NE(hex(family(layouts)), hex(family(key))) << "the nearest shapes of options are no layouts";
  EXPECT_EQ(hex(family(layouts)), hex(family(of_layouts(product_key(6, 4, 5)))));
  auto code = key;
  code.tools = "nvrtc 13.0";
  EXPECT_EQ(hex(family(code)), hex(family(key)));
}

TEST(Key, FamiliesOfGpusAreTheirArchitectures) {
  auto key = [](const char* target) { return product_key(3, 4, 5, target); };
  auto usual = key("cuda:sm_90,multiprocessors=132");
  EXPECT_EQ(family(usual), family(key("cuda:sm_90,multiprocessors=114")));
  EXPECT_EQ(family(usual), family(key("cuda:sm_90,multiprocessors=132,shared=100k")));
  EXPECT_NE(family(usual), family(key("cuda:sm_80,multiprocessors=132")));
  EXPECT_NE(family(key("cpu:avx2,cores=1")), family(key("cpu:avx2,cores=2")));
  EXPECT_NE(digest(usual), digest(key("cuda:sm_90,multiprocessors=114")));
}

TEST(Distance, OfMachinesGrowsWithTheRatioOfTheirProcessors) {
  auto apart = [](const char* a, const char* b) {
    return machine_distance(product_key(3, 4, 5, a), product_key(3, 4, 5, b));
  };
  const char* usual = "cuda:sm_90,multiprocessors=132";
  EXPECT_EQ(apart(usual, usual), 0);
  EXPECT_GT(apart(usual, "cuda:sm_90,multiprocessors=114"), 0);
  EXPECT_LT(apart(usual, "cuda:sm_90,multiprocessors=114"), apart(usual, "cuda:sm_90,multiprocessors=60"));
  EXPECT_EQ(apart(usual, "cuda:sm_90,multiprocessors=60"), apart("cuda:sm_90,multiprocessors=60", usual));
  EXPECT_GT(apart(usual, "cuda:sm_90,multiprocessors=132,shared=100k"), 0);
  EXPECT_EQ(apart(usual, "cuda:of_another_library"), 1);
  EXPECT_GT(distance(product_key(3, 4, 5, usual), product_key(3, 4, 5, "cuda:sm_90,multiprocessors=60")), 0);
}

TEST(Key, TensorsAsText) {
  EXPECT_EQ(tensors_text(product_key(3, 4, 5)), "float32(3, 4), float32(4, 5) -> float32(3, 5)");
}

TEST(Distance, GrowsWithTheRatiosOfExtents) {
  const auto key = product_key(127, 127, 127);
  EXPECT_EQ(distance(key, key), 0);
  EXPECT_DOUBLE_EQ(distance(key, product_key(255, 127, 127)), 2);
  EXPECT_DOUBLE_EQ(distance(product_key(255, 127, 127), key), 2);
  EXPECT_LT(distance(key, product_key(128, 127, 127)), distance(key, product_key(255, 127, 127)));
  EXPECT_LT(distance(key, product_key(0, 127, 127)), 30);
  auto transposed = key;
  transposed.tensors[0].spec.strides = {1, 127};
  EXPECT_DOUBLE_EQ(distance(key, transposed), 1);
  auto padded = key;
  padded.tensors[0].spec.strides = {128, 1};
  EXPECT_DOUBLE_EQ(distance(key, padded), 0.25);
}

}  // namespace
}  // namespace tc::cache
