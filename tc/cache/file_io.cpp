#include "tc/cache/file_io.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include "tc/base/file_size_signal.h"
#include "tc/base/str.h"

namespace tc::cache {
namespace {

constexpr std::string_view temporary_prefix = ".tmp-";
constexpr int temporary_numbers = 3;
constexpr mode_t written_by_others = S_IWGRP | S_IWOTH, open_to_others = S_IRWXG | S_IRWXO;

std::string reason(const char* action, const std::string& path) {
  return str("cannot ", action, " '", path, "': ", std::strerror(errno));
}

bool is_absent(int error) { return error == ENOENT || error == ESTALE || error == ENOTDIR; }

/// Of a file or folder that the system does not open.
Fault fault_of(int error) {
  if (is_absent(error)) return Fault::Absent;
  return error == EMFILE || error == ENFILE || error == ENOMEM ? Fault::OutOfResources : Fault::Unreadable;
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
  NoFileSizeSignal guard;
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
  if (!rules.is_private) return "";
  if (info.st_uid != ::geteuid()) return "another user owns it";
  if (info.st_mode & open_to_others) return "others may read or write it (its mode must be 0600)";
  if (rules.one_name && info.st_nlink > 1) return "it has a second name";
  return "";
}

/// Writes and flushes the new file \p name; "" or what failed.
std::string write_new(const Folder& folder, const std::string& name, std::string_view bytes, mode_t mode) {
  auto path = folder.path() + "/" + name;
  File file(::openat(folder.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file) return reason("create", path);
  if (!write_all(file.get(), bytes)) return reason("write", path);
  if (::fsync(file.get()) != 0) return reason("flush", path);
  return file.close() ? "" : reason("close", path);
}

std::string flush_folder(const Folder& folder) {
  return ::fsync(folder.get()) == 0 ? "" : reason("flush", folder.path());
}

/// Why the open folder \p descriptor is not as \p rules have it; "" if it is, or could be made so.
std::string why_not(int descriptor, const std::string& path, const FolderRules& rules) {
  if (rules.access == Access::Any) return "";
  struct stat info;
  if (::fstat(descriptor, &info) != 0) return reason("look at", path);
  if (info.st_uid != ::geteuid()) return str("another user owns '", path, "'");
  if (info.st_mode & written_by_others) return str("others may write '", path, "' (chmod go-w it)");
  if (rules.access == Access::OwnWrites || !(info.st_mode & open_to_others)) return "";
  if (rules.tighten && ::fchmod(descriptor, S_IRWXU) == 0) return "";
  return str("others may read '", path, "' (chmod 700 it)");
}

/// The folder that \p name is in \p above, or AT_FDCWD; \p path is for messages.
OpenedFolder open_at(int above, const std::string& name, const std::string& path, const FolderRules& rules) {
  int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (rules.follow ? 0 : O_NOFOLLOW);
  OpenedFolder result;
  Folder folder(::openat(above, name.c_str(), flags), path);
  if (!folder) {
    int error = errno;
    struct stat info;
    bool there = is_absent(error) && ::fstatat(above, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                 !S_ISDIR(info.st_mode);  // another process may have made it since
    errno = error;
    bool link = error == ELOOP || (there && S_ISLNK(info.st_mode));
    result.fault = there ? Fault::Unreadable : fault_of(error);
    if (link)
      result.problem = str("'", path, "' is a link: name the folder itself");
    else if (there)
      result.problem = str("'", path, "' is no folder");
    else if (result.fault != Fault::Absent)
      result.problem = reason("open", path);
    return result;
  }
  result.problem = why_not(folder.get(), path, rules);
  result.fault = result.problem.empty() ? Fault::None : Fault::Unreadable;
  if (result.problem.empty()) result.folder = std::move(folder);
  return result;
}

OpenedFolder failed(std::string problem) {
  OpenedFolder result;
  result.fault = Fault::Unreadable;
  result.problem = std::move(problem);
  return result;
}

/// Of a folder that was made, and is not there.
OpenedFolder vanished(const std::string& path) { return failed(str("'", path, "' vanishes")); }

/// \p path without what a link at its end would be followed for.
std::string without_end(std::string path) {
  while (path.size() > 1 && (path.ends_with('/') || path.ends_with("/."))) path.erase(path.rfind('/'));
  return path.empty() ? "/" : path;
}

/// The folder a path is in, and its name there.
std::pair<std::string, std::string> split(const std::string& path) {
  auto slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

/// Makes the folder \p path and those above it where they are missing, with mode 0700. Returns "" or what failed.
std::string make_folder(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0) return S_ISDIR(info.st_mode) ? "" : str("'", path, "' is no folder");
  auto above = split(path).first;
  if (above != path)
    if (auto problem = make_folder(above); !problem.empty()) return problem;
  if (::mkdir(path.c_str(), S_IRWXU) != 0) return errno == EEXIST ? "" : reason("create", path);
  if (auto opened = open_folder(above, {Access::Any, true}); opened.folder) flush_folder(opened.folder);
  return "";
}

/// What is at \p name in \p folder that must not be replaced; "" for nothing.
std::string why_not_replaced(const Folder& folder, const std::string& name, std::size_t head,
                             const std::function<bool(std::string_view)>& is_ours) {
  struct stat info;
  if (::fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? "" : std::strerror(errno);
  if (S_ISLNK(info.st_mode)) return "it is a link";
  if (!S_ISREG(info.st_mode)) return "it is no regular file";
  if (info.st_size == 0) return "";
  auto bytes = read_head(folder, name, head);
  if (!bytes) return std::strerror(errno);
  return is_ours(*bytes) ? "" : "it holds something else; remove it, or name another file";
}

/// Is the new file \p temporary called \p name by this too, or instead, or, if \p only_new, was there one?
bool give_name(const Folder& folder, const std::string& temporary, const std::string& name, bool only_new) {
  if (!only_new) return rename_file(folder, temporary, name);
  int failed = ::renameat2(folder.get(), temporary.c_str(), folder.get(), name.c_str(), RENAME_NOREPLACE);
  if (failed == 0 || errno == EEXIST) return true;
  return ::linkat(folder.get(), temporary.c_str(), folder.get(), name.c_str(), 0) == 0 || errno == EEXIST;
}

/// Calls \p visit with the entries of \p folder. Returns the number of the error that ends it, 0 after the last.
template <typename Visit>
int for_each_entry(const Folder& folder, Visit&& visit) {
  int own = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* directory = own < 0 ? nullptr : ::fdopendir(own);
  int error = directory ? 0 : errno;
  if (!directory && own >= 0) ::close(own);
  if (!directory) return error;
  errno = 0;
  while (const auto* entry = ::readdir(directory)) {
    visit(*entry);
    errno = 0;
  }
  error = errno;
  ::closedir(directory);
  return error;
}

}  // namespace

Folder::~Folder() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Folder::Folder(Folder&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

Folder& Folder::operator=(Folder&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

OpenedFolder open_folder(const std::string& path, const FolderRules& rules) {
  auto whole = without_end(path);
  if (rules.make) {
    struct stat info;
    if (::lstat(whole.c_str(), &info) != 0)
      if (auto problem = make_folder(whole); !problem.empty()) return failed(problem);
  }
  auto opened = open_at(AT_FDCWD, whole, whole, rules);
  return rules.make && opened.fault == Fault::Absent ? vanished(whole) : std::move(opened);
}

OpenedFolder open_folder(const Folder& above, const std::string& name, const FolderRules& rules) {
  auto path = above.path() + "/" + name;
  auto opened = open_at(above.get(), name, path, rules);
  if (opened.fault != Fault::Absent || !rules.make) return opened;
  mode_t mode = rules.access == Access::Private ? S_IRWXU : S_IRWXU | S_IRWXG | S_IRWXO;
  if (::mkdirat(above.get(), name.c_str(), mode) != 0 && errno != EEXIST) return failed(reason("create", path));
  flush_folder(above);
  opened = open_at(above.get(), name, path, rules);
  return opened.fault == Fault::Absent ? vanished(path) : std::move(opened);
}

FileBytes read_file(const Folder& folder, const std::string& name, const ReadRules& rules) {
  auto path = folder.path() + "/" + name;
  FileBytes result;
  auto fail = [&](std::string problem) {
    result.fault = problem.empty() ? fault_of(errno) : Fault::Unreadable;
    if (result.fault != Fault::Absent)
      result.problem = problem.empty() ? reason("read", path) : str("'", path, "' is not used: ", problem);
    result.bytes.clear();
    return result;
  };
  File file(::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return fail(errno == ELOOP ? "it is a link" : "");
  struct stat info;
  if (::fstat(file.get(), &info) != 0) return fail("");
  auto problem = why_not(info, rules);
  if (!problem.empty()) return fail(problem);
  if (!read_all(file.get(), static_cast<std::size_t>(info.st_size), result.bytes)) return fail("");
  bool stale = rules.stamp_age > 0 && seconds_since_1970() - info.st_mtim.tv_sec > rules.stamp_age;
  if (stale) ::futimens(file.get(), nullptr);
  return result;
}

FileBytes read_file(const std::string& path, const ReadRules& rules) {
  FileBytes result;
  char* resolved = ::realpath(path.c_str(), nullptr);
  auto [above, name] = split(resolved ? resolved : path);
  std::free(resolved);
  auto opened = open_folder(above, {Access::Any, true});
  if (opened.folder) return read_file(opened.folder, name, rules);
  result.fault = opened.fault;
  result.problem = opened.problem;
  return result;
}

std::optional<std::string> read_head(const Folder& folder, const std::string& name, std::size_t size) {
  struct stat info;
  if (::fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
    return std::nullopt;
  File file(::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  std::string bytes;
  if (!file || !read_all(file.get(), size, bytes)) return std::nullopt;
  return bytes;
}

std::string write_file(const Folder& folder, const std::string& name, std::string_view bytes, const WriteRules& rules) {
  auto temporary = temporary_name();
  auto problem = write_new(folder, temporary, bytes, rules.is_private ? 0600 : 0666);
  if (problem.empty() && !give_name(folder, temporary, name, rules.only_new))
    problem = reason("rename to", folder.path() + "/" + name);
  if (!problem.empty() || rules.only_new) ::unlinkat(folder.get(), temporary.c_str(), 0);
  if (!problem.empty()) return problem;
  return rules.durable ? flush_folder(folder) : "";
}

std::string replace_file(const std::string& path, std::string_view bytes, std::size_t head,
                         const std::function<bool(std::string_view)>& is_ours) {
  auto [above, name] = split(path);
  if (name.empty() || name == "." || name == "..") return str("'", path, "' is no name of a file");
  if (auto problem = make_folder(above); !problem.empty()) return problem;
  auto opened = open_folder(above, {Access::Any, true});
  if (!opened.folder) return opened.problem.empty() ? str("there is no folder '", above, "'") : opened.problem;
  auto problem = why_not_replaced(opened.folder, name, head, is_ours);
  if (!problem.empty()) return str("'", path, "' is not replaced: ", problem);
  return write_file(opened.folder, name, bytes, {});
}

Listing list(const Folder& folder, bool stat) {
  Listing result;
  const int error = for_each_entry(folder, [&](const dirent& entry) {
    const bool unknown = entry.d_type == DT_UNKNOWN;
    if (entry.d_name[0] != '.' && (entry.d_type == DT_DIR || unknown)) result.folders.emplace_back(entry.d_name);
    if (entry.d_type != DT_REG && !unknown) return;
    Listed file{entry.d_name};
    struct stat info;
    if (stat || unknown) {
      if (::fstatat(folder.get(), entry.d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) return;
      file.size = static_cast<std::uint64_t>(info.st_size);
      file.modified_at = info.st_mtim.tv_sec;
    }
    result.files.push_back(std::move(file));
  });
  errno = error;
  if (error != 0 && !is_absent(error)) result.problem = reason("list", folder.path());
  return result;
}

bool is_temporary(std::string_view name) {
  if (!name.starts_with(temporary_prefix)) return false;
  name.remove_prefix(temporary_prefix.size());
  bool digits = !name.empty() && name.find_first_not_of("0123456789-") == std::string_view::npos;
  bool separate = !name.starts_with('-') && !name.ends_with('-') && name.find("--") == std::string_view::npos;
  return digits && separate && std::count(name.begin(), name.end(), '-') == temporary_numbers - 1;
}

std::string move_aside(const Folder& folder, const std::string& name) {
  auto aside = temporary_name();
  return rename_file(folder, name, aside) ? aside : "";
}

bool rename_file(const Folder& folder, const std::string& from, const std::string& to) {
  return ::renameat(folder.get(), from.c_str(), folder.get(), to.c_str()) == 0;
}

bool remove_file(const Folder& folder, const std::string& name) {
  return ::unlinkat(folder.get(), name.c_str(), 0) == 0;
}

std::int64_t seconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace tc::cache
