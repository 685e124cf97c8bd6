#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tc/base/tensor.h"
#include "tc/cache/sha256.h"

namespace tc::cache {

struct KeyTensor {
  TensorSpec spec;  ///< normalised
  bool output = false;
  bool aligned = true;  ///< of code for GPUs: begins where its elements can be moved several at once

  bool operator==(const KeyTensor&) const = default;
};

/// A size of the def that each run chooses, by its name in the source of the code.
struct KeySize {
  std::string name;
  std::int64_t least = 1;
  std::int64_t most = 1;  ///< the size of the tensors of the key

  bool operator==(const KeySize&) const = default;
};

/// What a kernel is made for: a program up to renaming, the tensors it takes, a machine.
struct Key {
  std::string program;  ///< lang::canonical_text
  std::vector<KeyTensor> tensors;
  std::string target;
  /// Of code: versions of what makes and loads it outside of the build, "nvrtc 13.0, driver 13.0"; of layouts: "layouts".
  std::string tools;
  std::vector<KeySize> sizes = {};  ///< of code: the sizes that are symbolic, by name

  bool operator==(const Key&) const = default;
};

/// The key under which a cache keeps the layouts in which the program of \p key is fastest: the notes of its entries.
Key of_layouts(Key key);

/// Strings, numbers and lists one after another, each with its length: equal for equal values only, the same on every
/// machine and for every version of every library.
class Encoder {
 public:
  explicit Encoder(std::string_view kind) { put(kind); }
  /// Appends a field with its length, so that no two lists of fields have the same bytes.
  Encoder& put(std::string_view text);
  Encoder& put(std::int64_t number);
  Encoder& put(const std::vector<std::int64_t>& numbers);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// The identity of \p key.
Digest digest(const Key& key);
/// The identity of what keys of different shapes and strides share: program, types, ranks and target; of a GPU, its
/// architecture.
Digest family(const Key& key);

/// "float32(3, 4), float32(4, 5) -> float32(3, 5)", and for code for ranges of sizes "float32(64, 4) -> float32(64), M from 17 to 64".
std::string tensors_text(const Key& key);

/// How far the machines of two keys of one family are apart: |log2| of the ratio of their multiprocessors, and a little for
/// other limits that differ. 0 for equal targets.
double machine_distance(const Key& a, const Key& b);

/// How far two keys of one family are apart: machine_distance(), the sum of |log2| of the ratios of their extents, and a
/// little for each tensor whose strides are ordered otherwise. 0 for equal keys.
double distance(const Key& a, const Key& b);

}  // namespace tc::cache
