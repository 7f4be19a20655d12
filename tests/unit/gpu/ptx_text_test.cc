// SPDX-License-Identifier: Apache-2.0
// Tests excerpts of PTX: the excerpt of an entry contains the definitions that the entry
// references, directly or indirectly, and no other definitions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backends/gpu/geometry/ptx_text.h"

namespace gufunc::gpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Result = PtxText::Result;

int64_t allocations_left = -1;  // number of allocations that succeed, or -1 for all

constexpr guf_host_api kHost = {sizeof(guf_host_api),
                                GUF_BACKEND_ABI_MINOR,
                                nullptr,
                                nullptr,
                                [](void *, size_t size, size_t) {
                                  if (allocations_left == 0) return static_cast<void *>(nullptr);
                                  if (allocations_left > 0) --allocations_left;
                                  return std::malloc(size);
                                },
                                [](void *, void *memory) { std::free(memory); },
                                nullptr};

class PtxExcerpt : public ::testing::Test {
 protected:
  PtxExcerpt() { set_host(&kHost); }
  ~PtxExcerpt() override { allocations_left = -1; }
};

constexpr char kHead[] = "//\n// Generated\n//\n.version 6.3\n.target sm_75\n.address_size 64\n";

// Two entries that share one function, and one independent entry.
const std::string kModule =
    std::string(kHead) +
    ".weak .func (.param .b32 result) shared(\n\t.param .b32 shared_param_0\n)\n;\n"
    ".extern .shared .align 16 .b8 block[];\n"
    ".global .align 4 .b8 __const_$_table[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n"
    ".const .align 4 .b8 other_table[4] = {1, 2, 3, 4};\n"
    ".global .align 4 .b8 third_table_$_const[4] = {1, 2, 3, 4};\n"
    "/* .entry not_there() { } */\n"
    ".visible .entry first_row(\n\t.param .u64 first_row_param_0\n)\n.maxntid 256, 1, 1 // }\n{\n"
    "\t.reg .b32 %r<2>;\n\t.pragma \"nounroll } // \";\n"
    "\t{ // call\n\tcall.uni (retval0), shared, (param0);\n\t}\n\tret; /* } */\n}\n"
    ".visible .entry second_row()\n{\n\tmov.u64 %rd1, block; // lone\n\tret;\n}\n"
    ".weak .func (.param .b32 result) shared(\n\t.param .b32 shared_param_0\n)\n{\n"
    "\tld.global.u32 %r1, [__const_$_table+4];\n"
    "\tld.global.u32 %r1, [third_table_$_const];\n\tret;\n}\n"
    ".visible .entry lone() .minnctapersm 1 { ret; }";

Result open(PtxText &text, const std::string &module) {
  return text.open(module.data(), module.size());
}

std::string excerpt_of(const std::string &module, const std::vector<std::string_view> &entries) {
  PtxText text;
  if (open(text, module) != Result::kText) return "not understood";
  HostArray<char> out;
  const Result result = text.excerpt(entries.data(), entries.size(), &out);
  return result == Result::kText ? out.data() : "whole";
}

TEST_F(PtxExcerpt, ExcerptsContainReachableItemsInOrder) {
  const std::string text = excerpt_of(kModule, {"first_row"});
  EXPECT_EQ(text.substr(0, sizeof kHead - 2), std::string(kHead, sizeof kHead - 2));
  const size_t prototype = text.find(".weak .func"), table = text.find("__const_$_table[8] = {1"),
               entry = text.find(".visible .entry first_row("), body = text.rfind(".weak .func");
  EXPECT_LT(prototype, table);
  EXPECT_LT(table, entry);
  EXPECT_LT(entry, body);
  ASSERT_NE(body, std::string::npos);
  EXPECT_THAT(text, HasSubstr("ret; /* } */\n}\n"));
  for (const char *const unused : {"second_row", "lone", "block", "other_table", "not_there"}) {
    EXPECT_THAT(text, Not(HasSubstr(unused)));
  }
}

TEST_F(PtxExcerpt, CommentsNameNothing) {
  const std::string text = excerpt_of(kModule, {"second_row"});
  EXPECT_THAT(text, HasSubstr(".extern .shared .align 16 .b8 block[];"));
  EXPECT_THAT(text, Not(HasSubstr(".entry lone")));
}

TEST_F(PtxExcerpt, SeveralEntriesShareReachableItems) {
  const std::string text = excerpt_of(kModule, {"lone", "first_row", "first_row", "missing"});
  EXPECT_THAT(text, HasSubstr("lone() .minnctapersm 1 { ret; }\n"));
  EXPECT_EQ(text.find(".entry first_row"), text.rfind(".entry first_row"));
}

TEST_F(PtxExcerpt, FindsItsEntries) {
  PtxText text;
  ASSERT_EQ(open(text, kModule), Result::kText);
  EXPECT_STREQ(text.whole(), kModule.c_str());
  EXPECT_TRUE(text.has_entry("second_row"));
  for (const char *const name : {"shared", "block", "not_there", "", "second_ro", "second_row_"}) {
    EXPECT_FALSE(text.has_entry(name)) << name;
  }
}

TEST_F(PtxExcerpt, AProbeIsTheHeadAndOneEntry) {
  PtxText text;
  HostArray<char> probe;
  ASSERT_EQ(open(text, kModule), Result::kText);
  ASSERT_EQ(text.probe(&probe), Result::kText);
  EXPECT_EQ(std::string(probe.data()),
            std::string(kHead) + ".visible .entry guf_probe()\n{\n\tret;\n}\n");
}

// If two kernels of a module write to the same variable, they must share the memory of the
// variable. An excerpt with one of the kernels would have its own variable, so both kernels need
// the whole module.
TEST_F(PtxExcerpt, AWriteToAVariableRequiresTheWholeModule) {
  const char *const variables[] = {
      ".global .u32 counter;", ".global .u32 counter = 1;", ".visible .global .u32 counter = 1;",
      ".extern .global .align 4 .u32 counter;", ".global .align 8 .u64 counter[] = {other, lone};",
      // The name of a constant table in an initializer does not make the variable itself constant.
      ".global .u32 counter_$_const;\n.global .u32 counter = 1;",
      ".global .u32 __cudart_state;\n.global .u64 counter = __cudart_state;",
      ".visible .global .u32 __const_$_state = 1;\n.global .u64 counter = __const_$_state;"};
  for (const char *const variable : variables) {
    const std::string module = std::string(kHead) + variable +
                               "\n.func write()\n{\n\tst.global.u32 [counter+0], 1;\n\tret;\n}\n"
                               ".entry writes()\n{\n\tcall.uni write, ();\n\tret;\n}\n"
                               ".entry lone()\n{\n\tret;\n}\n.func other()\n{\n\tret;\n}\n";
    EXPECT_EQ(excerpt_of(module, {"writes"}), "whole") << variable;
    EXPECT_THAT(excerpt_of(module, {"lone"}), HasSubstr(".entry lone")) << variable;
  }
}

TEST_F(PtxExcerpt, InitialisersNameFunctions) {
  const std::string module = std::string(kHead) +
                             ".func chosen()\n{\n\tret;\n}\n.func never()\n{\n\tret;\n}\n"
                             ".const .u64 functions[1] = {chosen};\n"
                             ".entry calls()\n{\n\tld.const.u64 %rd1, [functions];\n\tret;\n}\n";
  const std::string text = excerpt_of(module, {"calls"});
  EXPECT_THAT(text, HasSubstr(".func chosen"));
  EXPECT_THAT(text, Not(HasSubstr(".func never")));
}

TEST_F(PtxExcerpt, UnknownSyntaxIsLoadedAsAWhole) {
  const std::string entry = ".visible .entry f()\n{\n\tret;\n}\n";
  const std::vector<std::string> texts = {
      "",
      " ",
      ".",
      ".version",
      ".version 6.3",
      "\x7f"
      "ELF",
      kHead,                                    // module without definitions
      ".target sm_75\n.version 6.3\n" + entry,  // directives in the wrong order
      kHead + entry + ".file 1 \"f.cu\"\n",     // debugging information
      kHead + entry + ".section .debug_info\n{\n.b8 1\n}\n",
      kHead + entry + ".alias f, g;\n",
      kHead + entry + ".version 7.0\n" + entry,
      kHead + std::string(".global .u32 a, b;\n") + entry,  // two names in one declaration
      kHead + std::string(".global .attribute(.managed) .u32 a;\n") + entry,
      kHead + std::string(".global .u32;\n") + entry,
      kHead + std::string(".entry 1f()\n{\n}\n"),
      kHead + std::string(".entry f()\n{\n"),  // no closing brace
      kHead + std::string(".entry f(\n"),
      kHead + std::string(".entry f()\n}\n"),
      kHead + std::string(".entry f()\n{\n/* }\n"),
      kHead + std::string(".entry f()\n{\n\"}\n"),
      kHead + std::string(".entry f()\n{\n\"\\\"\"}\n"),  // string with an escape sequence
      kHead + std::string(".entry"),
      kHead + std::string(".func ("),
      kHead + std::string(".visible"),
      kHead + std::string("#line 1\n") + entry,
      kHead + std::string("}"),
      kHead + entry + "{" + entry + "}",
  };
  for (const std::string &module : texts) {
    PtxText text;
    EXPECT_EQ(open(text, module), Result::kWhole) << module;
  }
}

TEST_F(PtxExcerpt, DeepNestingIsRead) {
  const std::string module = std::string(kHead) + ".entry deep()\n" + std::string(200000, '{') +
                             std::string(200000, '}') + "\n.entry f() { ret; }\n";
  EXPECT_THAT(excerpt_of(module, {"f"}), Not(HasSubstr("deep")));
  EXPECT_GT(excerpt_of(module, {"deep"}).size(), 400000u);
}

// The buffers are exactly as long as the text, so AddressSanitizer detects a read beyond the text.
// An excerpt of a corrupted text is at most about twice as long as the text.
TEST_F(PtxExcerpt, EveryPrefixAndEveryDamagedTextIsReadWithinItsBounds) {
  for (size_t size = 0; size <= kModule.size(); ++size) {
    for (const char damage : {'\0', '{', '}', '"', '/', '.', ';', '(', '\n', '*'}) {
      const auto block = std::make_unique<char[]>(size + 1);
      std::memcpy(block.get(), kModule.data(), size);
      // '\0' stands for no replacement: the text is only truncated. Any other byte replaces the
      // last character of the truncated text.
      if (size != 0 && damage != '\0') block[size - 1] = damage;
      const auto exact = std::make_unique<char[]>(size == 0 ? 1 : size);
      std::memcpy(exact.get(), block.get(), size);
      PtxText text;
      if (text.open(exact.get(), size) != Result::kText) continue;
      const std::string_view entries[] = {"first_row", "second_row", "lone"};
      HostArray<char> out;
      if (text.excerpt(entries, 3, &out) == Result::kText) {
        EXPECT_LE(std::strlen(out.data()), 2 * size + 2);
      }
    }
  }
}

TEST_F(PtxExcerpt, MemoryThatIsOutIsReported) {
  constexpr std::string_view kEntries[] = {"first_row"};
  int64_t allowed = 0;
  for (;; ++allowed) {
    allocations_left = allowed;
    PtxText text;
    HostArray<char> out, probe;
    Result result = open(text, kModule);
    if (result == Result::kText) result = text.probe(&probe);
    if (result == Result::kText) result = text.excerpt(kEntries, 1, &out);
    if (result == Result::kText) break;
    ASSERT_EQ(result, Result::kNoMemory) << allowed;
  }
  EXPECT_EQ(allowed, 7);
}

TEST_F(PtxExcerpt, TheTextEndsAtItsFirstNulByte) {
  std::string module = kModule;
  module += '\0';
  module += "garbage {";
  PtxText text;
  ASSERT_EQ(open(text, module), Result::kText);
  EXPECT_EQ(std::strlen(text.whole()), kModule.size());
}

}  // namespace
}  // namespace gufunc::gpu
