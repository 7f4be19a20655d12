// SPDX-License-Identifier: Apache-2.0
// Tests which files ElfFile accepts and rejects, and that no corrupted file causes an out-of-bounds
// read.
#include "core/base/elf_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/fresh_error.h"
#include "tests/unit/elf_sample.h"

namespace gufunc::base {
namespace {

using testing::as_bytes;
using testing::ElfSample;

ElfSample good() {
  return ElfSample(7, {1, 2, 3, 4, 5});
}

TEST(ElfFile, FindsLoadsInFileOrderAndTheNote) {
  const auto bytes = good().bytes();
  ElfFile file;
  ASSERT_EQ(ElfFile::open(as_bytes(bytes), &file, nullptr), GUF_OK);
  ASSERT_EQ(file.loads().size(), 2u);
  EXPECT_EQ(file.loads()[0].offset, 0u);
  EXPECT_EQ(file.loads()[1].size, 100u);

  FileRange found;
  ASSERT_TRUE(file.find_note("gufunc", 7, &found));
  EXPECT_EQ(found.offset, ElfSample::kNoteOffset + sizeof(Elf64_Nhdr) + 8);
  EXPECT_EQ(found.size, 5u);
  EXPECT_EQ(bytes[found.offset], 1);
  EXPECT_FALSE(file.find_note("gufunc", 8, &found));
  EXPECT_FALSE(file.find_note("gufun", 7, &found));
  EXPECT_FALSE(file.find_note("gufunc2", 7, &found));
}

struct Refused {
  const char *name;
  std::function<void(ElfSample &)> damage;
  const char *message;
};
void PrintTo(const Refused &row, std::ostream *os) {
  *os << row.name;
}

const Refused kRefused[] = {
    {"Magic", [](ElfSample &e) { e.header.e_ident[1] = 'e'; }, "magic"},
    {"Class32", [](ElfSample &e) { e.header.e_ident[EI_CLASS] = ELFCLASS32; }, "class"},
    {"BigEndian", [](ElfSample &e) { e.header.e_ident[EI_DATA] = ELFDATA2MSB; }, "byte order"},
    {"Version", [](ElfSample &e) { e.header.e_version = 2; }, "version"},
    {"Executable", [](ElfSample &e) { e.header.e_type = ET_EXEC; }, "type"},
    {"OtherMachine", [](ElfSample &e) { e.header.e_machine = EM_S390; }, "machine"},
    {"HeaderSize", [](ElfSample &e) { e.header.e_ehsize = 52; }, "header size"},
    {"SegmentSize", [](ElfSample &e) { e.header.e_phentsize = 32; }, "program header size"},
    {"NoSegments", [](ElfSample &e) { e.header.e_phnum = 0; }, "program headers"},
    {"TooManySegments", [](ElfSample &e) { e.header.e_phnum = 65; }, "program headers"},
    {"SegmentsOutside", [](ElfSample &e) { e.header.e_phoff = 4000; }, "outside"},
    {"SegmentOffsetWraps", [](ElfSample &e) { e.header.e_phoff = ~0ull - 8; }, "outside"},
    {"LoadOutside", [](ElfSample &e) { e.segments[0].p_filesz = 4000; }, "past the end"},
    {"LoadWraps", [](ElfSample &e) { e.segments[0].p_filesz = ~0ull; }, "past the end"},
    {"NoteOutside", [](ElfSample &e) { e.segments[1].p_offset = 4000; }, "past the end"},
    {"MemoryBelowFile", [](ElfSample &e) { e.segments[0].p_memsz = 1; }, "in memory"},
    {"NothingToLoad", [](ElfSample &e) { e.segments[0].p_type = e.segments[2].p_type = PT_NULL; },
     "loadable segments"},
};

class ElfRefused : public ::testing::TestWithParam<Refused> {};

TEST_P(ElfRefused, NamesTheField) {
  ElfSample sample = good();
  GetParam().damage(sample);
  const auto bytes = sample.bytes();
  guf_error error = fresh_error();
  ElfFile file;
  EXPECT_EQ(ElfFile::open(as_bytes(bytes), &file, &error), GUF_E_BAD_FILE);
  EXPECT_THAT(error.message, ::testing::HasSubstr(GetParam().message));
  EXPECT_TRUE(file.loads().empty());
}
INSTANTIATE_TEST_SUITE_P(Rows, ElfRefused, ::testing::ValuesIn(kRefused),
                         [](const auto &row) { return row.param.name; });

TEST(ElfFile, MalformedNotesAreNotFound) {
  for (const uint32_t size : {~0u, ~0u - 3, 64u}) {
    auto bytes = good().bytes();
    for (const size_t field : {0u, 4u}) {  // offsets of n_namesz and n_descsz
      auto damaged = bytes;
      std::memcpy(damaged.data() + ElfSample::kNoteOffset + field, &size, sizeof(size));
      ElfFile file;
      ASSERT_EQ(ElfFile::open(as_bytes(damaged), &file, nullptr), GUF_OK);
      FileRange found;
      EXPECT_FALSE(file.find_note("gufunc", 7, &found));
    }
  }
}

// A file that is truncated or has one changed byte is accepted or rejected without an out-of-bounds
// read. AddressSanitizer detects such a read because the copy is exactly as long as the file.
TEST(ElfFile, SurvivesEveryTruncationAndEveryChangedByte) {
  const auto bytes = good().bytes();
  auto probe = [](const std::vector<uint8_t> &damaged) {
    ElfFile file;
    if (ElfFile::open(as_bytes(damaged), &file, nullptr) != GUF_OK) return false;
    FileRange found;
    if (file.find_note("gufunc", 7, &found)) {
      EXPECT_LE(found.offset, damaged.size());
      EXPECT_LE(found.size, damaged.size() - found.offset);
    }
    return true;
  };
  size_t opened = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    opened += probe(std::vector<uint8_t>(bytes.begin(), bytes.begin() + static_cast<long>(size)));
  }
  EXPECT_EQ(opened, good().tail.size());  // only bytes after all segments may be missing
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      auto damaged = bytes;
      damaged[at] = static_cast<uint8_t>(value);
      probe(damaged);
    }
  }
}

}  // namespace
}  // namespace gufunc::base
