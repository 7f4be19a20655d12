// SPDX-License-Identifier: Apache-2.0
#include "tests/images/image_files.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "core/backend/plain_image.h"
#include "process.h"
#include "tests/support/fresh_error.h"

namespace gufunc::images {

namespace fs = std::filesystem;

namespace {

// Returns the first function of a family, which identifies the family, because families in gufcc's
// tables have no names.
std::string first_function(const guf_module_v1 &table, uint32_t family) {
  for (uint32_t i = 0; i < table.nfunctions; ++i) {
    const guf_module_function &function = table.functions[i];
    for (uint32_t loop = 0; loop < function.nloops; ++loop) {
      if (function.loops[loop].family == family) return function.name;
    }
  }
  return table.name;
}

}  // namespace

std::vector<ImageFile> write_images(const std::vector<const guf_module_v1 *> &tables,
                                    const fs::path &folder) {
  std::vector<ImageFile> all;
  std::set<const void *> frames;
  for (const guf_module_v1 *const table : tables) {
    for (uint32_t i = 0; i < table->nimages; ++i) {
      const guf_module_image &image = table->images[i];
      if (image.format == GUF_IMAGE_HOST) continue;
      backend::PlainImage plain;
      guf_error error = fresh_error();
      if (plain.open(image, &error) != GUF_OK) {
        ADD_FAILURE() << error.message;
        continue;
      }
      const std::string bytes(static_cast<const char *>(plain.image().data), plain.image().size);
      const fs::path path =
          folder / (std::string(table->name) + std::to_string(image.family) + "." + image.target);
      std::ofstream(path, std::ios::binary) << bytes;
      all.push_back({image.format, image.target, image.family, first_function(*table, image.family),
                     image.size, frames.insert(image.data).second, path, bytes});
    }
  }
  return all;
}

Entries open_emulation_files(const std::string &files) {
  Entries entries;
  std::istringstream names(files);
  for (std::string name; std::getline(names, name, ':');) {
    void *const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto *const items = handle == nullptr ? nullptr
                                                : static_cast<const guf::device::emulation_table *>(
                                                      dlsym(handle, "gufunc_emulation_v1"));
    if (items == nullptr) {
      ADD_FAILURE() << "no emulation file " << name;
      continue;
    }
    for (uint32_t i = 0; i < items->nkernels; ++i) {
      entries[items->kernels[i].name] = &items->kernels[i];
    }
  }
  return entries;
}

std::string function_of(const std::string &entry) {
  for (const char *prefix : {"guf_ew_", "guf_gu_"}) {
    if (!entry.starts_with(prefix)) continue;
    std::string name = entry.substr(7);
    // The name is followed by dtypes and variant: "floor_divide_ff_f_row".
    for (int part = 0; part < 3; ++part) {
      const size_t last = name.rfind('_');
      if (last == std::string::npos) break;
      name.resize(last);
    }
    return name;
  }
  return entry;
}

std::string output_of(const std::vector<std::string> &command) {
  const gufcc::ProcessResult result = gufcc::run_process(command);
  EXPECT_EQ(result.status, 0) << gufcc::command_line(command) << "\n" << result.output;
  return result.output;
}

}  // namespace gufunc::images
