// SPDX-License-Identifier: Apache-2.0
// Reads and writes archives with minizip, whose I/O callbacks use this program's file descriptors.
#include "npz_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <minizip/unzip.h>
#include <minizip/zip.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "npy_stream.h"
#include "outcome.h"

namespace gufunc::cli {

constexpr std::string_view kNpySuffix = ".npy";

// A descriptor and minizip's position in it. minizip reads byte by byte, so small reads are served
// from a read-ahead buffer.
struct NpzStream {
  int fd = -1;
  uint64_t offset = 0;
  int error = 0;  // errno of the last failure
  std::array<char, 4096> ahead;
  uint64_t ahead_at = 0, ahead_size = 0;
};

struct NpzMember {
  std::string name;  // includes ".npy"
  unz64_file_pos position64;
  uint64_t size = 0, stored_size = 0;
  bool compressed = false;

  bool is_array() const { return name.ends_with(kNpySuffix) && name.size() > kNpySuffix.size(); }
  std::string array() const { return name.substr(0, name.size() - kNpySuffix.size()); }
};

namespace {

constexpr std::string_view kArchive = ".npz";
constexpr const char *kFirstArray = "arr_0";
constexpr uint64_t kMaxMembers = 65535;
constexpr uint64_t kMaxHeaders = uint64_t{64} << 20;  // bytes of the headers of all members
constexpr uint64_t kDeflateRatio = 1032;              // maximum compression of deflate
constexpr size_t kPiece = size_t{1} << 20;            // minizip sizes are unsigned int
constexpr int kUtf8Name = 1 << 11;                    // bits of a member's general purpose flags
constexpr int kEncrypted = 1;

[[noreturn]] void refuse_archive(const std::string &path, const std::string &why) {
  throw Failure(Exit::kFile, fmt::format("{}: not a usable .npz file: {}", path, why));
}

NpzStream &of(void *stream) {
  return *static_cast<NpzStream *>(stream);
}

void *open_stream(void *stream, const void *, int) {
  return stream;
}

// Transfers `size` bytes with pread(2) or pwrite(2), which may transfer less than requested.
template <class Move>
uLong move_all(void *stream, uLong size, Move move) {
  NpzStream &at = of(stream);
  uLong done = 0;
  while (done < size) {
    const ssize_t moved = move(at.fd, done, size - done, static_cast<off_t>(at.offset));
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) at.error = errno;
    if (moved <= 0) break;
    done += static_cast<uLong>(moved);
    at.offset += static_cast<uint64_t>(moved);
  }
  return done;
}

// Like pread(2), but requests smaller than the read-ahead buffer are served from that buffer.
ssize_t read_ahead(NpzStream &at, char *to, uLong size) {
  if (size >= at.ahead.size()) return ::pread(at.fd, to, size, static_cast<off_t>(at.offset));
  if (at.offset < at.ahead_at || at.offset - at.ahead_at >= at.ahead_size) {
    at.ahead_size = 0;
    const ssize_t got =
        ::pread(at.fd, at.ahead.data(), at.ahead.size(), static_cast<off_t>(at.offset));
    if (got <= 0) return got;
    at.ahead_at = at.offset;
    at.ahead_size = static_cast<uint64_t>(got);
  }
  const uint64_t begin = at.offset - at.ahead_at;
  const uint64_t count = std::min<uint64_t>(size, at.ahead_size - begin);
  std::memcpy(to, at.ahead.data() + begin, count);
  return static_cast<ssize_t>(count);
}

uLong read_stream(void *, void *stream, void *to, uLong size) {
  return move_all(stream, size, [stream, to](int, uLong done, uLong left, off_t) {
    return read_ahead(of(stream), static_cast<char *>(to) + done, left);
  });
}

uLong write_stream(void *, void *stream, const void *from, uLong size) {
  return move_all(stream, size, [from](int fd, uLong done, uLong left, off_t offset) {
    return ::pwrite(fd, static_cast<const char *>(from) + done, left, offset);
  });
}

ZPOS64_T position_of_stream(void *, void *stream) {
  return of(stream).offset;
}

long seek_stream(void *, void *stream, ZPOS64_T offset, int origin) {
  NpzStream &at = of(stream);
  struct stat status = {};
  if (origin == ZLIB_FILEFUNC_SEEK_END && ::fstat(at.fd, &status) != 0) return -1;
  const uint64_t base = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                        : origin == ZLIB_FILEFUNC_SEEK_CUR ? at.offset
                                                           : static_cast<uint64_t>(status.st_size);
  if (__builtin_add_overflow(base, offset, &at.offset) || at.offset > INT64_MAX) return -1;
  return 0;
}

int close_stream(void *, void *) {
  return 0;
}

int error_of_stream(void *, void *stream) {
  return of(stream).error;
}

zlib_filefunc64_def functions_of(NpzStream *stream) {
  return {open_stream, read_stream,  write_stream,    position_of_stream,
          seek_stream, close_stream, error_of_stream, stream};
}

// Refuses names that could lead out of a folder.
bool is_plain_name(std::string_view name) {
  if (name.empty() || name.starts_with('/')) return false;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t slash = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, slash - begin) == "..") return false;
    begin = slash + 1;
  }
  return std::none_of(name.begin(), name.end(), [](char c) {
    return c == '\\' || c == '\0' || static_cast<unsigned char>(c) < ' ' || c == '\x7f';
  });
}

// An archive without members consists of its end record only. minizip refuses to open it.
bool is_empty_archive(int fd, off_t size) {
  constexpr size_t kEndRecord = 22;  // bytes, with an empty comment
  constexpr std::string_view kSignature("PK\5\6", 4);
  std::array<char, kEndRecord> bytes = {};
  return size == static_cast<off_t>(kEndRecord) &&
         ::pread(fd, bytes.data(), kEndRecord, 0) == static_cast<ssize_t>(kEndRecord) &&
         std::string_view(bytes.data(), kEndRecord).starts_with(kSignature) &&
         std::all_of(bytes.begin() + kSignature.size(), bytes.end(),
                     [](char c) { return c == '\0'; });
}

// Returns half of the machine's memory. mmap enforces the process limit (RLIMIT_AS) before anything
// is decompressed. But mmap also grants more memory than the machine has, and when that memory is
// written, the kernel may kill other processes.
uint64_t most_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size) / 2
                               : UINT64_MAX;
}

}  // namespace

std::optional<NpzPath> npz_path_of(const std::string &path) {
  if (path.ends_with(kArchive)) return NpzPath{path, ""};
  const size_t at = path.rfind(std::string(kArchive) + ":");
  if (at == path.npos) return std::nullopt;
  if (at + kArchive.size() + 1 == path.size())
    throw Failure(Exit::kUsage, fmt::format("'{}': expected the name of an array after ':'", path));
  return NpzPath{path.substr(0, at + kArchive.size()), path.substr(at + kArchive.size() + 1)};
}

struct NpzInput::Archive {
  explicit Archive(int descriptor) : file(descriptor) { stream.fd = descriptor; }
  Archive(const Archive &) = delete;
  Archive &operator=(const Archive &) = delete;
  ~Archive() {
    if (zip != nullptr) unzClose(zip);
  }

  // Opens a member at its first byte.
  void open(const std::string &path, NpzMember &member) {
    int code = unzGoToFilePos64(zip, &member.position64);
    if (code == UNZ_OK) code = unzOpenCurrentFile(zip);
    if (code != UNZ_OK) refuse(path, code, fmt::format("'{}' cannot be opened", member.name));
  }
  ReadBytes reader(const std::string &path, const NpzMember &member) {
    return [this, &path, &member](std::span<std::byte> to) {
      size_t done = 0;
      while (done < to.size()) {
        const auto size = static_cast<unsigned>(std::min(to.size() - done, kPiece));
        const int got = unzReadCurrentFile(zip, to.data() + done, size);
        if (got < 0) refuse(path, got, fmt::format("'{}' is damaged", member.name));
        if (got == 0) break;
        done += static_cast<size_t>(got);
      }
      return done;
    };
  }

  // Throws for a call of minizip that failed with `code`. minizip reports a failed allocation as an
  // internal error, or as zlib's Z_MEM_ERROR. `why` is the reason if the archive is at fault.
  [[noreturn]] void refuse(const std::string &path, int code, const std::string &why) const {
    if (code == UNZ_INTERNALERROR || code == Z_MEM_ERROR) throw std::bad_alloc();
    if (stream.error != 0) fail_file(path, "read", stream.error);
    refuse_archive(path, why);
  }

  Descriptor file;
  NpzStream stream;
  unzFile zip = nullptr;
  std::vector<NpzMember> members;
};

NpzInput::NpzInput(const std::string &path) : path_(path) {
  archive_ = std::make_unique<Archive>(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (archive_->stream.fd < 0 || ::fstat(archive_->stream.fd, &status) != 0)
    fail_file(path, "open");
  if (!S_ISREG(status.st_mode)) throw Failure(Exit::kFile, path + ": not a regular file");
  zlib_filefunc64_def functions = functions_of(&archive_->stream);
  errno = 0;
  archive_->zip = unzOpen2_64("", &functions);
  if (archive_->zip == nullptr) {
    if (errno == ENOMEM) throw std::bad_alloc();
    if (is_empty_archive(archive_->stream.fd, status.st_size)) return;
    archive_->refuse(path, UNZ_BADZIPFILE, "no zip archive, or a truncated one");
  }

  std::set<std::string> names;
  unz_global_info64 global = {};
  if (unzGetGlobalInfo64(archive_->zip, &global) != UNZ_OK || global.number_entry > kMaxMembers)
    refuse_archive(path, fmt::format("more than {} members", kMaxMembers));
  // Counts the members here: minizip treats 65,535 as an unknown number and misses the end.
  for (uint64_t i = 0; i < global.number_entry; ++i) {
    const int code = i == 0 ? unzGoToFirstFile(archive_->zip) : unzGoToNextFile(archive_->zip);
    if (code != UNZ_OK) archive_->refuse(path, code, "a damaged directory");
    char name[1024] = {};
    unz_file_info64 info = {};
    NpzMember member = {};
    if (unzGetCurrentFileInfo64(archive_->zip, &info, name, sizeof name - 1, nullptr, 0, nullptr,
                                0) != UNZ_OK ||
        unzGetFilePos64(archive_->zip, &member.position64) != UNZ_OK)
      archive_->refuse(path, UNZ_BADZIPFILE, "a damaged directory");
    member.name.assign(name, std::min<size_t>(info.size_filename, sizeof name - 1));
    if (info.size_filename >= sizeof name || !is_plain_name(member.name))
      refuse_archive(path,
                     "a member's name is too long, absolute, or has '..' or control characters");
    if (!names.insert(member.name).second)
      refuse_archive(path, fmt::format("'{}' is in the archive twice", member.name));
    if ((info.flag & kEncrypted) != 0)
      refuse_archive(path, fmt::format("'{}' is encrypted", member.name));
    if (info.compression_method != 0 && info.compression_method != Z_DEFLATED)
      refuse_archive(path, fmt::format("'{}' is compressed by method {}, expected deflate",
                                       member.name, info.compression_method));
    member.size = info.uncompressed_size;
    member.stored_size = info.compressed_size;
    member.compressed = info.compression_method != 0;
    archive_->members.push_back(std::move(member));
  }
}

NpzInput::~NpzInput() = default;

std::vector<NpzArray> NpzInput::arrays(bool raw_bf16) {
  std::vector<NpzArray> arrays;
  uint64_t headers = 0;
  for (NpzMember &member : archive_->members) {
    if (!member.is_array()) continue;
    archive_->open(path_, member);
    NpzArray array;
    array.name = member.array();
    array.header = read_npy_description(archive_->reader(path_, member), raw_bf16,
                                        fmt::format("{}:{}", path_, array.name));
    headers += array.header.data_offset;
    if (headers > kMaxHeaders)
      refuse_archive(path_, fmt::format("headers of more than {} bytes", kMaxHeaders));
    array.stored_size = member.stored_size;
    array.compressed = member.compressed;
    unzCloseCurrentFile(archive_->zip);
    arrays.push_back(std::move(array));
  }
  return arrays;
}

Mapping NpzInput::read(const std::string &array, bool raw_bf16, NpyHeader *out_header) {
  NpzMember *found = nullptr;
  std::string names;
  size_t count = 0;
  for (NpzMember &member : archive_->members) {
    if (!member.is_array()) continue;
    ++count;
    if (count <= 10) names += fmt::format("{}{}", count == 1 ? "" : ", ", member.array());
    if (array.empty() || member.array() == array) found = &member;
  }
  if (count > 10) names += ", ...";
  if (count == 0) throw Failure(Exit::kFile, fmt::format("{}: has no arrays", path_));
  if (array.empty() && count > 1) {
    throw Failure(Exit::kFile, fmt::format("{}: has {} arrays ({}); name one as in {}:{}", path_,
                                           count, names, path_, names.substr(0, names.find(','))));
  }
  if (found == nullptr)
    throw Failure(Exit::kFile,
                  fmt::format("{}: has no array '{}'; its arrays are {}", path_, array, names));
  const std::string name = fmt::format("{}:{}", path_, found->array());
  if (found->compressed && found->size / kDeflateRatio > found->stored_size)
    refuse_archive(
        path_,
        fmt::format(
            "'{}' has a size of {} bytes from {} compressed bytes, which deflate cannot reach",
            found->name, found->size, found->stored_size));
  if (found->compressed && found->size > most_memory()) {
    throw Failure(Exit::kRunTime,
                  fmt::format("{}: {} bytes uncompressed, more than half of this machine's memory; "
                              "'unzip' writes it to a .npy file, which is mapped",
                              name, found->size));
  }
  archive_->open(path_, *found);
  const ReadBytes reader = archive_->reader(path_, *found);
  // Compare the header with the size in the archive's directory before memory is allocated.
  const NpyHeader header = read_npy_description(reader, raw_bf16, name);
  check_npy_size(header, found->size - std::min<uint64_t>(found->size, header.data_offset), name);
  unzCloseCurrentFile(archive_->zip);
  archive_->open(path_, *found);
  Mapping memory = read_npy(reader, raw_bf16, name, out_header);
  std::byte more;
  if (reader({&more, 1}) != 0 || unzCloseCurrentFile(archive_->zip) != UNZ_OK)
    refuse_archive(path_,
                   fmt::format("'{}' is damaged: its checksum or size differs", found->name));
  return memory;
}

struct NpzOutput::Position : NpzStream {};

NpzOutput::NpzOutput(const std::string &path, const std::string &target)
    : path_(path), file_(target, path, 0666), position_(std::make_unique<Position>()) {
  position_->fd = file_.fd();
  zlib_filefunc64_def functions = functions_of(position_.get());
  zip_ = zipOpen2_64("", APPEND_STATUS_CREATE, nullptr, &functions);
  if (zip_ == nullptr) throw std::bad_alloc();
}

NpzOutput::~NpzOutput() {
  if (zip_ != nullptr) zipClose(zip_, nullptr);
}

void NpzOutput::fail(const char *verb) const {
  fail_file(path_, verb, position_->error == 0 ? ENOMEM : position_->error);
}

void NpzOutput::add(const std::string &array, std::span<const std::byte> npy) {
  const std::string name = (array.empty() ? kFirstArray : array) + std::string(kNpySuffix);
  zip_fileinfo info = {};
  info.tmz_date.tm_mday = 1;  // a fixed date makes the output reproducible
  info.tmz_date.tm_year = 1980;
  const int is_large = npy.size() >= UINT32_MAX ? 1 : 0;
  if (zipOpenNewFileInZip4_64(zip_, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr, 0, 0, 0,
                              -MAX_WBITS, DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, nullptr, 0, 0,
                              kUtf8Name, is_large) != ZIP_OK)
    fail("write");
  while (!npy.empty()) {
    const auto piece = npy.first(std::min(npy.size(), kPiece));
    if (zipWriteInFileInZip(zip_, piece.data(), static_cast<unsigned>(piece.size())) != ZIP_OK)
      fail("write");
    npy = npy.subspan(piece.size());
  }
  if (zipCloseFileInZip(zip_) != ZIP_OK) fail("write");
}

void NpzOutput::publish() {
  const int code = zipClose(std::exchange(zip_, nullptr), nullptr);
  if (code != ZIP_OK || position_->error != 0) fail("write");
  file_.publish();
}

}  // namespace gufunc::cli
