// SPDX-License-Identifier: Apache-2.0
// Tests modules that are opened from files: which modules run, whether an old and a new version of
// a file can be open at the same time, and when a mapping ends.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "core/module/module.h"
#include "tests/support/fresh_error.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/module/module_files.h"

namespace gufunc::module {
namespace {

using ::testing::HasSubstr;
using testing::read_bytes;
using testing::replace_file;
using testing::sign;
using testing::write_bytes;
using ModuleRef = base::Ref<Module>;

std::vector<char> hand(const std::string &variant) {
  return sign(read_bytes(GUFUNC_TEST_MODULES "/hand_" + variant + ".so"));
}

std::string temporary(const char *name) {
  static const TemporaryFolder folder;
  return folder.path() / name;
}

// Runs the host loop of a handwritten module.
int32_t answer_of(const Module &module) {
  int32_t result = 0;
  char *args[] = {reinterpret_cast<char *>(&result)};
  const int64_t dims[] = {1}, steps[] = {4};
  const guf_module_image &host = module.table().images[0];
  reinterpret_cast<guf_loop_numpy>(host.entries[0])(args, dims, steps, nullptr);
  return result;
}

ino_t inode_of(const std::string &path) {
  struct stat status = {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_ino;
}

bool is_mapped(const std::string &path) {
  const std::vector<char> maps = read_bytes("/proc/self/maps");
  return std::string_view(maps.data(), maps.size()).find(path) != std::string_view::npos;
}

class OpenModule : public ::testing::Test {
 protected:
  void SetUp() override {
    base::collect();  // removes mappings that this test would share with earlier tests
  }
  ModuleRef open(const std::string &path, uint32_t flags = 0) {
    ModuleRef module;
    EXPECT_EQ(open_module(path.c_str(), flags, &module, &error_), GUF_OK) << error_.message;
    return module;
  }
  guf_status refusal(const std::string &variant, uint32_t flags = 0) {
    const std::string path = temporary("refused.so");
    replace_file(path, hand(variant));
    ModuleRef module;
    const guf_status status = open_module(path.c_str(), flags, &module, &error_);
    EXPECT_FALSE(module);
    return status;
  }
  guf_error error_ = fresh_error();
};

TEST_F(OpenModule, OfGufcc) {
  const ModuleRef module = open(GUFUNC_TEST_MODULES "/tiny.so");
  EXPECT_STREQ(module->table().name, "tiny");
  EXPECT_EQ(module->table().nfunctions, 1u);
  EXPECT_STREQ(module->table().functions[0].name, "triple");
}

TEST_F(OpenModule, RunsItsHostCode) {
  const std::string path = temporary("run.so");
  replace_file(path, hand("one"));
  EXPECT_EQ(answer_of(*open(path)), 1);
}

TEST_F(OpenModule, ARebuiltFileIsTheNewOneWhileTheOldOneRuns) {
  const std::string path = temporary("rebuilt.so");
  replace_file(path, hand("one"));
  const ModuleRef before = open(path);
  replace_file(path, hand("two"));
  const ModuleRef after = open(path);
  EXPECT_EQ(answer_of(*before), 1);
  EXPECT_EQ(answer_of(*after), 2);
  EXPECT_FALSE(after->is_same_as(*before));
  EXPECT_TRUE(after->is_same_as(*open(path)));
}

TEST_F(OpenModule, AFileOverwrittenInPlaceLeavesTheLoadedOneAlone) {
  const std::string path = temporary("overwritten.so");
  const std::vector<char> one = hand("one"), two = hand("two");
  write_bytes(path, one);
  const ModuleRef before = open(path);
  const ino_t inode = inode_of(path);
  write_bytes(path, two);
  ASSERT_EQ(inode_of(path), inode) << "the file was not overwritten in place";
  const ModuleRef after = open(path);
  EXPECT_EQ(answer_of(*before), 1);
  EXPECT_STREQ(before->table().functions[0].doc, "the answer");
  EXPECT_EQ(answer_of(*after), 2);
  EXPECT_EQ(after->table().functions[0].flags, uint32_t{GUF_FUNCTION_COMMUTATIVE});
}

// If the loader mapped the file directly, an access beyond the file's new end would end the
// process.
TEST_F(OpenModule, AFileCutOffAfterwardsLeavesTheLoadedOneAlone) {
  const std::string path = temporary("cut_off.so");
  for (const uint32_t flags : {0U, uint32_t{GUF_MODULE_DATA_ONLY}}) {
    replace_file(path, hand("one"));
    const ModuleRef module = open(path, flags);
    ASSERT_EQ(truncate(path.c_str(), 0), 0);
    if (flags == 0) {
      EXPECT_EQ(answer_of(*module), 1);
    }
    EXPECT_STREQ(module->table().functions[0].doc, "the answer");
  }
}

TEST_F(OpenModule, OneContentIsMappedOnceWhateverItsFiles) {
  const std::string first = temporary("original.so"), second = temporary("copy.so");
  replace_file(first, hand("one"));
  replace_file(second, hand("one"));
  const ModuleRef one = open(first), two = open(second);
  EXPECT_EQ(&one->table(), &two->table());
  EXPECT_EQ(one->path(), first);
  EXPECT_EQ(two->path(), second);
}

// Users find the mapping by its path in /proc/PID/maps and in debuggers.
TEST_F(OpenModule, TheMappingIsNamedByThePath) {
  const std::string folder = temporary("folder_") + std::string(120, 'f') + "/";
  const std::string path = folder + std::string(120, 'n') + ".so";
  std::filesystem::create_directories(folder);
  replace_file(path, hand("one"));
  const ModuleRef module = open(path);
  EXPECT_TRUE(is_mapped(path.substr(path.size() - 249)));
  std::filesystem::remove_all(folder);
}

TEST_F(OpenModule, ASmallFileSizeLimitIsAnErrorNotASignal) {
  const std::string path = temporary("limited.so");
  replace_file(path, hand("one"));
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 100;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  ModuleRef module;
  EXPECT_EQ(open_module(path.c_str(), 0, &module, &error_), GUF_E_IO);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(error_.message, HasSubstr("cannot make a sealed copy of " + path));
}

// A change that makes the load segments of a module invalid: a segment is too large, overlaps
// another segment, or has an invalid alignment.
struct Claim {
  const char *name;
  void (*spoil)(std::vector<Elf64_Phdr> &loads);
  const char *text;
};

void PrintTo(const Claim &claim, std::ostream *out) {
  *out << claim.name;
}

class OpenModuleClaims : public OpenModule, public ::testing::WithParamInterface<Claim> {};

const Claim kClaims[] = {
    {"TwoGigabytes", [](auto &loads) { loads.back().p_memsz = uint64_t{2} << 30; },
     "requests too much memory; a segment of 2147483648 bytes"},
    {"JustTooMuch", [](auto &loads) { loads.back().p_memsz = (64 << 20) + (64 << 10); },
     "requests too much memory"},
    {"AllThereIs", [](auto &loads) { loads.back().p_memsz = UINT64_MAX; }, "too much memory"},
    {"FarAway", [](auto &loads) { loads.back().p_vaddr += uint64_t{1} << 40; }, "too much memory"},
    {"AtTheEndOfMemory", [](auto &loads) { loads.back().p_vaddr |= ~uint64_t{0xFFF}; },
     "too much memory"},
    {"OverAnother", [](auto &loads) { loads.back().p_vaddr = loads.front().p_vaddr; },
     "a segment begins at address"},
    {"OddAlignment", [](auto &loads) { loads.back().p_align = 4097; }, "a power of two"},
    {"HugeAlignment", [](auto &loads) { loads.back().p_align = uint64_t{1} << 40; },
     "a power of two up to 0x200000"},
    {"OtherPlaceInThePage", [](auto &loads) { loads.back().p_vaddr += 8; },
     "the same place in a page"},
};

TEST_P(OpenModuleClaims, AreRefusedBeforeAnythingIsMapped) {
  std::vector<char> bytes = hand("hostile");  // the constructor of this module ends the process
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::vector<Elf64_Phdr> all(header.e_phnum), loads;
  std::memcpy(all.data(), bytes.data() + header.e_phoff, all.size() * sizeof(Elf64_Phdr));
  for (const Elf64_Phdr &segment : all) {
    if (segment.p_type == PT_LOAD) loads.push_back(segment);
  }
  GetParam().spoil(loads);
  auto changed = loads.begin();
  for (Elf64_Phdr &segment : all) {
    if (segment.p_type == PT_LOAD) segment = *changed++;
  }
  std::memcpy(bytes.data() + header.e_phoff, all.data(), all.size() * sizeof(Elf64_Phdr));
  const std::string path = temporary("claims.so");
  replace_file(path, sign(bytes));
  for (const uint32_t flags : {0U, uint32_t{GUF_MODULE_DATA_ONLY}}) {
    ModuleRef module;
    EXPECT_EQ(open_module(path.c_str(), flags, &module, &error_), GUF_E_BAD_FILE);
    EXPECT_THAT(error_.message, HasSubstr(GetParam().text));
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, OpenModuleClaims, ::testing::ValuesIn(kClaims),
                         [](const auto &row) { return std::string(row.param.name); });

TEST_F(OpenModule, ManyFilesThroughOneDescriptorNumber) {
  // The dynamic loader identifies libraries by name. Both files are opened under the same name
  // /proc/self/fd/N.
  const std::string first = temporary("first.so"), second = temporary("second.so");
  replace_file(first, hand("one"));
  replace_file(second, hand("two"));
  const ModuleRef one = open(first), two = open(second);
  EXPECT_EQ(answer_of(*one), 1);
  EXPECT_EQ(answer_of(*two), 2);
}

TEST_F(OpenModule, IsUnmappedWhenNothingKeepsIt) {
  const std::string path = temporary("unmapped.so");
  replace_file(path, hand("one"));
  ModuleRef module = open(path);
  ModuleRef again = open(path);
  EXPECT_TRUE(is_mapped(path));
  module = ModuleRef();
  base::collect();
  EXPECT_TRUE(is_mapped(path));
  again = ModuleRef();
  base::collect();
  EXPECT_FALSE(is_mapped(path));
}

TEST_F(OpenModule, AsDataRunsNothing) {
  const std::string path = temporary("hostile.so");
  replace_file(path, hand("hostile"));  // the constructor of this module ends the process
  const ModuleRef module = open(path, GUF_MODULE_DATA_ONLY);
  const guf_module_v1 &table = module->table();
  EXPECT_STREQ(table.name, "hand");
  EXPECT_STREQ(table.functions[0].name, "answer");
  EXPECT_EQ(table.functions[0].loops[0].types[0], guf_dtype{GUF_I32});
  ASSERT_EQ(table.nimages, 1u) << "no host image";
  EXPECT_STREQ(table.images[0].target, "sm_90");
  ASSERT_EQ(table.images[0].size, 3u);
  EXPECT_EQ(static_cast<const unsigned char *>(table.images[0].data)[2], 3);
  EXPECT_FALSE(is_mapped(path));
}

TEST_F(OpenModule, AsDataOfGufcc) {
  const ModuleRef module = open(GUFUNC_TEST_MODULES "/tiny.so", GUF_MODULE_DATA_ONLY);
  EXPECT_STREQ(module->table().functions[0].name, "triple");
  EXPECT_EQ(module->table().nimages, 0u);
}

TEST_F(OpenModule, NothingOfADamagedFileRuns) {
  std::vector<char> bytes = hand("hostile");
  const std::string text = "the answer";
  const auto place = std::search(bytes.begin(), bytes.end(), text.begin(), text.end());
  ASSERT_NE(place, bytes.end());
  *place = 'T';
  const std::string path = temporary("damaged.so");
  replace_file(path, bytes);
  ModuleRef module;
  EXPECT_EQ(open_module(path.c_str(), 0, &module, &error_), GUF_E_BAD_FILE);
  EXPECT_THAT(error_.message, HasSubstr("its digest differs"));
}

TEST_F(OpenModule, WrongTablesAreRefused) {
  EXPECT_EQ(refusal("other_abi"), GUF_E_ABI);
  EXPECT_THAT(error_.message, HasSubstr("kernel ABI: expected 1, got 9"));
  EXPECT_EQ(refusal("no_table"), GUF_E_BAD_FILE);
  EXPECT_THAT(error_.message, HasSubstr("exports no gufunc_module_v1"));
  EXPECT_EQ(refusal("no_table", GUF_MODULE_DATA_ONLY), GUF_E_BAD_FILE);
  EXPECT_EQ(refusal("bad_name"), GUF_E_BAD_FILE);
  EXPECT_THAT(error_.message, HasSubstr("name: expected [A-Za-z_]"));
  EXPECT_EQ(refusal("bad_name", GUF_MODULE_DATA_ONLY), GUF_E_BAD_FILE);
  EXPECT_EQ(refusal("stray_entry"), GUF_E_BAD_FILE);
  EXPECT_THAT(error_.message, HasSubstr("an entry: expected a function of the module"));
}

TEST_F(OpenModule, FilesThatAreNone) {
  ModuleRef module;
  EXPECT_EQ(open_module("/nonexistent.so", 0, &module, &error_), GUF_E_IO);
  EXPECT_EQ(open_module("/dev/zero", 0, &module, &error_), GUF_E_IO);
  EXPECT_EQ(open_module("/", 0, &module, &error_), GUF_E_IO);
  EXPECT_EQ(open_module("", 0, &module, &error_), GUF_E_IO);
  EXPECT_EQ(open_module("/proc/self/exe", 0, &module, &error_), GUF_E_BAD_FILE);
}

TEST_F(OpenModule, RegistersOncePerContext) {
  const std::string path = temporary("registered.so");
  replace_file(path, hand("one"));
  const auto context = base::Ref<op::Context>::adopt(new op::Context);
  ModuleRef first, second, third;
  ASSERT_EQ(register_module(*context, open(path), &first, &error_), GUF_OK) << error_.message;
  ASSERT_EQ(register_module(*context, open(path), &second, &error_), GUF_OK);
  EXPECT_EQ(first.get(), second.get());
  base::Ref<op::Ufunc> ufunc;
  ASSERT_EQ(context->find("hand:answer", &ufunc, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(ufunc->loops().loops.size(), 1u);

  replace_file(path, hand("two"));
  EXPECT_EQ(register_module(*context, open(path), &third, &error_), GUF_E_EXISTS);
  EXPECT_THAT(error_.message, HasSubstr("another module named 'hand' is loaded already"));

  // The ufunc keeps the module alive. After both are released, the name can be used again.
  first = second = ModuleRef();
  base::collect();
  EXPECT_EQ(context->find("hand:answer", &ufunc, &error_), GUF_OK);
  ufunc = base::Ref<op::Ufunc>();
  base::collect();
  base::collect();
  EXPECT_EQ(context->find("hand:answer", &ufunc, &error_), GUF_E_NOT_FOUND);
  EXPECT_EQ(register_module(*context, open(path), &third, &error_), GUF_OK) << error_.message;
}

TEST_F(OpenModule, ItsKernelsAreLoopsOfOtherUfuncs) {
  const std::string path = temporary("kernels.so");
  replace_file(path, hand("one"));
  const ModuleRef module = open(path);
  op::Ufunc ufunc;
  ufunc.full_name = "mine";
  ASSERT_EQ(op::make_elementwise(0, 1, nullptr, 0, &ufunc.signature, nullptr), GUF_OK);
  const guf_dtype i32 = GUF_I32, i64 = GUF_I64;
  std::unique_ptr<op::Loop> loop;
  ASSERT_EQ(make_loop(module, ufunc, "answer", &i32, &loop, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(loop->owner.get(), module.get());
  EXPECT_EQ(make_loop(module, ufunc, "absent", &i32, &loop, &error_), GUF_E_NOT_FOUND);
  EXPECT_EQ(make_loop(module, ufunc, "answer", &i64, &loop, &error_), GUF_E_NOT_FOUND);
  ASSERT_EQ(op::make_elementwise(1, 1, nullptr, 0, &ufunc.signature, nullptr), GUF_OK);
  const guf_dtype two[] = {GUF_I32, GUF_I32};
  EXPECT_EQ(make_loop(module, ufunc, "answer", two, &loop, &error_), GUF_E_SIGNATURE);
}

}  // namespace
}  // namespace gufunc::module
