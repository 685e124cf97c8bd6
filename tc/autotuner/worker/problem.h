#pragma once

#include <string>
#include <vector>

#include "tc/autotuner/worker/message.h"
#include "tc/engine/graph/compile.h"

namespace tc::autotuner {

/// What is tuned, as processes tell each other.
struct Problem {
  std::string text;  ///< that defines it
  std::string def;
  std::vector<TensorSpec> inputs, outputs;  ///< all outputs
  std::string target;
  int threads = 1;
  std::string libraries = "none";           ///< whose routines candidates may call
  std::vector<std::string> constants = {};  ///< inputs whose tensors never change

  /// The problem as a worker is sent it.
  Message message() const;
  /// The inverse. Throws ArgumentError for another message.
  static Problem parse(const Message& message);
};

/// Where the bytes of each argument, from the lowest address to the highest, are in the memory that processes share:
/// what inputs hold, and the results that outputs should have.
struct Layout {
  struct Part {
    std::size_t offset = 0, bytes = 0;
    std::size_t origin = 0;  ///< of the first element in the part
  };
  std::vector<Part> parts;
  std::size_t bytes = 0;
};
/// Where each of \p arguments lies in memory that processes share, and how many bytes that takes.
Layout layout_of(const std::vector<engine::Argument>& arguments);

/// The bytes of \p tensors, which are laid out as the first parts of \p layout, to \p memory.
void put_tensors(const std::vector<TensorView>& tensors, const Layout& layout, char* memory);

/// Memory without a name, shared with the processes that inherit its file. Throws ResourceError.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int file() const { return file_; }
  char* data() const { return data_; }

 private:
  int file_ = -1;
  std::size_t bytes_ = 0;
  char* data_ = nullptr;
};

}  // namespace tc::autotuner
