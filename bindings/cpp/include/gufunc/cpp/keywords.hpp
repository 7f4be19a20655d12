// SPDX-License-Identifier: Apache-2.0
// Keywords of calls and methods: NumPy's keywords, and keywords that select the device, the stream
// and the number of threads.
#ifndef GUFUNC_CPP_KEYWORDS_HPP
#define GUFUNC_CPP_KEYWORDS_HPP

#include <gufunc/methods.h>
#include <gufunc/cpp/array.hpp>

#include <memory>
#include <string>
#include <vector>

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

constexpr uint32_t kAllFpFlags =
    GUF_FP_DIVIDE | GUF_FP_OVERFLOW | GUF_FP_UNDERFLOW | GUF_FP_INVALID | GUF_FP_INTEGER_DIVIDE;

// Keywords of calls and of all methods. Each function sets one keyword and returns the object:
// `CallKeywords().on(device).casting(GUF_CASTING_UNSAFE)`.
template <class Self>
class CommonKeywords {
 public:
  Self &on(Device device) {
    device_ = device;
    return self();
  }
  // Queues the work on the stream; see Stream::synchronize.
  Self &on(const Stream &stream) {
    stream_ = stream;
    return self();
  }
  // The maximum number of threads that the cpu backend uses. With 0, the backend decides.
  Self &threads(uint32_t count) {
    threads_ = count;
    return self();
  }
  // If a floating-point flag in `which` (guf_fp_flag) is raised, sets its bit in the word at
  // `fp_flags`. The word must stay valid until the work is complete.
  Self &report_fp_flags(uint32_t *fp_flags, uint32_t which = kAllFpFlags) {
    fp_flags_ = fp_flags;
    report_ = which;
    return self();
  }
  // The floating-point flags (guf_fp_flag) that make the call fail with GUF_E_FLOATING_POINT.
  Self &fail_on(uint32_t which) {
    fail_ = which;
    return self();
  }

 protected:
  template <class Args>
  void write_common(Args &args) const {
    args.options.device = device_.get();
    args.options.stream = stream_.get();
    args.options.threads = threads_;
    args.options.fp_flags = fp_flags_;
    args.options.fp_report = report_;
    args.options.fp_fail = fail_;
  }

 private:
  Self &self() { return static_cast<Self &>(*this); }
  Device device_;
  Stream stream_;
  uint32_t threads_ = 0, report_ = 0, fail_ = 0;
  uint32_t *fp_flags_ = nullptr;
};

// Keywords of calls, outer, plans and chunked calls.
class CallKeywords : public CommonKeywords<CallKeywords> {
 public:
  // Where the mask is false, the elements of outputs keep their values.
  CallKeywords &where(Operand mask) {
    where_ = std::move(mask);
    return *this;
  }
  CallKeywords &casting(int32_t rule) {
    casting_ = rule;
    return *this;
  }
  // The memory layout of allocated outputs, a guf_order.
  CallKeywords &order(int32_t order) {
    order_ = order;
    return *this;
  }
  // The dtype that the loop's outputs must have.
  CallKeywords &dtype(DType dtype) {
    dtype_ = dtype;
    return *this;
  }
  // Dtypes of all inputs and outputs; DType() means any.
  CallKeywords &signature(std::initializer_list<DType> types) {
    return signature(std::vector<DType>(types));
  }
  CallKeywords &signature(const std::vector<DType> &types) {
    signature_.assign(types.begin(), types.end());
    return *this;
  }
  // The axes of the core dimensions of each operand, inputs first. The entries of outputs may be
  // omitted if the signature has no core dimensions in outputs.
  CallKeywords &axes(std::vector<Ints> entries) {
    axes_ = std::make_shared<const CoreAxes>(std::move(entries));
    return *this;
  }
  CallKeywords &axis(int64_t axis) {
    axis_ = axis;
    has_axis_ = true;
    return *this;
  }
  CallKeywords &keepdims(bool yes = true) {
    keepdims_ = yes;
    return *this;
  }
  // The size of a core dimension that occurs only in outputs.
  CallKeywords &dim(std::string name, int64_t size) {
    names_.push_back(std::make_shared<const std::string>(std::move(name)));
    dims_.push_back({names_.back()->c_str(), size});
    return *this;
  }
  // Selects which operands in host memory may be copied to the device. `policy` is a
  // guf_host_policy.
  CallKeywords &host_policy(int32_t policy) {
    host_policy_ = policy;
    return *this;
  }

  // Sets all fields of `args` except the operands. The pointers in `args` are valid while this
  // object lives and is not moved. Concurrent calls of several threads may share one object.
  void write(guf_call_args &args) const {
    write_common(args);
    if (!where_.is_none()) args.where = &where_.c_operand();
    args.casting = casting_;
    args.order = order_;
    args.dtype = dtype_;
    args.signature = signature_.empty() ? nullptr : signature_.data();
    args.nsignature = static_cast<int32_t>(signature_.size());
    if (axes_) axes_->write(args);
    args.axis = has_axis_ ? &axis_ : nullptr;
    args.dims = dims_.empty() ? nullptr : dims_.data();
    args.ndims = static_cast<int32_t>(dims_.size());
    args.host_policy = host_policy_;
    args.flags = keepdims_ ? GUF_CALL_KEEPDIMS : 0;
  }

 private:
  // The entries that axes() received, and their C structures.
  class CoreAxes {
   public:
    explicit CoreAxes(std::vector<Ints> entries) : entries_(std::move(entries)) {
      for (const Ints &entry : entries_) c_entries_.push_back({entry.data(), entry.count(), 0});
    }
    CoreAxes(const CoreAxes &) = delete;
    CoreAxes &operator=(const CoreAxes &) = delete;
    void write(guf_call_args &args) const {
      // The address of an empty list is not NULL, so that the library reports an error.
      static constexpr guf_core_axes kNone = {};
      args.axes = c_entries_.empty() ? &kNone : c_entries_.data();
      args.naxes = static_cast<int32_t>(c_entries_.size());
    }

   private:
    std::vector<Ints> entries_;
    std::vector<guf_core_axes> c_entries_;  // points to entries_
  };

  Operand where_;
  int32_t casting_ = GUF_CASTING_DEFAULT, order_ = GUF_ORDER_KEEP, host_policy_ = GUF_HOST_DEFAULT;
  guf_dtype dtype_ = 0;
  bool has_axis_ = false, keepdims_ = false;
  int64_t axis_ = 0;
  std::vector<guf_dtype> signature_;
  std::shared_ptr<const CoreAxes> axes_;                   // shared with copies of this object
  std::vector<std::shared_ptr<const std::string>> names_;  // the strings to which dims_ points;
                                                           // shared with copies of this object
  std::vector<guf_dim> dims_;
};

// Keywords of reduce. By default, axis 0 is reduced, as in NumPy.
class ReduceKeywords : public CommonKeywords<ReduceKeywords> {
 public:
  ReduceKeywords &axis(int64_t axis) { return axes({axis}); }
  // With an empty list no axis is reduced.
  ReduceKeywords &axes(Ints axes) {
    axes_ = std::move(axes);
    axis_selection_ = AxisSelection::kGiven;
    return *this;
  }
  ReduceKeywords &all_axes() {
    axis_selection_ = AxisSelection::kAll;
    return *this;
  }
  // The initial value of every result, a number or a 0-d operand. Operand() means that there is no
  // initial value.
  ReduceKeywords &initial(Operand value) {
    initial_ = std::move(value);
    has_initial_ = true;
    return *this;
  }
  ReduceKeywords &where(Operand mask) {
    where_ = std::move(mask);
    return *this;
  }
  // The parameters of a reduction with a user-defined accumulator, such as ddof of var. Parameters
  // that are left out are 0.
  ReduceKeywords &parameters(std::vector<Operand> values) {
    parameters_ = std::make_shared<Parameters>(std::move(values));
    return *this;
  }
  ReduceKeywords &dtype(DType dtype) {
    dtype_ = dtype;
    return *this;
  }
  ReduceKeywords &order(int32_t order) {
    order_ = order;
    return *this;
  }
  ReduceKeywords &keepdims(bool yes = true) {
    keepdims_ = yes;
    return *this;
  }
  // Sets all fields of `args` except the operands, as CallKeywords::write does.
  void write(guf_reduce_args &args) const {
    write_common(args);
    if (axis_selection_ == AxisSelection::kGiven) {
      args.axis = axes_.data();
      args.naxis = axes_.count();
    }
    if (axis_selection_ == AxisSelection::kAll) args.naxis = GUF_ALL_AXES;
    if (has_initial_) args.initial = &initial_.c_operand();
    if (!where_.is_none()) args.where = &where_.c_operand();
    if (parameters_) parameters_->write(args);
    args.dtype = dtype_;
    args.order = order_;
    args.flags = keepdims_ ? GUF_CALL_KEEPDIMS : 0;
  }

 private:
  enum class AxisSelection { kDefault, kGiven, kAll };

  // The operands that parameters() received, and their C structures.
  class Parameters {
   public:
    explicit Parameters(std::vector<Operand> values) : values_(std::move(values)) {
      for (const Operand &value : values_) c_values_.push_back(value.c_operand());
    }
    Parameters(const Parameters &) = delete;
    Parameters &operator=(const Parameters &) = delete;
    void write(guf_reduce_args &args) const {
      args.parameters = c_values_.empty() ? nullptr : c_values_.data();
      args.nparameters = static_cast<int32_t>(c_values_.size());
    }

   private:
    std::vector<Operand> values_;
    std::vector<guf_operand> c_values_;  // point to values_
  };

  AxisSelection axis_selection_ = AxisSelection::kDefault;
  Ints axes_;
  Operand initial_, where_;
  std::shared_ptr<const Parameters> parameters_;  // shared with copies of this object
  bool has_initial_ = false, keepdims_ = false;
  guf_dtype dtype_ = 0;
  int32_t order_ = GUF_ORDER_KEEP;
};

// Keywords of accumulate and reduceat.
class AccumulateKeywords : public CommonKeywords<AccumulateKeywords> {
 public:
  AccumulateKeywords &axis(int64_t axis) {
    axis_ = axis;
    return *this;
  }
  AccumulateKeywords &dtype(DType dtype) {
    dtype_ = dtype;
    return *this;
  }
  AccumulateKeywords &order(int32_t order) {
    order_ = order;
    return *this;
  }
  void write(guf_accumulate_args &args) const {
    write_common(args);
    args.axis = axis_;
    args.dtype = dtype_;
    args.order = order_;
  }

 private:
  int64_t axis_ = 0;
  guf_dtype dtype_ = 0;
  int32_t order_ = GUF_ORDER_KEEP;
};

// Keywords of at.
class AtKeywords : public CommonKeywords<AtKeywords> {
 public:
  void write(guf_at_args &args) const { write_common(args); }
};

}  // namespace GUFUNC_CPP_FORM
}  // namespace gufunc

#endif  // GUFUNC_CPP_KEYWORDS_HPP
