// SPDX-License-Identifier: Apache-2.0
// Runs the corpus through gufunc.hpp. Usage: corpus_runner CORPUS_FOLDER DEVICE MODULE.so...
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "corpus_call.hpp"

static std::vector<unsigned char> file_of(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<unsigned char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty()) throw std::runtime_error(path.string() + " cannot be read");
  return bytes;
}

// Runs a case. Returns the reason why it failed; "" if it passed.
static std::string run(const Json &json, const Blob &blob, gufunc::Device device) try {
  Case one(json, blob);
  try {
    const std::vector<gufunc::Array> made = call(one, device);
    device.synchronize();
    return one.judge(made);
  } catch (const gufunc::Error &error) {
    return one.judge(error);
  }
} catch (const std::exception &failure) {
  return failure.what();
}

// Returns the FNV-1a digest of a text.
static uint64_t digest(const std::string &text) {
  uint64_t found = 0xcbf29ce484222325;
  for (const char byte : text) found = (found ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return found;
}

int main(int argc, char **argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "corpus_runner CORPUS_FOLDER DEVICE MODULE.so...\n");
    return 2;
  }
  const gufunc::Device device{std::string(argv[2])};
  std::vector<gufunc::Module> modules;
  for (int k = 3; k < argc; ++k) modules.emplace_back(argv[k]);
  std::vector<std::filesystem::path> groups;
  for (const auto &entry : std::filesystem::directory_iterator(argv[1]))
    if (entry.path().extension() == ".json") groups.push_back(entry.path());
  std::sort(groups.begin(), groups.end());
  int count = 0, failed = 0;
  for (std::filesystem::path &path : groups) {
    const std::vector<unsigned char> text = file_of(path);
    const Json group = Json::parse(text.begin(), text.end());
    const Blob blob{file_of(path.replace_extension(".bin"))};
    if (group.at("format") != 1) throw std::runtime_error(path.string() + ": another format");
    std::string ids;
    const int before = count;
    for (const Json &json : group.at("cases")) {
      const std::string why = run(json, blob, device), id = json.at("id");
      ids += id + '\n';
      ++count;
      if (why.empty()) continue;
      ++failed;
      std::printf("%s: %s\n", id.c_str(), why.c_str());
    }
    std::printf("%s: %d judged, fnv1a %016" PRIx64 "\n", path.stem().c_str(), count - before,
                digest(ids));
  }
  std::printf("%d cases, %d passed, %d failed\n", count, count - failed, failed);
  return failed != 0 || count == 0;
} catch (const std::exception &failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
