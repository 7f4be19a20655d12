// SPDX-License-Identifier: Apache-2.0
// Tests the loops of a ufunc: their order, duplicates, and the destroy callbacks.
#include <gtest/gtest.h>

#include "core/dtype/dtype.h"
#include "core/op/ufunc.h"
#include "tests/support/fresh_error.h"

namespace gufunc::op {
namespace {

int ndestroyed = 0;
void count_destroy(void *user) {
  ndestroyed += *static_cast<int *>(user);
}

class UfuncLoops : public testing::Test {
 protected:
  void SetUp() override {
    ndestroyed = 0;
    ufunc_ = base::Ref<Ufunc>::adopt(new Ufunc);
    ufunc_->name = ufunc_->full_name = "twice";
    ASSERT_EQ(make_elementwise(1, 1, nullptr, 0, &ufunc_->signature, nullptr), GUF_OK);
  }
  void TearDown() override {
    collect();
    base::run_callbacks(0);
  }
  std::unique_ptr<Loop> loop(const char *letters, uint32_t flags = 0) {
    auto made = std::make_unique<Loop>();
    for (size_t i = 0; letters[i] != '\0'; ++i) made->types[i] = dtype::from_letter(letters[i]);
    made->user = &weight_;
    made->destroy = count_destroy;
    made->flags = flags;
    return made;
  }
  void collect() {
    ufunc_ = {};
    base::collect();
  }

  int weight_ = 1;
  base::Ref<Ufunc> ufunc_;
};

TEST_F(UfuncLoops, StayInOrder) {
  ASSERT_EQ(ufunc_->add_loop(loop("dd"), nullptr), GUF_OK);
  const LoopList &before = ufunc_->loops();
  ASSERT_EQ(ufunc_->add_loop(loop("ff"), nullptr), GUF_OK);
  EXPECT_EQ(before.loops.size(), 1U);  // a running call keeps its list of loops
  ASSERT_EQ(ufunc_->loops().loops.size(), 2U);
  EXPECT_EQ(ufunc_->loops().loops[1]->types[0], guf_dtype{GUF_F32});
}

TEST_F(UfuncLoops, RefuseEqualInputs) {
  guf_error error = fresh_error();
  ASSERT_EQ(ufunc_->add_loop(loop("ff"), nullptr), GUF_OK);
  EXPECT_EQ(ufunc_->add_loop(loop("fd"), &error), GUF_E_EXISTS);
  EXPECT_STREQ(error.message,
               "ufunc 'twice' has a loop for these input types already: f->f, requested f->d");
  std::vector<std::unique_ptr<Loop>> loops;
  loops.push_back(loop("dd"));
  loops.push_back(loop("df"));
  EXPECT_EQ(ufunc_->add_loops(std::move(loops), nullptr), GUF_E_EXISTS);
  EXPECT_EQ(ufunc_->loops().loops.size(), 1U);  // either all loops are added or none
  collect();
  base::run_callbacks(0);
  EXPECT_EQ(ndestroyed, 1);  // called only for the loop that was added
}

TEST_F(UfuncLoops, DestroyWaitsForThePoll) {
  ASSERT_EQ(ufunc_->add_loop(loop("ff"), nullptr), GUF_OK);
  collect();
  EXPECT_EQ(ndestroyed, 0);
  EXPECT_EQ(base::run_callbacks(0), 1U);
  EXPECT_EQ(ndestroyed, 1);
}

TEST_F(UfuncLoops, DestroyOnAnyThreadRunsAtOnce) {
  ASSERT_EQ(ufunc_->add_loop(loop("ff", GUF_LOOP_ANY_THREAD), nullptr), GUF_OK);
  collect();
  EXPECT_EQ(ndestroyed, 1);
  EXPECT_EQ(base::run_callbacks(0), 0U);
}

}  // namespace
}  // namespace gufunc::op
