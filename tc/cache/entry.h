#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tc/cache/frame.h"
#include "tc/cache/key.h"
#include "tc/cache/secret.h"
#include "tc/options/mapping_options.h"

namespace tc::cache {

/// Of tc/proto/cache_entry.proto, and the oldest version whose library understands what this one writes.
constexpr std::uint32_t schema_version = 3;
constexpr std::uint32_t oldest_reader = 1;

/// The time of a kernel, and the circumstances it was taken in.
struct Measurement {
  double median_ns = 0;
  double least_ns = 0;
  double spread_ns = 0;  ///< between the quartiles
  std::int64_t runs = 0;
  bool cold = false;     ///< caches of the processor were emptied before each run
  bool checked = false;  ///< the results were compared with the reference
  std::int64_t threads = 0;
  std::string machine, build;
  std::int64_t taken_at = 0;  ///< seconds since 1970

  bool operator==(const Measurement&) const = default;
};

/// A measurement of this moment: machine (the model of its processor), build and taken_at are set.
Measurement measurement_here();

enum class Origin : std::uint8_t {
  Tuned,
  Injected,  ///< by a person, preferred to what was tuned
};

/// Mapping options found good for a key: the portable part of the cache. Names of iterators in them are those of the
/// canonical text.
struct OptionsEntry {
  Key key;
  options::MappingOptions options;
  Origin origin = Origin::Tuned;
  std::optional<Measurement> measured;
  std::int64_t created_at = 0;  ///< seconds since 1970
  std::string note;

  bool operator==(const OptionsEntry&) const = default;
};

/// Machine code made for a key with given options by one build of the compiler.
struct CodeEntry {
  Key key;
  std::string options;  ///< text form
  std::string source;   ///< the def with its own names: they stand in messages of the code
  std::string build;
  std::string generated;                     ///< the loop nests
  std::string image;                         ///< engine::Image::serialise
  std::vector<std::string> verified_stages;  ///< whose laws held in the compile; none: they were not asked
  double compile_milliseconds = 0;
  std::int64_t created_at = 0;
};

/// The identity of code: of its key, options, source and build.
Digest code_digest(const Key& key, const std::string& options, const std::string& source, const std::string& build);

/// The bytes of a file; those of code carry the signature that \p secret makes of them.
std::string to_bytes(const OptionsEntry& entry);
std::string to_bytes(const CodeEntry& entry, const Secret& secret);

/// The signature (an HMAC) of code whose file holds \p message after it, by which a user knows what his own processes
/// made.
Digest code_signature(std::string_view message, const Secret& secret);

/// The inverses of to_bytes. Foreign is also what a newer schema says this library must not read, and options with a
/// text that is not plain (tc/base/plain_text.h). Of code that \p secret did not sign nothing is looked at.
Fault parse(std::string_view bytes, OptionsEntry& entry);
Fault parse(std::string_view bytes, const Secret& secret, CodeEntry& entry);

/// Where and how options are to be used, or were measured; "" and 0: wherever, on however many.
struct Circumstances {
  std::string machine;       ///< as in Measurement
  std::int64_t threads = 0;  ///< that kernels run on

  auto operator<=>(const Circumstances&) const = default;
};
/// Those of the measurement of \p entry, of none where there is no measurement.
Circumstances circumstances_of(const OptionsEntry& entry);

/// Is \p a to be taken rather than \p b? Injected before tuned, the latest first; then measured by time, measured
/// before not measured; ties by the identity of their bytes, so that all readers of equal folders agree.
bool better(const OptionsEntry& a, const OptionsEntry& b);
/// The same for use in \p here: after those injected, those measured there go before all others, and of the others
/// those of the same machine.
bool better(const OptionsEntry& a, const OptionsEntry& b, const Circumstances& here);

}  // namespace tc::cache
