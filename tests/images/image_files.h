// SPDX-License-Identifier: Apache-2.0
// Writes the device images of tables that are linked into the test to files for other programs, and
// reads what the emulation file declares about their entries.
#ifndef GUFUNC_TESTS_IMAGES_IMAGE_FILES_H
#define GUFUNC_TESTS_IMAGES_IMAGE_FILES_H

#include <gufunc/module_table.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gufunc/kernel/work_item.hpp>

namespace gufunc::images {

struct ImageFile {
  int32_t format;
  std::string target;
  uint32_t family;
  std::string first_function;  // first function of the family
  uint64_t packed_bytes;       // size of the compressed frame, which several images share
  bool first_of_frame;
  std::filesystem::path path;
  std::string bytes;
};

// Entries of the emulation files by name.
using Entries = std::map<std::string, const guf::device::emulated_kernel *>;

// Decompresses every device image of the tables into `folder`. Reports errors as test failures.
std::vector<ImageFile> write_images(const std::vector<const guf_module_v1 *> &tables,
                                    const std::filesystem::path &folder);

// Opens emulation files, a list of files separated by ':', for the lifetime of the program.
Entries open_emulation_files(const std::string &files);

// Returns the name of the function or copy kernel in an entry's symbol: "sin" for
// "guf_ew_sin_f_f_row"; "guf_copy_elements4" for itself.
std::string function_of(const std::string &entry);

// Returns the output of a program on both streams. Reports a test failure if the program fails.
std::string output_of(const std::vector<std::string> &command);

}  // namespace gufunc::images

#endif  // GUFUNC_TESTS_IMAGES_IMAGE_FILES_H
