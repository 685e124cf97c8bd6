#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tc/cache/frame.h"

/// Folders and files of the cache. A folder is opened once, looked at, and held: what is done in it afterwards is done
/// in that very folder, whatever others put in the place of its path meanwhile. Below the folder that a user names no
/// link is followed. Nothing here throws: what fails is a fault and a text for a warning.
namespace tc::cache {

/// A folder that is held open.
class Folder {
 public:
  Folder() = default;
  Folder(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  ~Folder();
  Folder(Folder&& other) noexcept;
  Folder& operator=(Folder&& other) noexcept;

  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  const std::string& path() const { return path_; }  ///< it was opened by; for messages

 private:
  int descriptor_ = -1;
  std::string path_;
};

/// Whose a folder must be.
enum class Access : std::uint8_t {
  Any,
  OwnWrites,  ///< this user's, and no other may write it
  Private,    ///< this user's, with mode 0700
};

struct FolderRules {
  Access access = Access::Any;
  bool follow = false;  ///< may the path end in a link?
  bool make = false;    ///< where it is missing
  bool tighten =
      false;  ///< gives a folder of this user that others may only read the mode 0700, where it is to be Private
};

struct OpenedFolder {
  Folder folder;
  Fault fault = Fault::None;
  std::string problem;  ///< empty where it is absent
};

/// The folder \p path, and those above it too where they are missing and it is to be made: all with mode 0700.
OpenedFolder open_folder(const std::string& path, const FolderRules& rules);
/// The folder \p name in \p above; one that is made has mode 0700 where it is to be Private, else what the umask leaves
/// of 0777.
OpenedFolder open_folder(const Folder& above, const std::string& name, const FolderRules& rules);

/// The bytes of a file, or why there are none.
struct FileBytes {
  Fault fault = Fault::None;
  std::string bytes;
  std::string problem;  ///< empty where the file is absent
};

struct ReadRules {
  std::uint64_t limit = 0;     ///< bytes
  bool is_private = false;     ///< refuse files that others own, may read or write
  bool one_name = false;       ///< refuse those that are private, but have a second name
  std::int64_t stamp_age = 0;  ///< sets the file's time to now where that lies more seconds back; 0: never
};

/// The whole regular file \p name in \p folder; symbolic links are not followed. A file that vanishes is absent.
FileBytes read_file(const Folder& folder, const std::string& name, const ReadRules& rules);
/// The file \p path that a user names, by way of links if need be.
FileBytes read_file(const std::string& path, const ReadRules& rules);

/// The first \p size bytes of the regular file \p name in \p folder, all where there are fewer; nothing where it cannot
/// be read.
std::optional<std::string> read_head(const Folder& folder, const std::string& name, std::size_t size);

struct WriteRules {
  bool is_private = false;  ///< mode 0600 instead of what the umask leaves of 0666
  bool durable = true;      ///< after a power failure too: the folder's list of names is flushed as well
  bool only_new = false;    ///< leaves a file that is there, which is no failure
};

/// Puts \p bytes at \p name in \p folder, whole or not at all: a temporary file, flushed, then renamed. Returns "" once
/// readers of all processes see it, else what failed.
std::string write_file(const Folder& folder, const std::string& name, std::string_view bytes, const WriteRules& rules);

/// Puts \p bytes, whole or not at all, into the file \p path that a user names, in a folder that is made where it is
/// missing. A file that is there is replaced only if it is empty, or is_ours() says so of its bytes, of which it gets
/// the first \p head; never a link, a device or anything else. Returns "" or what failed.
std::string replace_file(const std::string& path, std::string_view bytes, std::size_t head,
                         const std::function<bool(std::string_view)>& is_ours);

struct Listed {
  std::string name;
  std::uint64_t size = 0;
  std::int64_t modified_at = 0;  ///< seconds since 1970
};

/// What is in a folder.
struct Listing {
  std::vector<Listed> files;         ///< the regular ones
  std::vector<std::string> folders;  ///< names, among them those of files where only opening tells
  std::string problem;               ///< why it is not all of it; "" where it is
};
/// Sizes and times only if \p stat.
Listing list(const Folder& folder, bool stat);

/// Is \p name that of a file which write_file has not finished, or which move_aside has moved?
bool is_temporary(std::string_view name);

/// Gives the file \p name in \p folder a temporary name, which it returns; "" if it cannot.
std::string move_aside(const Folder& folder, const std::string& name);
bool rename_file(const Folder& folder, const std::string& from, const std::string& to);
/// Is it gone from \p folder by this?
bool remove_file(const Folder& folder, const std::string& name);

/// The time by the clock of the system.
std::int64_t seconds_since_1970();

}  // namespace tc::cache
