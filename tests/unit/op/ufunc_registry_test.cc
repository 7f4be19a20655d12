// SPDX-License-Identifier: Apache-2.0
// Tests contexts: the standard library, the names of programs and modules, and the lifetime of
// modules.
#include "core/op/ufunc_registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "core/dtype/dtype.h"
#include "core/op/nearest_name.h"
#include "tests/support/fresh_error.h"

namespace gufunc::op {
namespace {

// The number of functions in the standard library.
constexpr size_t kStandard = 0
#define GUF_OP(name, nin, nout, signature, identity, flags, loops, doc) +1
#define GUF_OP_REDUCTION(name, nin, nout, signature, flags, loops, merge, finish, doc) +1
#include <gufunc/ops.def>
    ;

using base::Ref;

// A module as the registry sees it: an object that owns its registration.
class FakeModule final : public base::Object {
 public:
  explicit FakeModule(int *ndead) : Object(base::Kind::kModule), ndead_(ndead) {}
  ~FakeModule() override { ++*ndead_; }
  ModuleRegistration registration;

 private:
  int *ndead_;
};

const guf_dtype kTypes[] = {GUF_F32, GUF_F32};
const guf_module_loop kLoops[] = {{kTypes, "ew_f_f", 0, GUF_LOOP_NUMPY}};

guf_module_function function(const char *name, const char *signature = nullptr) {
  guf_module_function made = {};
  made.name = name;
  made.signature = signature;
  made.nin = made.nout = 1;
  made.nloops = 1;
  made.loops = kLoops;
  return made;
}

class UfuncRegistry : public testing::Test {
 protected:
  guf_module_v1 table(const char *name, const std::vector<guf_module_function> &functions) {
    guf_module_v1 made = {};
    made.struct_size = sizeof made;
    made.name = name;
    made.nfunctions = static_cast<uint32_t>(functions.size());
    made.functions = functions.data();
    return made;
  }
  void TearDown() override {
    context_ = {};
    collect();
  }
  Ref<FakeModule> add(const guf_module_v1 &from, guf_status expected = GUF_OK) {
    auto module = Ref<FakeModule>::adopt(new FakeModule(&ndead_));
    EXPECT_EQ(context_->add_module(from, module.get(), &module->registration, &error_), expected)
        << error_.message;
    return module;
  }
  Ref<Ufunc> find(const char *name, guf_status expected = GUF_OK) {
    Ref<Ufunc> found;
    EXPECT_EQ(context_->find(name, &found, &error_), expected) << name << ": " << error_.message;
    return found;
  }
  static void collect() {
    base::collect();
    base::collect();  // collects objects that the first call released
  }

  int ndead_ = 0;  // outlives every module, because TearDown collects modules
  guf_error error_ = fresh_error();
  Ref<Context> context_ = Ref<Context>::adopt(new Context);
};

TEST_F(UfuncRegistry, HasTheStandardLibrary) {
  const std::vector<std::string> names = context_->names();
  EXPECT_EQ(names.size(), kStandard);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  const Ref<Ufunc> add = find("add");
  EXPECT_EQ(add->nin(), 2);
  EXPECT_EQ(add->identity, GUF_IDENTITY_ZERO);
  EXPECT_EQ(add->loops().loops.size(), 18U);
  const Ref<Ufunc> matmul = find("matmul");
  EXPECT_EQ(matmul->signature.text, "(n?,k),(k,m?)->(n?,m?)");
  EXPECT_EQ(find("true_divide").get(), find("divide").get());
  EXPECT_EQ(find("abs").get(), find("absolute").get());
  for (const std::string &name : names) {
    const Ref<Ufunc> ufunc = find(name.c_str());
    EXPECT_FALSE(ufunc->loops().loops.empty()) << name;
    EXPECT_FALSE(ufunc->doc.empty()) << name;
    EXPECT_EQ(ufunc->noperands(), ufunc->nin() + ufunc->nout());
    for (const Loop *loop : ufunc->loops().loops) {
      for (int i = 0; i < ufunc->noperands(); ++i) {
        EXPECT_TRUE(dtype::valid(loop->types[static_cast<size_t>(i)])) << name;
      }
      EXPECT_EQ(loop->types[static_cast<size_t>(ufunc->noperands())], 0U) << name;
    }
  }
}

TEST_F(UfuncRegistry, SuggestsTheNearestName) {
  find("sqrr", GUF_E_NOT_FOUND);
  EXPECT_STREQ(error_.message, "no ufunc named 'sqrr'; did you mean 'sqrt'?");
  find("Maximun", GUF_E_NOT_FOUND);
  EXPECT_STREQ(error_.message, "no ufunc named 'Maximun'; did you mean 'maximum'?");
  EXPECT_EQ(name_advice("isnan", {"isnat"}),
            "; NumPy has it, but this version of the library does not");
  find("sum", GUF_E_NOT_FOUND);
  EXPECT_STREQ(error_.message, "no ufunc named 'sum'; it is 'reduce' of 'add'");
  find("frobnicate", GUF_E_NOT_FOUND);
  EXPECT_STREQ(error_.message, "no ufunc named 'frobnicate'");
  find("", GUF_E_NOT_FOUND);
  find(std::string(5000, 'x').c_str(), GUF_E_NOT_FOUND);
}

TEST_F(UfuncRegistry, KeepsUfuncsOfPrograms) {
  auto made = Ref<Ufunc>::adopt(new Ufunc);
  made->name = made->full_name = "mine";
  ASSERT_EQ(context_->add(made, &error_), GUF_OK);
  EXPECT_EQ(find("mine").get(), made.get());
  EXPECT_EQ(context_->add(made, &error_), GUF_E_EXISTS);
  made->full_name = "abs";
  EXPECT_EQ(context_->add(made, &error_), GUF_E_EXISTS);  // an alias also occupies its name
  EXPECT_EQ(context_->names().size(), kStandard + 1);
  const Ref<Context> other = Ref<Context>::adopt(new Context);
  Ref<Ufunc> found;
  EXPECT_EQ(other->find("mine", &found, nullptr), GUF_E_NOT_FOUND);
  EXPECT_EQ(other->find("add", &found, nullptr), GUF_OK);
  EXPECT_NE(found.get(), find("add").get());  // each context has its own ufuncs
}

TEST_F(UfuncRegistry, FindsModulesByFullAndShortNames) {
  const std::vector<guf_module_function> one = {function("twice"), function("add")};
  const std::vector<guf_module_function> two = {function("twice"), function("thrice")};
  const guf_module_v1 table_a = table("a", one);
  const guf_module_v1 table_b = table("b", two);
  const Ref<FakeModule> a = add(table_a);
  EXPECT_EQ(find("twice")->full_name, "a:twice");
  EXPECT_EQ(find("add")->full_name, "add");  // full names take precedence over short names
  EXPECT_EQ(find("a:add")->full_name, "a:add");
  const Ref<FakeModule> b = add(table_b);
  find("twice", GUF_E_NOT_FOUND);
  EXPECT_NE(std::string(error_.message).find("'a:twice', 'b:twice'"), std::string::npos);
  EXPECT_EQ(find("b:twice").get(), find("b:twice").get());
  EXPECT_EQ(find("thrice")->full_name, "b:thrice");
  find("b:twicf", GUF_E_NOT_FOUND);
  EXPECT_STREQ(error_.message, "no ufunc named 'b:twicf'; did you mean 'b:twice'?");
  add(table_a, GUF_E_EXISTS);
  EXPECT_EQ(context_->find_module("b").get(), b.get());
  EXPECT_FALSE(context_->find_module("c"));
}

TEST_F(UfuncRegistry, AddsAllOrNothing) {
  const std::vector<guf_module_function> twice = {function("f"), function("f")};
  const guf_module_v1 repeated = table("a", twice);
  add(repeated, GUF_E_EXISTS);
  const std::vector<guf_module_function> broken = {function("f"), function("g", "(n")};
  const guf_module_v1 malformed = table("a", broken);
  add(malformed, GUF_E_SIGNATURE);
  EXPECT_EQ(context_->names().size(), kStandard);
  find("a:f", GUF_E_NOT_FOUND);
}

TEST_F(UfuncRegistry, ModuleDiesWithItsLastHandle) {
  const std::vector<guf_module_function> functions = {function("twice")};
  const guf_module_v1 from = table("a", functions);
  Ref<FakeModule> module = add(from);
  Ref<Ufunc> ufunc = find("a:twice");
  module = {};
  collect();
  EXPECT_EQ(ndead_, 0);  // the ufunc keeps the module alive
  EXPECT_EQ(find("twice").get(), ufunc.get());
  EXPECT_EQ(context_->names().size(), kStandard + 1);
  ufunc = {};
  find("nothing", GUF_E_NOT_FOUND);  // a look-up does not revive the module
  collect();
  EXPECT_EQ(ndead_, 1);
  find("a:twice", GUF_E_NOT_FOUND);
  EXPECT_EQ(context_->names().size(), kStandard);
  module = add(from);  // the name is free again
  EXPECT_EQ(find("a:twice")->loops().loops.size(), 1U);
}

TEST_F(UfuncRegistry, ContextIsReleasedFirst) {
  const std::vector<guf_module_function> functions = {function("twice")};
  const guf_module_v1 from = table("a", functions);
  Ref<FakeModule> module = add(from);
  Ref<Ufunc> ufunc = find("a:twice");
  context_ = {};
  collect();
  module = {};
  EXPECT_EQ(ufunc->loops().loops.size(), 1U);
  ufunc = {};
  collect();
  EXPECT_EQ(ndead_, 1);
}

TEST_F(UfuncRegistry, ThreadsShareIt) {
  const std::vector<guf_module_function> functions = {function("twice")};
  const guf_module_v1 from = table("a", functions);
  const Ref<FakeModule> module = add(from);
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) {
    threads.emplace_back([this, id] {
      for (int i = 0; i < 200; ++i) {
        Ref<Ufunc> found;
        ASSERT_EQ(context_->find("twice", &found, nullptr), GUF_OK);
        found = {};
        auto made = Ref<Ufunc>::adopt(new Ufunc);
        made->full_name = "u" + std::to_string(id) + "_" + std::to_string(i);
        ASSERT_EQ(context_->add(made, nullptr), GUF_OK);
        base::collect();
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(context_->names().size(), kStandard + 1 + 800);
}

}  // namespace
}  // namespace gufunc::op
