// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz archives: zip files of .npy files, as np.savez writes and np.load reads them.
#ifndef GUFUNC_TOOLS_GUFUNC_NPZ_FILE_H
#define GUFUNC_TOOLS_GUFUNC_NPZ_FILE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mapping.h"
#include "new_file.h"
#include "npy_header.h"

namespace gufunc::cli {

// "folder/x.npz:mean": an array of an archive. "folder/x.npz": its only one, or arr_0 of a new one.
struct NpzPath {
  std::string archive;
  std::string array;  // "": not named
};
std::optional<NpzPath> npz_path_of(const std::string &path);

struct NpzArray {
  std::string name;  // without .npy
  NpyHeader header;
  uint64_t stored_size = 0;  // bytes in the archive
  bool compressed = false;
};

// An archive opened for reading. Nothing is extracted but the array that is asked for, and no name
// in it becomes a path. Names with "..", absolute or repeated ones, encrypted members and other
// compression than deflate are refused.
class NpzInput {
 public:
  // Throws Failure(kFile).
  explicit NpzInput(const std::string &path);
  NpzInput(const NpzInput &) = delete;
  NpzInput &operator=(const NpzInput &) = delete;
  ~NpzInput();

  // The headers of all arrays.
  std::vector<NpzArray> arrays(bool raw_bf16);
  // One array, header included; "" is the only one. A compressed array is refused if it needs more
  // than half of this machine's memory, or claims to be smaller than deflate can make it.
  // Throws Failure(kFile), Failure(kRunTime).
  Mapping read(const std::string &array, bool raw_bf16, NpyHeader *out_header);

 private:
  struct Archive;
  std::string path_;
  std::unique_ptr<Archive> archive_;
};

// A new archive: it appears as a whole. Arrays are stored as np.savez does, without compression.
class NpzOutput {
 public:
  // Throws Failure(kFile), as add() and publish() do.
  NpzOutput(const std::string &path, const std::string &target);
  NpzOutput(const NpzOutput &) = delete;
  NpzOutput &operator=(const NpzOutput &) = delete;
  ~NpzOutput();

  const std::string &path() const { return path_; }
  // `npy`: header and elements.
  void add(const std::string &array, std::span<const std::byte> npy);
  void publish();

 private:
  [[noreturn]] void fail(const char *verb) const;

  std::string path_;
  NewFile file_;
  struct Position;
  std::unique_ptr<Position> position_;
  void *zip_ = nullptr;
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_NPZ_FILE_H
