// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target on the files of a corpus, for compilers without libFuzzer:
//   call_fuzz FOLDER_OR_FILE...
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "target.h"

namespace fs = std::filesystem;

namespace {

void replay(const fs::path &file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)),
                          std::istreambuf_iterator<char>());
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char **argv) {
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const fs::directory_entry &entry : fs::directory_iterator(argv[i])) {
      files.push_back(entry.path());
    }
  }
  if (files.empty()) {
    std::fprintf(stderr, "%s: expected the files of a corpus, got none\n", argv[0]);
    return 1;
  }
  for (const fs::path &file : files) replay(file);
  std::printf("%zu inputs\n", files.size());
  return 0;
}
