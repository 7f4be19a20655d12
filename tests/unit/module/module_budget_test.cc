// SPDX-License-Identifier: Apache-2.0
// Opens untrusted files as data within 256 MiB of address space and one second of processor time.
// The test sets every word of a module's headers and tables to extreme values, and computes the
// digest again, so that the code after the digest check runs.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>

#include "core/module/module.h"
#include "tests/support/fresh_error.h"
#include "tests/unit/module/module_files.h"

namespace gufunc::module {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimited = false;  // sanitizers need more address space
#else
constexpr bool kLimited = true;
#endif
constexpr rlim_t kAddressSpace = rlim_t{256} << 20;

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A file that is rewritten for each case.
class Budget {
 public:
  Budget()
      : descriptor_(memfd_create("module_budget", MFD_CLOEXEC)),
        path_("/proc/self/fd/" + std::to_string(descriptor_)) {}
  ~Budget() { close(descriptor_); }

  // Opens the bytes as data. Returns false if the status is undocumented or the call took too long.
  bool keeps(const std::vector<char> &bytes) { return keeps(bytes, bytes.size()); }
  // Opens a file of `size` bytes that ends with a hole after the given bytes.
  bool keeps(const std::vector<char> &bytes, uint64_t size) {
    const auto written = static_cast<ssize_t>(bytes.size());
    if (ftruncate(descriptor_, 0) != 0 || ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
      return false;
    }
    if (pwrite(descriptor_, bytes.data(), bytes.size(), 0) != written) return false;
    guf_error error = fresh_error();
    base::Ref<Module> module;
    const double before = processor_seconds();
    const guf_status status = open_module(path_.c_str(), GUF_MODULE_DATA_ONLY, &module, &error);
    const double took = processor_seconds() - before;
    seconds_ = took;
    longest_ = std::max(longest_, took);
    ++(status == GUF_OK ? accepted_ : refused_);
    if (module) read_everything(module->table());
    message_ = error.message;
    module = base::Ref<Module>();
    base::collect();
    const bool known = status == GUF_OK || status == GUF_E_BAD_FILE || status == GUF_E_ABI ||
                       status == GUF_E_UNSUPPORTED;
    if (known && (!kLimited || took < 1)) return true;
    std::printf("status %d after %.3f s: %s\n", status, took, error.message);
    return false;
  }
  void report() const {
    std::printf("%d refused, %d accepted, the longest took %.3f s\n", refused_, accepted_,
                longest_);
  }
  const std::string &message() const { return message_; }  // error message of the last case
  double seconds() const { return seconds_; }              // processor time of the last case
  int refused() const { return refused_; }
  int accepted() const { return accepted_; }

 private:
  // Reads everything that an accepted table refers to. All of this memory must be readable.
  static void read_everything(const guf_module_v1 &table) {
    size_t sum = std::strlen(table.name);
    for (uint32_t i = 0; i < table.nfunctions; ++i) {
      const guf_module_function &function = table.functions[i];
      sum += std::strlen(function.name);
      if (function.doc != nullptr) sum += std::strlen(function.doc);
      for (uint32_t k = 0; k < function.nloops; ++k) {
        sum += std::strlen(function.loops[k].name) + function.loops[k].types[0];
      }
    }
    for (uint32_t i = 0; i < table.nimages; ++i) {
      const auto *const data = static_cast<const unsigned char *>(table.images[i].data);
      sum += data[0] + data[table.images[i].size - 1];
    }
    volatile size_t sink = sum;
    (void)sink;
  }

  const int descriptor_;
  const std::string path_;
  std::string message_;
  int refused_ = 0, accepted_ = 0;
  double seconds_ = 0, longest_ = 0;
};

// Runs `body` in a child process with limited resources. Returns whether `body` returned true.
template <class Body>
bool holds_within_limits(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {kAddressSpace, kAddressSpace};
    if (kLimited && setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    const bool good = body();
    std::fflush(stdout);
    _exit(good ? 0 : 1);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

// Returns the bytes with a recomputed digest, or unchanged bytes if they are no longer an ELF file.
std::vector<char> sign_if_possible(std::vector<char> bytes) {
  base::ElfFile elf;
  ModuleNote note;
  Digest digest;
  uint64_t offset = 0;
  if (base::ElfFile::open(std::as_bytes(std::span(bytes)), &elf, nullptr) == GUF_OK &&
      compute_digest(elf, &note, &digest, &offset, nullptr) == GUF_OK) {
    std::memcpy(bytes.data() + offset, digest.data(), digest.size());
  }
  return bytes;
}

// Returns the offsets of all words in the ELF header, in the program headers, and in every segment
// except code. These words include symbols, hashes, relocations and tables.
std::vector<size_t> words_to_change(const std::vector<char> &bytes) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::vector<size_t> words;
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) != 0) continue;
    for (size_t at = segment.p_offset; at + 8 <= segment.p_offset + segment.p_filesz; at += 4) {
      words.push_back(at);
    }
  }
  return words;
}

TEST(ModuleBudget, WordsAtTheirExtremes) {
  const std::vector<char> whole =
      testing::sign(testing::read_bytes(GUFUNC_TEST_MODULES "/hand_one.so"));
  const auto size = static_cast<uint64_t>(whole.size());
  const uint64_t values[] = {0,
                             1,
                             0x7FFFFFFF,
                             0x80000000,
                             0xFFFFFFFF,
                             uint64_t{1} << 62,
                             uint64_t{1} << 63,
                             UINT64_MAX,
                             size - 1,
                             size,
                             size + 1,
                             size + (uint64_t{64} << 20),
                             uint64_t{2} << 30};
  EXPECT_TRUE(holds_within_limits([&] {
    Budget budget;
    bool good = true;
    for (const size_t at : words_to_change(whole)) {
      for (const uint64_t value : values) {
        std::vector<char> changed = whole;
        std::memcpy(changed.data() + at, &value, at % 8 == 0 ? 8 : 4);
        if (budget.keeps(sign_if_possible(std::move(changed)))) continue;
        std::printf("word at %zu set to 0x%llx\n", at, static_cast<unsigned long long>(value));
        good = false;
      }
    }
    budget.report();
    return good && budget.refused() > 1000 && budget.accepted() > 1000;
  }));
}

TEST(ModuleBudget, CutAtEveryByte) {
  const std::vector<char> whole =
      testing::sign(testing::read_bytes(GUFUNC_TEST_MODULES "/hand_one.so"));
  EXPECT_TRUE(holds_within_limits([&] {
    Budget budget;
    bool good = true;
    for (size_t size = 0; size < whole.size(); ++size) {
      good &=
          budget.keeps(sign_if_possible({whole.begin(), whole.begin() + static_cast<long>(size)}));
    }
    budget.report();
    return good && budget.accepted() == 0;
  }));
}

// A large file that consists of holes needs no disk space. A file that is not a module must be
// rejected before it is copied.
TEST(ModuleBudget, LargeFilesThatAreNoModules) {
  const std::vector<char> whole =
      testing::sign(testing::read_bytes(GUFUNC_TEST_MODULES "/hand_one.so"));
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof header);
  const size_t headers = header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr);
  const struct {
    const char *name, *message;
    std::vector<char> start;
    uint64_t size;
  } cases[] = {
      {"zeros", "not the ELF magic", {}, uint64_t{900} << 20},
      {"headers alone",
       "no gufunc module note",
       {whole.begin(), whole.begin() + headers},
       uint64_t{900} << 20},
      {"headers alone, of a module's size",
       "no gufunc module note",
       {whole.begin(), whole.begin() + headers},
       uint64_t{64} << 20},
      {"a module with a tail", "is too large for a module", whole, uint64_t{900} << 20},
      {"all there is", "is too large for a module", whole, INT64_MAX},
  };
  for (const auto &row : cases) {
    EXPECT_TRUE(holds_within_limits([&row] {
      Budget budget;
      const bool good = budget.keeps(row.start, row.size) && budget.accepted() == 0 &&
                        (!kLimited || budget.seconds() < 0.05);
      std::printf("%s: %s, %.3f s\n", row.name, budget.message().c_str(), budget.seconds());
      return good && budget.message().find(row.message) != std::string::npos;
    })) << row.name;
  }
}

// Tests a file of the largest size that is copied and digested, and a file whose segments share
// bytes, so that the digest would cover more bytes than this size.
TEST(ModuleBudget, TheLargestFile) {
  constexpr uint64_t kSize = uint64_t{64} << 20;
  for (const bool shared : {false, true}) {
    std::vector<char> bytes =
        testing::sign(testing::read_bytes(GUFUNC_TEST_MODULES "/hand_one.so"));
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    std::vector<Elf64_Phdr> segments(header.e_phnum);
    const size_t size = segments.size() * sizeof(Elf64_Phdr);
    std::memcpy(segments.data(), bytes.data() + header.e_phoff, size);
    uint64_t address = 0, left = kSize + (shared ? uint64_t{32} << 20 : 0);
    for (Elf64_Phdr &segment : segments) {
      if (segment.p_type != PT_LOAD) continue;
      segment.p_offset = 0;
      segment.p_vaddr = address;
      segment.p_filesz = segment.p_memsz = std::min(left, kSize);
      address += segment.p_memsz;
      left -= segment.p_memsz;
    }
    std::memcpy(bytes.data() + header.e_phoff, segments.data(), size);
    EXPECT_TRUE(holds_within_limits([&bytes, shared] {
      Budget budget;
      const bool good = budget.keeps(bytes, kSize);
      std::printf("%s, %.3f s\n", budget.message().c_str(), budget.seconds());
      const char *const expected = shared ? "the end of another's" : "its digest differs";
      return good && budget.message().find(expected) != std::string::npos;
    })) << shared;
  }
}

// The rows of these tables share texts and loops, so reading the expanded tables would take years.
TEST(ModuleBudget, TablesThatShareTheirTexts) {
  for (const char *const variant : {"many_loops", "many_rules", "many_kernels"}) {
    const std::vector<char> bytes = testing::sign(
        testing::read_bytes(GUFUNC_TEST_MODULES "/hand_" + std::string(variant) + ".so"));
    EXPECT_TRUE(holds_within_limits([&] {
      Budget budget;
      const bool good = budget.keeps(bytes);
      std::printf("%s, %zu bytes: ", variant, bytes.size());
      budget.report();
      return good && budget.message().find("fewer rows and shorter texts") != std::string::npos;
    })) << variant;
  }
}

}  // namespace
}  // namespace gufunc::module
