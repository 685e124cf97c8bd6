#include "tc/cache/file_io.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>

#include "tc/base/str.h"

namespace tc::cache {
namespace {

constexpr std::string_view temporary_prefix = ".tmp-";
constexpr mode_t written_by_others = S_IWGRP | S_IWOTH;

std::string reason(const char* action, const std::string& path) {
  return str("cannot ", action, " '", path, "': ", std::strerror(errno));
}

/// An open file; closed at the end.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  /// Can fail where the file system writes late.
  bool close() {
    int descriptor = std::exchange(descriptor_, -1);
    return descriptor < 0 || ::close(descriptor) == 0;
  }

 private:
  int descriptor_;
};

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Up to \p size bytes; false on an error.
bool read_all(int descriptor, std::size_t size, std::string& bytes) {
  bytes.resize(size);
  std::size_t done = 0;
  while (done < size) {
    auto count = ::read(descriptor, bytes.data() + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(done);
  return true;
}

/// Unlike any other of this or another machine that shares the folder.
std::string temporary_name() {
  static std::atomic<unsigned> count{0};
  std::random_device random;
  return str(temporary_prefix, ::getpid(), "-", count++, "-", random(), random());
}

std::string why_not(const struct stat& info, const ReadRules& rules) {
  if (!S_ISREG(info.st_mode)) return "it is no regular file";
  if (static_cast<std::uint64_t>(info.st_size) > rules.limit) return str("it has ", info.st_size, " bytes");
  if (rules.owner_only && info.st_uid != ::geteuid()) return "another user owns it";
  if (rules.owner_only && (info.st_mode & written_by_others)) return "others may write it";
  return "";
}

/// Writes and flushes the new file \p path; "" or what failed.
std::string write_new(const std::string& path, std::string_view bytes, mode_t mode) {
  File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file) return reason("create", path);
  if (!write_all(file.get(), bytes)) return reason("write", path);
  if (::fsync(file.get()) != 0) return reason("flush", path);
  return file.close() ? "" : reason("close", path);
}

std::string flush_folder(const std::string& folder) {
  File file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) return reason("flush", folder);
  return "";
}

}  // namespace

FileBytes read_file(const std::string& path, const ReadRules& rules) {
  FileBytes result;
  auto fail = [&](std::string problem) {
    bool vanished = problem.empty() && (errno == ENOENT || errno == ESTALE || errno == ENOTDIR);
    result.fault = vanished ? Fault::Absent : Fault::Unreadable;
    if (!vanished) result.problem = problem.empty() ? reason("read", path) : str("'", path, "' is not used: ", problem);
    result.bytes.clear();
    return result;
  };
  File file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return fail("");
  struct stat info;
  if (::fstat(file.get(), &info) != 0) return fail("");
  auto problem = why_not(info, rules);
  if (!problem.empty()) return fail(problem);
  if (!read_all(file.get(), static_cast<std::size_t>(info.st_size), result.bytes)) return fail("");
  result.modified_at = info.st_mtim.tv_sec;
  return result;
}

std::string write_file(const std::string& folder, const std::string& name, std::string_view bytes,
                       const WriteRules& rules) {
  auto problem = make_folder(folder, rules.owner_only ? 0700 : 0777);
  if (!problem.empty()) return problem;
  auto temporary = folder + "/" + temporary_name(), path = folder + "/" + name;
  problem = write_new(temporary, bytes, rules.owner_only ? 0600 : 0666);
  if (problem.empty() && ::rename(temporary.c_str(), path.c_str()) != 0) problem = reason("rename to", path);
  if (!problem.empty()) {
    ::unlink(temporary.c_str());
    return problem;
  }
  return rules.durable ? flush_folder(folder) : "";
}

std::string make_folder(const std::string& folder, unsigned mode) {
  struct stat info;
  if (::stat(folder.c_str(), &info) == 0) return S_ISDIR(info.st_mode) ? "" : str("'", folder, "' is no folder");
  auto above = std::filesystem::path(folder).parent_path().string();
  if (!above.empty() && above != folder) {
    auto problem = make_folder(above, mode);
    if (!problem.empty()) return problem;
  }
  if (::mkdir(folder.c_str(), mode) != 0) return errno == EEXIST ? "" : reason("create", folder);
  flush_folder(above.empty() ? "." : above);
  return "";
}

std::string untrusted(const std::string& folder) {
  struct stat info;
  if (::lstat(folder.c_str(), &info) != 0) return reason("look at", folder);
  if (!S_ISDIR(info.st_mode)) return str("'", folder, "' is no folder of its own");
  if (info.st_uid != ::geteuid()) return str("another user owns '", folder, "'");
  if (info.st_mode & written_by_others) return str("others may write '", folder, "' (chmod go-w it)");
  return "";
}

std::vector<Listed> list_files(const std::string& folder, bool stat) {
  std::vector<Listed> files;
  DIR* directory = ::opendir(folder.c_str());
  if (!directory) return files;
  while (const auto* entry = ::readdir(directory)) {
    if (entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN) continue;
    Listed file{entry->d_name};
    struct stat info;
    if (stat || entry->d_type == DT_UNKNOWN) {
      if (::fstatat(::dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
        continue;
      file.size = static_cast<std::uint64_t>(info.st_size);
      file.modified_at = info.st_mtim.tv_sec;
    }
    files.push_back(std::move(file));
  }
  ::closedir(directory);
  return files;
}

bool is_temporary(std::string_view name) { return name.substr(0, temporary_prefix.size()) == temporary_prefix; }

void touch(const std::string& path) { ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW); }

std::int64_t seconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace tc::cache
