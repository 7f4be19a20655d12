// SPDX-License-Identifier: Apache-2.0
// Makes valid arguments for methods. The methods run on the array of the fixture, and their results
// overwrite the elements of this array.
#include <cstring>

#include "misuse_fixture.h"

namespace misuse {
namespace {

const int64_t kColumns = 3;
const int64_t kIndices[] = {0, 1};
const int64_t kIndexCount = 2;
const guf_tensor kIndexTensor = {
    sizeof kIndexTensor, GUF_I64, 1,      0, reinterpret_cast<uint64_t>(&kIndices[0]),
    &kIndexCount,        nullptr, nullptr};
const guf_operand kIndexOperand = {GUF_OPERAND_TENSOR, 0, 0, 0, nullptr, &kIndexTensor, {0, 0}};
const guf_operand kOne = {GUF_OPERAND_WEAK_INT, 0, 0, 0, nullptr, nullptr, {1, 0}};

}  // namespace

void Fixture::make_method_args() {
  row_ = {sizeof row_, GUF_F64, 1,      0, reinterpret_cast<uint64_t>(&data_[0]),
          &kColumns,   nullptr, nullptr};
  row_output_ = {GUF_OPERAND_TENSOR, 0, 0, 0, nullptr, &row_, {0, 0}};
  reduce_args_.struct_size = sizeof reduce_args_;
  reduce_args_.input = &inputs_[0];
  reduce_args_.output = &row_output_;
  accumulate_args_.struct_size = sizeof accumulate_args_;
  accumulate_args_.input = &inputs_[0];
  accumulate_args_.output = &outputs_[0];
  at_args_.struct_size = sizeof at_args_;
  at_args_.array = &inputs_[0];
  at_args_.indices = &kOne;
  at_args_.nindices = 1;
  at_args_.operand = &kOne;
}

unsigned char *Fixture::struct_buffer(const std::string &name) {
  return name == "guf_chunk_options" ? options_buffer_ : struct_buffer_;
}

void Fixture::fill_options() {
  const guf_chunk_options options = {sizeof options, 0, 8, 2, 0, 0, nullptr, nullptr};
  std::memset(options_buffer_, 0, sizeof options_buffer_);
  std::memcpy(options_buffer_, &options, sizeof options);
}

void Fixture::fill_method_args(const std::string &name, const std::string &function) {
  accumulate_args_.indices = function.ends_with("_reduceat") ? &kIndexOperand : nullptr;
  if (name == "guf_reduce_args") std::memcpy(struct_buffer_, &reduce_args_, sizeof reduce_args_);
  if (name == "guf_accumulate_args") {
    std::memcpy(struct_buffer_, &accumulate_args_, sizeof accumulate_args_);
  }
  if (name == "guf_at_args") std::memcpy(struct_buffer_, &at_args_, sizeof at_args_);
  if (name == "guf_request") {
    guf_request request = {};
    request.struct_size = sizeof request;
    request.operation = GUF_OPERATION_CALL;
    request.call = &args_;
    std::memcpy(struct_buffer_, &request, sizeof request);
  }
}

}  // namespace misuse
