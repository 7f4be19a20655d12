// SPDX-License-Identifier: Apache-2.0
// Provides a handwritten call view for tests of components that need no pipeline.
#ifndef GUFUNC_TESTS_UNIT_CALL_VIEW_SAMPLE_H
#define GUFUNC_TESTS_UNIT_CALL_VIEW_SAMPLE_H

#include <memory>
#include <string>
#include <vector>

#include "core/op/call_view.h"
#include "tests/support/fresh_error.h"
#include "tests/support/operands.h"

namespace gufunc {

// Describes an operand whose values are not read: its address is only a number.
inline View shaped(std::vector<int64_t> shape, std::vector<int64_t> strides = {},
                   guf_dtype dtype = GUF_F64, uint64_t address = 0x10000) {
  return {dtype, reinterpret_cast<const void *>(address), std::move(shape), std::move(strides), 0};
}

// Describes an output for the call to allocate. It has no dtype.
inline View missing_operand() {
  return shaped({}, {}, 0);
}

// Owns all data that the call view borrows. An empty signature makes an elementwise function with
// `nin` inputs; the other operands are outputs.
class CallViewSample {
 public:
  CallViewSample(const std::string &name, const std::string &signature, const std::string &rules,
                 int32_t nin, std::vector<View> operands)
      : operands_(std::move(operands)), view_(new op::CallView) {
    ufunc_.name = name;
    status = signature.empty()
                 ? op::make_elementwise(nin, static_cast<int32_t>(operands_.size()) - nin, nullptr,
                                        0, &ufunc_.signature, &error)
                 : op::parse_signature(signature, rules, nullptr, 0, &ufunc_.signature, &error);
    args.struct_size = sizeof args;
    view_->ufunc = &ufunc_;
    view_->noperands = static_cast<int32_t>(operands_.size());
    view_->nseparate = 0;
    view_->has_where = false;
    view_->args = &args;
    view_->casting = GUF_CASTING_SAME_KIND;
    view_->stream = nullptr;
    view_->device = nullptr;
    for (size_t i = 0; i < operands_.size(); ++i) fill(&operands_[i], &view_->operand[i]);
  }

  void set_where(View mask) {
    where_ = std::move(mask);
    fill(&where_, &view_->where);
    view_->has_where = true;
  }

  op::CallView &view() { return *view_; }
  op::Ufunc &ufunc() { return ufunc_; }

  guf_call_args args = {};
  guf_error error = fresh_error();
  guf_status status = GUF_OK;  // result of parsing the signature

 private:
  static void fill(View *from, op::OperandView *to) {
    const bool missing = from->dtype == 0;
    if (missing) from->dtype = GUF_F64;
    if (from->strides.empty()) {
      from->strides.resize(from->shape.size());
      int64_t stride = dtype::itemsize(from->dtype);
      for (size_t k = from->shape.size(); k-- > 0;) {
        from->strides[k] = stride;
        stride *= from->shape[k];
      }
    }
    to->layout = {from->dtype, static_cast<int32_t>(from->shape.size()), from->shape.data(),
                  from->strides.data(), reinterpret_cast<uint64_t>(from->data)};
    to->span = missing ? array::ByteSpan{0, 0} : array::span_of(to->layout);
    to->flags = missing ? static_cast<uint32_t>(op::kMissing) : 0U;
    to->kind = missing ? GUF_OPERAND_NONE : GUF_OPERAND_TENSOR;
    to->device = nullptr;
    to->array = nullptr;
  }

  op::Ufunc ufunc_;
  std::vector<View> operands_;
  View where_;
  std::unique_ptr<op::CallView> view_;
};

}  // namespace gufunc

#endif  // GUFUNC_TESTS_UNIT_CALL_VIEW_SAMPLE_H
