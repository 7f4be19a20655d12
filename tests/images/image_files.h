// SPDX-License-Identifier: Apache-2.0
// The device images of tables that are linked into the test, as files for other programs to look
// at, and what the sidecar says of their entries.
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
  std::string first_function;  // of the family
  uint64_t packed_bytes;       // of its frame, shared by all images in it
  bool first_of_frame;
  std::filesystem::path path;
  std::string bytes;
};

// Entries of the sidecars by name.
using Entries = std::map<std::string, const guf::device::items_kernel *>;

// Inflates every device image of the tables into `folder`. GoogleTest failures tell what is wrong.
std::vector<ImageFile> write_images(const std::vector<const guf_module_v1 *> &tables,
                                    const std::filesystem::path &folder);

// Opens sidecars, a list of files with ':' between them, for the life of the program.
Entries open_sidecars(const std::string &files);

// The name of the function or move in an entry's symbol: "sin" of "guf_ew_sin_f_f_row",
// "guf_move_copy4" of itself.
std::string function_of(const std::string &entry);

// What a program says on both streams; a failure of the test when it does not end well.
std::string output_of(const std::vector<std::string> &command);

}  // namespace gufunc::images

#endif  // GUFUNC_TESTS_IMAGES_IMAGE_FILES_H
