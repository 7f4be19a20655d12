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

// "folder/x.npz:mean" is one array of an archive. "folder/x.npz" is the only array of an archive,
// or arr_0 of a new one.
struct NpzPath {
  std::string archive;
  std::string array;  // "" if the path names no array
};
std::optional<NpzPath> npz_path_of(const std::string &path);

struct NpzArray {
  std::string name;  // without ".npy"
  NpyHeader header;
  uint64_t stored_size = 0;  // bytes in the archive
  bool compressed = false;
};

// An archive opened for reading. Only the requested array is extracted, and no member name is ever
// used as a path. The class refuses absolute or repeated names, names with "..", encrypted members,
// and compression methods other than deflate.
class NpzInput {
 public:
  // Throws Failure(kFile).
  explicit NpzInput(const std::string &path);
  NpzInput(const NpzInput &) = delete;
  NpzInput &operator=(const NpzInput &) = delete;
  ~NpzInput();

  // Returns the headers of all arrays.
  std::vector<NpzArray> arrays(bool raw_bf16);
  // Reads one array, header included; "" is the only array of the archive. A compressed array is
  // refused if it needs more than half of the machine's memory, or if its compression ratio is
  // impossible for deflate. Throws Failure(kFile), Failure(kRunTime).
  Mapping read(const std::string &array, bool raw_bf16, NpyHeader *out_header);

 private:
  struct Archive;
  std::string path_;
  std::unique_ptr<Archive> archive_;
};

// A new archive. It appears only when complete. Arrays are stored without compression, as in
// np.savez.
class NpzOutput {
 public:
  // The constructor, add() and publish() throw Failure(kFile).
  NpzOutput(const std::string &path, const std::string &target);
  NpzOutput(const NpzOutput &) = delete;
  NpzOutput &operator=(const NpzOutput &) = delete;
  ~NpzOutput();

  const std::string &path() const { return path_; }
  // `npy` is the header and the elements.
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
