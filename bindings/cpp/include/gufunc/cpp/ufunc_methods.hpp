// SPDX-License-Identifier: Apache-2.0
// reduce, accumulate, reduceat and at. Included by ufunc.hpp.
#ifndef GUFUNC_CPP_UFUNC_METHODS_HPP
#define GUFUNC_CPP_UFUNC_METHODS_HPP

#include <gufunc/cpp/ufunc.hpp>

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

namespace detail {

// Arguments of reduce and the operands to which they point.
struct ReduceCall {
  ReduceCall(const Operand &source, const Operand &destination, const ReduceKeywords &keywords) {
    source.write(input);
    destination.write(output);
    args.struct_size = sizeof args;
    args.input = &input;
    args.output = &output;
    keywords.write(args);
  }
  guf_operand input, output;
  guf_reduce_args args = {};
};

// Arguments of accumulate, or of reduceat if there are indices.
struct AccumulateCall {
  AccumulateCall(const Operand &source, const Operand *index_operand, const Operand &destination,
                 const AccumulateKeywords &keywords) {
    source.write(input);
    destination.write(output);
    args.struct_size = sizeof args;
    args.input = &input;
    args.output = &output;
    if (index_operand != nullptr) {
      index_operand->write(indices);
      args.indices = &indices;
    }
    keywords.write(args);
  }
  guf_operand input, indices, output;
  guf_accumulate_args args = {};
};

template <class Function, class Call>
Result<Array> array_of(Function function, guf_ufunc ufunc, Call &call) {
  Record record;
  const guf_status status = function(ufunc, &call.args, record);
  return result(status, record, [&] { return Array(call.output.array); });
}

template <class Function, class Call>
Result<void> into(Function function, guf_ufunc ufunc, Call &call, const Operand &output) {
  if (output.is_none()) return refuse<void>(GUF_E_ARG, kNoOutput);
  Record record;
  return done(function(ufunc, &call.args, record), record);
}

}  // namespace detail

inline Result<Array> Ufunc::reduce(const Operand &input, const ReduceKeywords &keywords) const {
  detail::ReduceCall call(input, Operand(), keywords);
  return detail::array_of(guf_reduce, get(), call);
}

inline Result<void> Ufunc::reduce_into(const Operand &input, const Operand &output,
                                       const ReduceKeywords &keywords) const {
  detail::ReduceCall call(input, output, keywords);
  return detail::into(guf_reduce, get(), call, output);
}

inline Result<std::vector<Array>> Ufunc::reduce_several(const Operand &input,
                                                        const std::vector<Operand> &outputs,
                                                        const ReduceKeywords &keywords) const {
  detail::ReduceCall call(input, Operand(), keywords);
  detail::COperands out(outputs);
  call.args.output = nullptr;
  call.args.outputs = out.data();
  call.args.noutputs = out.count();
  detail::Record record;
  const guf_status status = guf_reduce(get(), &call.args, record);
  return detail::result(status, record, [&] { return detail::allocated(outputs, out); });
}

inline Result<Array> Ufunc::accumulate(const Operand &input,
                                       const AccumulateKeywords &keywords) const {
  detail::AccumulateCall call(input, nullptr, Operand(), keywords);
  return detail::array_of(guf_accumulate, get(), call);
}

inline Result<void> Ufunc::accumulate_into(const Operand &input, const Operand &output,
                                           const AccumulateKeywords &keywords) const {
  detail::AccumulateCall call(input, nullptr, output, keywords);
  return detail::into(guf_accumulate, get(), call, output);
}

inline Result<Array> Ufunc::reduceat(const Operand &input, const Operand &indices,
                                     const AccumulateKeywords &keywords) const {
  detail::AccumulateCall call(input, &indices, Operand(), keywords);
  return detail::array_of(guf_reduceat, get(), call);
}

inline Result<void> Ufunc::reduceat_into(const Operand &input, const Operand &indices,
                                         const Operand &output,
                                         const AccumulateKeywords &keywords) const {
  detail::AccumulateCall call(input, &indices, output, keywords);
  return detail::into(guf_reduceat, get(), call, output);
}

template <class Indices, class Do>
auto Ufunc::with_at(const Operand &array, const Indices &indices, const Operand &operand,
                    const AtKeywords &keywords, Do act) const {
  detail::COperands index_operands(indices);
  guf_operand changed, second;
  array.write(changed);
  operand.write(second);
  guf_at_args args = {};
  args.struct_size = sizeof args;
  args.array = &changed;
  args.indices = index_operands.data();
  args.nindices = index_operands.count();
  args.operand = operand.is_none() ? nullptr : &second;
  keywords.write(args);
  return act(args);
}

// ---- what the methods would do

inline Result<Resolution> Ufunc::resolve_reduce(const Operand &input,
                                                const ReduceKeywords &keywords) const {
  const detail::ReduceCall call(input, Operand(), keywords);
  return detail::resolved(get(), detail::request_of(GUF_OPERATION_REDUCE, call.args), 1);
}

inline Result<std::string> Ufunc::explain_reduce(const Operand &input,
                                                 const ReduceKeywords &keywords) const {
  const detail::ReduceCall call(input, Operand(), keywords);
  return detail::explained(get(), detail::request_of(GUF_OPERATION_REDUCE, call.args));
}

inline Result<Resolution> Ufunc::resolve_accumulate(const Operand &input,
                                                    const AccumulateKeywords &keywords) const {
  const detail::AccumulateCall call(input, nullptr, Operand(), keywords);
  return detail::resolved(get(), detail::request_of(GUF_OPERATION_ACCUMULATE, call.args), 1);
}

inline Result<std::string> Ufunc::explain_accumulate(const Operand &input,
                                                     const AccumulateKeywords &keywords) const {
  const detail::AccumulateCall call(input, nullptr, Operand(), keywords);
  return detail::explained(get(), detail::request_of(GUF_OPERATION_ACCUMULATE, call.args));
}

inline Result<Resolution> Ufunc::resolve_reduceat(const Operand &input, const Operand &indices,
                                                  const AccumulateKeywords &keywords) const {
  const detail::AccumulateCall call(input, &indices, Operand(), keywords);
  return detail::resolved(get(), detail::request_of(GUF_OPERATION_REDUCEAT, call.args), 1);
}

inline Result<std::string> Ufunc::explain_reduceat(const Operand &input, const Operand &indices,
                                                   const AccumulateKeywords &keywords) const {
  const detail::AccumulateCall call(input, &indices, Operand(), keywords);
  return detail::explained(get(), detail::request_of(GUF_OPERATION_REDUCEAT, call.args));
}

inline Result<Resolution> Ufunc::resolve_at(const Operand &array, Operands indices,
                                            const Operand &operand,
                                            const AtKeywords &keywords) const {
  return with_at(array, indices, operand, keywords, [&](guf_at_args &args) {
    return detail::resolved(get(), detail::request_of(GUF_OPERATION_AT, args), 0);
  });
}

inline Result<std::string> Ufunc::explain_at(const Operand &array, Operands indices,
                                             const Operand &operand,
                                             const AtKeywords &keywords) const {
  return with_at(array, indices, operand, keywords, [&](guf_at_args &args) {
    return detail::explained(get(), detail::request_of(GUF_OPERATION_AT, args));
  });
}

}  // namespace GUFUNC_CPP_FORM
}  // namespace gufunc

#endif  // GUFUNC_CPP_UFUNC_METHODS_HPP
