// SPDX-License-Identifier: Apache-2.0
// Calls with allocated outputs, chunked calls, plans, resolutions. Included by ufunc.hpp.
#ifndef GUFUNC_CPP_UFUNC_CALLS_HPP
#define GUFUNC_CPP_UFUNC_CALLS_HPP

#include <gufunc/cpp/ufunc.hpp>

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

inline int32_t Ufunc::output_count() const {
  guf_ufunc_info known;
  known.struct_size = sizeof known;
  return guf_ufunc_get_info(get(), &known, nullptr) == GUF_OK ? known.nout : 1;
}

inline Result<Array> Ufunc::one(CallFunction function, Operands inputs,
                                const CallKeywords *keywords) const {
  detail::COperands in(inputs), out;
  out.clear(1);
  guf_call_args args = {};
  if (keywords != nullptr) keywords->write(args);
  put(args, in, out);
  detail::Record record;
  const guf_status status = function(get(), &args, record);
  return detail::result(status, record, [&] { return Array(out[0].array); });
}

template <class Inputs, class Outputs>
Result<std::vector<Array>> Ufunc::several(CallFunction function, const Inputs &inputs,
                                          const Outputs &outputs,
                                          const CallKeywords &keywords) const {
  detail::COperands in(inputs), out(outputs);
  guf_call_args args = {};
  keywords.write(args);
  const std::vector<Operand> all(outputs.size() == 0 ? static_cast<size_t>(output_count()) : 0);
  if (outputs.size() == 0) out.clear(static_cast<int32_t>(all.size()));
  put(args, in, out);
  detail::Record record;
  const guf_status status = function(get(), &args, record);
  return detail::result(status, record, [&] {
    return outputs.size() == 0 ? detail::allocated(all, out) : detail::allocated(outputs, out);
  });
}

inline Result<int64_t> Ufunc::call_chunked(Operands inputs, Operands outputs,
                                           const ChunkOptions &options,
                                           const CallKeywords &keywords) const {
  struct Watched {
    const Progress *progress;
#ifndef GUFUNC_NO_EXCEPTIONS
    std::exception_ptr thrown;
#endif
    static int32_t step(void *user, int64_t done, int64_t items) noexcept {
      auto *const self = static_cast<Watched *>(user);
#ifdef GUFUNC_NO_EXCEPTIONS
      return (*self->progress)(done, items) ? 0 : 1;
#else
      try {
        return (*self->progress)(done, items) ? 0 : 1;
      } catch (...) {
        self->thrown = std::current_exception();
        return 1;
      }
#endif
    }
  };
  Watched watched = {};
  watched.progress = &options.progress;
  guf_chunk_options chunks = {};
  chunks.struct_size = sizeof chunks;
  chunks.chunk_bytes = options.chunk_bytes;
  chunks.depth = options.depth;
  chunks.first_item = options.first_item;
  if (options.progress) chunks.progress = &Watched::step, chunks.user = &watched;
  detail::COperands in(inputs), out(outputs);
  guf_call_args args = {};
  keywords.write(args);
  put(args, in, out);
  detail::Record record;
  int64_t items = 0;
  const guf_status status = guf_call_chunked(get(), &args, &chunks, &items, record);
  if (options.out_items != nullptr) *options.out_items = items;
#ifndef GUFUNC_NO_EXCEPTIONS
  if (watched.thrown) std::rethrow_exception(watched.thrown);
#endif
  return detail::result(status, record, [&] { return items; });
}

inline Result<Plan> Ufunc::plan(Operands inputs, Operands outputs,
                                const CallKeywords &keywords) const {
  detail::COperands in(inputs), out(outputs);
  guf_call_args args = {};
  keywords.write(args);
  put(args, in, out);
  detail::Record record;
  guf_plan made = nullptr;
  const guf_status status = guf_plan_create(get(), &args, &made, record);
  return detail::result(status, record, [&] { return Plan(made); });
}

inline Result<Resolution> Ufunc::resolve(Operands inputs, Operands outputs,
                                         const CallKeywords &keywords) const {
  detail::COperands in(inputs), out(outputs);
  guf_call_args args = {};
  keywords.write(args);
  put(args, in, out);
  return detail::resolved(get(), detail::request_of(GUF_OPERATION_CALL, args), output_count());
}

inline Result<std::string> Ufunc::explain(Operands inputs, Operands outputs,
                                          const CallKeywords &keywords) const {
  detail::COperands in(inputs), out(outputs);
  guf_call_args args = {};
  keywords.write(args);
  put(args, in, out);
  return detail::explained(get(), detail::request_of(GUF_OPERATION_CALL, args));
}

inline Result<Resolution> Ufunc::resolve_outer(const Operand &a, const Operand &b,
                                               const CallKeywords &keywords) const {
  const Operands pair = {a, b};  // a variable, because the C operands point into it
  detail::COperands in(pair), out;
  guf_call_args args = {};
  keywords.write(args);
  put(args, in, out);
  return detail::resolved(get(), detail::request_of(GUF_OPERATION_OUTER, args), output_count());
}

inline Result<std::string> Ufunc::explain_outer(const Operand &a, const Operand &b,
                                                const CallKeywords &keywords) const {
  const Operands pair = {a, b};  // a variable, because the C operands point into it
  detail::COperands in(pair), out;
  guf_call_args args = {};
  keywords.write(args);
  put(args, in, out);
  return detail::explained(get(), detail::request_of(GUF_OPERATION_OUTER, args));
}

}  // namespace GUFUNC_CPP_FORM
}  // namespace gufunc

#endif  // GUFUNC_CPP_UFUNC_CALLS_HPP
