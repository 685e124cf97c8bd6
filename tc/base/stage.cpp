#include "tc/base/stage.h"

#include <filesystem>
#include <fstream>

#include "tc/base/file_size_signal.h"

namespace tc {

void write_stage_dump(const std::string& directory, int number, const std::string& name, const std::string& text) {
  std::error_code ignored;
  std::filesystem::create_directories(directory, ignored);
  std::string path = str(directory, "/", number < 10 ? "0" : "", number, "_", name, ".txt");
  NoFileSizeSignal guard;
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw ResourceError(str("cannot write the stage dump '", path, "'"));
}

}  // namespace tc
