// SPDX-License-Identifier: Apache-2.0
// Provides a call with operands of given dtypes and no memory, for tests of type resolution.
#ifndef GUFUNC_TESTS_UNIT_RESOLVE_TYPED_CALL_H
#define GUFUNC_TESTS_UNIT_RESOLVE_TYPED_CALL_H

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "core/op/ufunc_registry.h"
#include "core/resolve/resolve.h"
#include "tests/support/fresh_error.h"

namespace gufunc::resolve {

// Operands are letters: the letter of a dtype, or '1', '.' and 'j' for a weak int, float and
// complex, or '_' for an output to allocate.
class TypedCall {
 public:
  TypedCall(std::string_view ufunc, std::string_view operands,
            int casting = GUF_CASTING_SAME_KIND) {
    EXPECT_EQ(op::Context::process().find(ufunc, &ufunc_, nullptr), GUF_OK) << ufunc;
    args_.struct_size = sizeof args_;
    view_->ufunc = ufunc_.get();
    view_->args = &args_;
    view_->casting = casting;
    view_->noperands = ufunc_->noperands();
    for (int i = 0; i < view_->noperands; ++i) {
      set(i, static_cast<size_t>(i) < operands.size() ? operands[static_cast<size_t>(i)] : '_');
    }
  }

  TypedCall &dtype(char letter) {
    args_.dtype = dtype::from_letter(letter);
    return *this;
  }
  // Passes signature= with one letter per operand; '_' means an unspecified dtype.
  TypedCall &signature(std::string_view letters) {
    for (size_t i = 0; i < letters.size(); ++i) types_[i] = dtype::from_letter(letters[i]);
    args_.signature = types_;
    args_.nsignature = static_cast<int32_t>(letters.size());
    return *this;
  }
  TypedCall &weak_int(int i, int64_t value) {
    view_->operand[i].kind = GUF_OPERAND_WEAK_INT;
    view_->operand[i].value[0] = static_cast<uint64_t>(value);
    return *this;
  }
  TypedCall &huge_int(int i, uint64_t magnitude, uint64_t flags) {
    view_->operand[i].kind = GUF_OPERAND_WEAK_INT_HUGE;
    view_->operand[i].value[0] = magnitude;
    view_->operand[i].value[1] = flags;
    return *this;
  }
  TypedCall &swapped(int i) {
    view_->operand[i].flags |= op::kSwapped;
    return *this;
  }
  TypedCall &weak_float(int i, double value) {
    view_->operand[i].kind = GUF_OPERAND_WEAK_FLOAT;
    std::memcpy(view_->operand[i].value, &value, sizeof value);
    return *this;
  }

  guf_status choose() { return resolve::choose(*view_, &choice_, &error_); }

  op::CallView &view() { return *view_; }
  op::OperandView &operand(int i) { return view_->operand[i]; }
  const Choice &choice() const { return choice_; }
  const guf_error &error() const { return error_; }
  std::string loop() const {
    std::string letters;
    for (int i = 0; i < view_->noperands; ++i) {
      letters += dtype::letter(choice_.loop->types[static_cast<size_t>(i)]);
    }
    return letters;
  }
  // Returns the converted value of a weak operand.
  template <class T>
  T value(int i) {
    T result;
    std::memcpy(&result, reinterpret_cast<const void *>(view_->operand[i].layout.address),
                sizeof result);
    return result;
  }

 private:
  void set(int i, char letter) {
    op::OperandView &operand = view_->operand[i];
    operand = {};
    const size_t weak = std::string_view("1.j").find(letter);
    if (letter == '_') {
      operand.flags = op::kMissing;
    } else if (weak == std::string_view::npos) {
      operand.kind = GUF_OPERAND_TENSOR;
      operand.layout.dtype = dtype::from_letter(letter);
    } else {
      operand.flags = op::kScalar;
      operand.value[0] = 1;
      operand.kind = weak == 0   ? GUF_OPERAND_WEAK_INT
                     : weak == 1 ? GUF_OPERAND_WEAK_FLOAT
                                 : GUF_OPERAND_WEAK_COMPLEX;
    }
  }

  base::Ref<op::Ufunc> ufunc_;
  guf_call_args args_ = {};
  guf_dtype types_[GUF_MAX_OPERANDS] = {};
  std::unique_ptr<op::CallView> view_ = std::make_unique<op::CallView>();
  Choice choice_ = {};
  guf_error error_ = fresh_error();
};

}  // namespace gufunc::resolve

#endif  // GUFUNC_TESTS_UNIT_RESOLVE_TYPED_CALL_H
