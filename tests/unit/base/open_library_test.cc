// SPDX-License-Identifier: Apache-2.0
// Tests the names under which the dynamic loader lists libraries that were opened by file
// descriptor.
#include "core/base/open_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

#include <string>
#include <vector>

#include "tests/support/fresh_error.h"

namespace gufunc::base {
namespace {

using testing::Each;
using testing::Not;
using testing::SizeIs;

// Copies a shared library of this program to an anonymous memory file. Returns the descriptor of
// the file.
int copy_of_a_library() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void *>(&_Unwind_Backtrace), &info) == 0) return -1;
  const int source = open(info.dli_fname, O_RDONLY | O_CLOEXEC);
  const int copy = memfd_create("library", MFD_CLOEXEC);
  std::vector<char> bytes(1 << 16);
  for (ssize_t size; (size = read(source, bytes.data(), bytes.size())) > 0;) {
    if (write(copy, bytes.data(), static_cast<size_t>(size)) != size) return -1;
  }
  close(source);
  return copy;
}

std::vector<std::string> names_in_proc() {
  std::vector<std::string> names;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *list) {
        const std::string name = info->dlpi_name;
        if (name.starts_with("/proc/"))
          static_cast<std::vector<std::string> *>(list)->push_back(name);
        return 0;
      },
      &names);
  return names;
}

MATCHER(Exists, "") {
  struct stat status = {};
  return stat(arg.c_str(), &status) == 0;
}

// A symbolizer may later open the name under which the loader lists a library. If the name referred
// to a descriptor number that now belongs to a pipe, the symbolizer would block.
TEST(OpenLibrary, NamesNoDescriptorThatIsUsedAgain) {
  guf_error error = fresh_error();
  std::vector<void *> libraries(2);
  for (void *&library : libraries) {
    const int copy = copy_of_a_library();
    ASSERT_GE(copy, 0);
    ASSERT_EQ(open_library(copy, 0, "library", &library, &error), GUF_OK) << error.message;
    close(copy);
  }
  EXPECT_NE(libraries[0], libraries[1]);
  int pipes[8][2];
  for (int(&ends)[2] : pipes) ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  EXPECT_THAT(names_in_proc(), SizeIs(2));
  EXPECT_THAT(names_in_proc(), Each(Not(Exists())));
  for (const int(&ends)[2] : pipes) {
    close(ends[0]);
    close(ends[1]);
  }
  for (void *library : libraries) close_library(library);
}

}  // namespace
}  // namespace gufunc::base
