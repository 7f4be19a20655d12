// SPDX-License-Identifier: Apache-2.0
// Parses the parts of PTX that a launch needs: version, target, entries and the sizes of the
// parameters.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <set>

#include "tests/sim/core/sim_codes.h"
#include "tests/sim/core/sim_image.h"

namespace sim {
namespace {

// The newest PTX version that each driver supports: {driver, PTX}, newest driver first.
constexpr int kVersions[][2] = {{13000, 90}, {12090, 88}, {12080, 87}, {12070, 86}, {12060, 85},
                                {12050, 85}, {12040, 84}, {12030, 83}, {12020, 82}, {12010, 81},
                                {12000, 80}, {11080, 78}, {11070, 77}, {11060, 76}, {11050, 75},
                                {11040, 74}, {11030, 73}, {11020, 72}, {11010, 71}, {11000, 70},
                                {10020, 65}, {10010, 64}, {10000, 63}};

int newest_ptx(int driver) {
  for (const auto &[version, ptx] : kVersions) {
    if (driver >= version) return ptx;
  }
  return 62;
}

// Tokenizes the text into words and single characters, without comments.
class Words {
 public:
  explicit Words(const char *text) : at_(text) {}

  // Returns the next token, or an empty string at the end of the text.
  std::string next() {
    skip();
    const char *first = at_;
    const auto in_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$' ||
             c == '%';
    };
    if (*at_ == '"') {
      for (++at_; *at_ != '\0' && *at_ != '"';) ++at_;
      if (*at_ == '"') ++at_;
    } else if (in_word(*at_)) {
      while (in_word(*at_)) ++at_;
    } else if (*at_ != '\0') {
      ++at_;
    }
    return std::string(first, at_);
  }

 private:
  void skip() {
    for (;;) {
      if (std::isspace(static_cast<unsigned char>(*at_))) {
        ++at_;
      } else if (std::strncmp(at_, "//", 2) == 0) {
        at_ += std::strcspn(at_, "\n");
      } else if (std::strncmp(at_, "/*", 2) == 0) {
        const char *end = std::strstr(at_ + 2, "*/");
        at_ = end == nullptr ? at_ + std::strlen(at_) : end + 2;
      } else {
        return;
      }
    }
  }

  const char *at_;
};

uint32_t type_bytes(const std::string &type) {
  if (type == ".pred") return 1;
  const size_t digits = type.find_first_of("0123456789");
  if (type.size() < 3 || digits == std::string::npos) return 0;
  return static_cast<uint32_t>(std::atoi(type.c_str() + digits)) / 8;
}

// Parses the text after the first word of `.param .align 8 .b8 name[56]`. Returns false if the text
// is not valid PTX.
bool read_parameter(Words &words, ImageKernel *kernel, std::string *behind) {
  uint32_t bytes = 0, align = 0;
  std::string word = words.next();
  for (; !word.empty() && word[0] == '.'; word = words.next()) {
    if (word == ".align")
      align = static_cast<uint32_t>(std::atoi(words.next().c_str()));
    else if (type_bytes(word) != 0)
      bytes = type_bytes(word);
  }
  if (word.empty() || bytes == 0) return false;
  if (align == 0) align = bytes;
  *behind = words.next();
  if (*behind == "[") {
    bytes *= static_cast<uint32_t>(std::atoi(words.next().c_str()));
    if (words.next() != "]") return false;
    *behind = words.next();
  }
  const uint32_t offset = (kernel->argument_bytes + align - 1) / align * align;
  kernel->parameters.push_back({offset, bytes});
  kernel->argument_bytes = offset + bytes;
  return true;
}

// Parses the text after `.entry`. Returns false if the text is not valid PTX.
bool read_entry(Words &words, ImageKernel *kernel) {
  kernel->name = words.next();
  std::string word = words.next();
  if (word == "(") {
    word = words.next();
    while (word == ".param") {
      if (!read_parameter(words, kernel, &word)) return false;
      if (word == ",") word = words.next();
    }
    if (word != ")") return false;
    word = words.next();
  }
  for (; word != "{"; word = words.next()) {
    if (word.empty() || word == ";") return word == ";";
    if (word != ".maxntid") continue;
    kernel->max_threads = static_cast<uint32_t>(std::atoi(words.next().c_str()));
  }
  return true;
}

// Records the functions that a PTX text declares or defines, and the functions that it calls.
class Calls {
 public:
  // Parses the text after `.func`, up to the token after the name.
  void declare(Words &words) {
    std::string word = words.next();
    if (word == "(") word = behind_list(words);
    declared_.insert(word);
  }
  // Parses the text after `call` or `call.uni`: `(result), name, (arguments)`. Ignores calls
  // through registers.
  void call(Words &words) {
    std::string word = words.next();
    if (word == "(") {
      behind_list(words);  // the comma
      word = words.next();
    }
    if (!word.empty() && word[0] != '%') called_.insert(word);
  }
  bool are_declared() const {
    return std::all_of(called_.begin(), called_.end(),
                       [this](const std::string &name) { return declared_.contains(name); });
  }

 private:
  static std::string behind_list(Words &words) {
    std::string word = words.next();
    while (!word.empty() && word != ")") word = words.next();
    return words.next();
  }

  std::set<std::string> declared_, called_;
};

// Reads a version number. For example, the result for `6.3` is 63.
int read_version(const std::string &word) {
  const size_t dot = word.find('.');
  if (dot == std::string::npos) return 0;
  return std::atoi(word.c_str()) * 10 + std::atoi(word.c_str() + dot + 1);
}

}  // namespace

int read_ptx(const void *data, const CudaTarget &target, Image *out) {
  const char *text = static_cast<const char *>(data);
  Words words(text);
  if (words.next() != ".version") return kInvalidImage;
  out->ptx_version = read_version(words.next());
  out->size = std::strlen(text);
  if (out->ptx_version == 0) return kInvalidPtx;
  if (out->ptx_version > newest_ptx(target.driver_version)) return kUnsupportedPtxVersion;
  if (words.next() != ".target") return kInvalidPtx;
  const std::string named = words.next();
  if (named.rfind("sm_", 0) != 0) return kInvalidPtx;
  out->arch = std::atoi(named.c_str() + 3);
  int depth = 0;
  Calls calls;
  for (std::string word = words.next(); !word.empty(); word = words.next()) {
    if (word == "{") ++depth;
    if (word == "}" && --depth < 0) return kInvalidPtx;
    if (word == ".func") calls.declare(words);
    if (word == "call" || word == "call.uni") calls.call(words);
    if (word != ".entry") continue;
    ImageKernel kernel;
    if (depth != 0 || !read_entry(words, &kernel)) return kInvalidPtx;
    ++depth;  // read_entry consumed the opening brace
    out->kernels.push_back(std::move(kernel));
  }
  if (depth != 0 || !calls.are_declared()) return kInvalidPtx;
  return out->arch > target.arch ? kNoBinaryForGpu : kSuccess;
}

}  // namespace sim
