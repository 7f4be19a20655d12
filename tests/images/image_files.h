// SPDX-License-Identifier: Apache-2.0
// Writes the device images of linked tables to files for other programs, and reads the properties
// of entries from emulation files.
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

// Maps names to the entries of the emulation files.
using Entries = std::map<std::string, const guf::device::emulated_kernel *>;

// Decompresses every device image of the tables into `folder`. Reports errors as test failures.
std::vector<ImageFile> write_images(const std::vector<const guf_module_v1 *> &tables,
                                    const std::filesystem::path &folder);

// Opens the emulation files in a list separated by ':'. The files stay open until the program ends.
Entries open_emulation_files(const std::string &files);

// Returns the function or copy kernel that an entry's symbol names: "sin" for "guf_ew_sin_f_f_row",
// and "guf_copy_elements4" for "guf_copy_elements4".
std::string function_of(const std::string &entry);

// Returns what a program wrote to stdout and stderr. A program that fails is a test failure.
std::string output_of(const std::vector<std::string> &command);

}  // namespace gufunc::images

#endif  // GUFUNC_TESTS_IMAGES_IMAGE_FILES_H
