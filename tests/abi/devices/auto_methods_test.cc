// SPDX-License-Identifier: Apache-2.0
// Tests methods on device auto. A method runs on the host if its operands are in host memory, and
// otherwise on the device.
#include "auto_fixture.h"
#include "tests/support/requests.h"

namespace device_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class AutoMethods : public Auto {
 protected:
  AutoMethods() {
    accumulate_.struct_size = sizeof accumulate_;
    accumulate_.options.device = auto_;
    at_.struct_size = sizeof at_;
    at_.options.device = auto_;
    reduce_.struct_size = sizeof reduce_;
    reduce_.options.device = auto_;
  }
  guf_operand indices(std::vector<int64_t> values) {
    lists_.push_back(std::move(values));
    std::vector<double> none;
    const guf_operand operand = here(none, {static_cast<int64_t>(lists_.back().size())});
    tensors_.back().address = reinterpret_cast<uint64_t>(lists_.back().data());
    tensors_.back().dtype = GUF_I64;
    return operand;
  }
  template <class Args, class Query>
  std::string answer(Query query, const char *name, const Args &args) {
    std::string text(8192, '\0');
    uint64_t length = text.size();
    EXPECT_EQ(query(find(name), &args, text.data(), &length, &error_), GUF_OK) << error_.message;
    text.resize(length - 1);
    return text;
  }
  std::string kept() const {
    return on_cpu() ? "device auto is cpu: the host itself"
                    : "device auto is " + there() + ": not used, as the host is faster";
  }

  std::vector<double> x_ = {1, 2, 3, 4}, out_ = {0, 0, 0, 0};
  std::list<std::vector<int64_t>> lists_;
  guf_reduce_args reduce_ = {};
  guf_accumulate_args accumulate_ = {};
  guf_at_args at_ = {};
};

TEST_P(AutoMethods, Reduce) {
  guf_operand input = here(x_), output = {};
  reduce_.input = &input;
  reduce_.output = &output;
  EXPECT_EQ(line_of(answer(requests::explain_reduce, "add", reduce_), "device auto"), kept());
  ASSERT_EQ(guf_reduce(find("add"), &reduce_, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(keep(output.array)), "cpu");
  EXPECT_FALSE(ran_on_device());
  const guf_array there = filled(device(0), 4, 3);
  ran_on_device();
  input = operand_of(there);
  output = {};
  ASSERT_EQ(guf_reduce(find("add"), &reduce_, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(keep(output.array)), this->there());
  EXPECT_THAT(values(output.array), ElementsAre(12.0F));
  EXPECT_EQ(ran_on_device(), !on_cpu());
}

TEST_P(AutoMethods, ReduceOnAStream) {
  guf_operand input = here(x_), output = here(out_, {});
  reduce_.input = &input;
  reduce_.output = &output;
  reduce_.options.stream = stream(auto_);
  ASSERT_EQ(guf_reduce(find("add"), &reduce_, &error_), GUF_OK) << error_.message;
  synchronize(reduce_.options.stream);
  EXPECT_EQ(out_[0], 10);
  EXPECT_EQ(ran_on_device(), !on_cpu());
}

TEST_P(AutoMethods, AccumulateAndReduceat) {
  guf_operand input = here(x_), output = here(out_);
  accumulate_.input = &input;
  accumulate_.output = &output;
  EXPECT_EQ(line_of(answer(requests::explain_accumulate, "add", accumulate_), "device auto"),
            kept());
  ASSERT_EQ(guf_accumulate(find("add"), &accumulate_, &error_), GUF_OK) << error_.message;
  EXPECT_THAT(out_, ElementsAre(1, 3, 6, 10));
  guf_operand places = indices({0, 2});
  std::vector<double> two(2);
  output = here(two);
  accumulate_.indices = &places;
  EXPECT_EQ(line_of(answer(requests::explain_reduceat, "add", accumulate_), "device auto"), kept());
  ASSERT_EQ(guf_reduceat(find("add"), &accumulate_, &error_), GUF_OK) << error_.message;
  EXPECT_THAT(two, ElementsAre(3, 7));
  EXPECT_FALSE(ran_on_device());
}

TEST_P(AutoMethods, Outer) {
  std::vector<double> table(16);
  guf_call_args *const args = ready({here(x_), here(x_)}, {here(table, {4, 4})});
  EXPECT_EQ(line_of(answer(requests::explain_outer, "multiply", *args), "device auto"), kept());
  ASSERT_EQ(guf_outer(find("multiply"), args, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(table[15], 16);
  EXPECT_FALSE(ran_on_device());
  const guf_array there = filled(device(0), 4, 3);
  ran_on_device();
  ASSERT_EQ(
      guf_outer(find("multiply"), ready({operand_of(there), operand_of(there)}, {{}}), &error_),
      GUF_OK)
      << error_.message;
  EXPECT_EQ(place_of(keep(outputs_[0].array)), this->there());
  EXPECT_EQ(ran_on_device(), !on_cpu());
}

TEST_P(AutoMethods, At) {
  guf_operand array = here(x_), operand = here(out_, {1});
  out_[0] = 10;
  guf_operand places = indices({1, 1});
  at_.array = &array;
  at_.operand = &operand;
  at_.indices = &places;
  at_.nindices = 1;
  EXPECT_EQ(line_of(answer(requests::explain_at, "add", at_), "device auto"), kept());
  ASSERT_EQ(guf_at(find("add"), &at_, &error_), GUF_OK) << error_.message;
  EXPECT_THAT(x_, ElementsAre(1, 22, 3, 4));
  EXPECT_FALSE(ran_on_device());
  const guf_array there = filled(device(0), 4, 3);
  ran_on_device();
  array = operand_of(there);
  operand = scalar_of(1);
  ASSERT_EQ(guf_at(find("add"), &at_, &error_), GUF_OK) << error_.message;
  EXPECT_THAT(values(there), ElementsAre(3, 5, 3, 3));
  EXPECT_EQ(ran_on_device(), !on_cpu());
}

// The functions of a user-defined accumulator run as separate calls.
TEST_P(AutoMethods, ReduceStates) {
  guf_operand input = here(x_), outputs[2] = {};
  reduce_.input = &input;
  reduce_.outputs = outputs;
  reduce_.noutputs = 2;
  EXPECT_EQ(line_of(answer(requests::explain_reduce, "auto_both:range_of", reduce_), "device auto"),
            kept());
  ASSERT_EQ(guf_reduce(find("auto_both:range_of"), &reduce_, &error_), GUF_OK) << error_.message;
  for (const guf_operand &output : outputs) EXPECT_EQ(place_of(keep(output.array)), "cpu");
  EXPECT_FALSE(ran_on_device());
  guf_array moved = nullptr;
  ASSERT_EQ(guf_array_wrap(input.tensor, nullptr, nullptr, 0, &moved, &error_), GUF_OK);
  keep(moved);
  guf_array there = nullptr;
  ASSERT_EQ(guf_array_to_device(moved, auto_, nullptr, &there, &error_), GUF_OK);
  keep(there);
  ran_on_device();
  input = operand_of(there);
  outputs[0] = outputs[1] = {};
  ASSERT_EQ(guf_reduce(find("auto_both:range_of"), &reduce_, &error_), GUF_OK) << error_.message;
  for (const guf_operand &output : outputs) EXPECT_EQ(place_of(keep(output.array)), this->there());
  EXPECT_EQ(ran_on_device(), !on_cpu());
}

// Type resolution has the same result for every placement.
TEST_P(AutoMethods, Resolve) {
  guf_operand input = here(x_), output = {};
  reduce_.input = &input;
  reduce_.output = &output;
  guf_resolution resolution = {};
  resolution.struct_size = sizeof resolution;
  ASSERT_EQ(requests::resolve_reduce(find("add"), &reduce_, &resolution, &error_), GUF_OK);
  EXPECT_EQ(resolution.output_ndims[0], 0);
  double one = 1;
  ASSERT_EQ(
      requests::resolve_call(
          find("matmul"), ready({stretched(one, {3000, 3000}), stretched(one, {3000, 3000})}, {{}}),
          &resolution, &error_),
      GUF_OK)
      << error_.message;
  EXPECT_EQ(resolution.output_shapes[0][1], 3000);
  EXPECT_FALSE(ran_on_device());
}

INSTANTIATE_TEST_SUITE_P(On, AutoMethods, testing::Values(chosen()), name_of);

}  // namespace
}  // namespace device_test
