// SPDX-License-Identifier: Apache-2.0
// Ufuncs with their calls, methods and plans. The C headers (gufunc/ufunc.h, call.h, methods.h)
// list the errors of each function.
#ifndef GUFUNC_CPP_UFUNC_HPP
#define GUFUNC_CPP_UFUNC_HPP

#include <gufunc/cpp/keywords.hpp>
#include <gufunc/cpp/loops.hpp>
#include <gufunc/cpp/ufunc_results.hpp>

#include <string>
#include <vector>

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

// A call that is prepared once and launched many times. The operands of a launch must have the
// layout of the operands for which the plan was made.
class Plan : public Handle<guf_plan, guf_plan_retain, guf_plan_release> {
 public:
  using Handle::Handle;
  struct Workspace {
    uint64_t nbytes, alignment;
  };
  Result<Workspace> workspace() const {
    detail::Record record;
    Workspace found = {};
    const guf_status status = guf_plan_workspace(get(), &found.nbytes, &found.alignment, record);
    return detail::result(status, record, [&] { return found; });
  }
  // Launches the plan. `operands` are the addresses of the inputs, of the outputs, and of the mask
  // if there is one. `workspace` is the address of temporary memory of the size and alignment that
  // workspace() returns.
  Result<void> launch(std::initializer_list<const void *> operands, guf_stream stream = nullptr,
                      const void *workspace = nullptr) const {
    // One more than the maximum, so that the library receives and rejects too many addresses.
    constexpr int32_t kCapacity = GUF_MAX_OPERANDS + 2;
    uint64_t addresses[kCapacity];
    int32_t count = 0;
    for (const void *operand : operands) {
      if (count == kCapacity) break;
      addresses[count++] = reinterpret_cast<uint64_t>(operand);
    }
    detail::Record record;
    const guf_status status = guf_plan_launch(get(), stream, count, addresses,
                                              reinterpret_cast<uint64_t>(workspace), record);
    return detail::done(status, record);
  }
  Result<std::string> explain() const {
    return detail::text_of([&](char *text, uint64_t *length, guf_error *error) {
      return guf_plan_explain(get(), text, length, error);
    });
  }
};

// Properties of a new ufunc besides its name and its operands.
struct UfuncOptions {
  std::string signature;  // "": elementwise
  std::string rules, doc;
  int32_t identity = GUF_IDENTITY_NONE;
  uint32_t flags = 0;  // guf_function_flag
  std::vector<int32_t> roles;
  CoreDims core_dims;
};

// A universal function.
class Ufunc : public Handle<guf_ufunc, guf_ufunc_retain, guf_ufunc_release> {
 public:
  using Handle::Handle;
#ifndef GUFUNC_NO_EXCEPTIONS
  explicit Ufunc(const std::string &name, guf_context context = nullptr)
      : Ufunc(find(name, context)) {}
#endif
  static inline Result<Ufunc> find(const std::string &name, guf_context context = nullptr);
  // Creates a ufunc without loops; add_loop and add_function add loops. If there is a signature,
  // nin and nout may be 0.
  static inline Result<Ufunc> create(const std::string &name, int32_t nin, int32_t nout,
                                     const UfuncOptions &options = {},
                                     guf_context context = nullptr);
  // Functions for listing the ufuncs of a context: their number, and the name of the ufunc at an
  // index.
  static inline Result<uint32_t> count(guf_context context = nullptr);
  static inline Result<std::string> name_at(uint32_t index, guf_context context = nullptr);

  inline Result<guf_ufunc_info> info() const;
  inline Result<std::vector<DType>> loop_types(uint32_t index) const;

  // ---- loops

  // Adds a host loop. `loop` accepts a const Loop & and returns nothing or a guf_status
  // (Loop::fail). If `loop` throws, the call fails with the exception's text and a status: the
  // status of an Error, GUF_E_NO_MEMORY for std::bad_alloc, and GUF_E_LOOP for any other exception.
  // With GUF_LOOP_ANY_THREAD, `loop` may run on any thread and on several threads at the same time.
  // The library destroys `loop` when it no longer uses it.
  template <class Function>
  Result<void> add_loop(const std::vector<DType> &types, Function loop, uint32_t flags = 0) const {
    const std::vector<guf_dtype> plain(types.begin(), types.end());
    return add(plain, [loop](const Loop &items) { return detail::status_of(loop, items); }, flags);
  }
  // Adds an elementwise loop: add_function<double(double, double)>([](double x, double y) { ... }).
  template <class Signature, class Function>
  Result<void> add_function(Function function, uint32_t flags = 0) const {
    using Made = detail::Elementwise<Signature>;
    return add(Made::types(), Made::loop(std::move(function)), flags);
  }
  inline Result<void> add_module_loop(guf_module module, const std::string &function,
                                      const std::vector<DType> &types) const;
  // Makes this ufunc a reduction with a user-defined accumulator; see guf_reduction_desc.
  inline Result<void> set_reduction(const Ufunc &merge, const Ufunc &finish = Ufunc()) const;

  // ---- calls

  // Calls the ufunc and writes into `outputs`. Fails with GUF_E_ARG if an output is missing.
  Result<void> operator()(Operands inputs, Operands outputs) const {
    detail::COperands in(inputs), out(outputs);
    guf_call_args args = {};
    return run(guf_call, in, out, args);
  }
  Result<void> operator()(Operands inputs, Operands outputs, const CallKeywords &keywords) const {
    detail::COperands in(inputs), out(outputs);
    guf_call_args args = {};
    keywords.write(args);
    return run(guf_call, in, out, args);
  }
  // Calls a ufunc with one output, which is allocated on the device of the inputs.
  Result<Array> operator()(Operands inputs) const { return one(guf_call, inputs, nullptr); }
  Result<Array> operator()(Operands inputs, const CallKeywords &keywords) const {
    return one(guf_call, inputs, &keywords);
  }
  // Calls the ufunc on operands in any ranges of Operand. Allocates the outputs that are Operand(),
  // or all outputs if `outputs` is empty, and returns the allocated arrays in the order of the
  // outputs.
  template <class Inputs = Operands, class Outputs = Operands>
  Result<std::vector<Array>> call(const Inputs &inputs, const Outputs &outputs,
                                  const CallKeywords &keywords = {}) const {
    return several(guf_call, inputs, outputs, keywords);
  }
  // Runs a call in chunks along the outermost loop dimension, on operands in host memory. All
  // outputs must be given. Returns the number of complete outer items (indices of that dimension).
  inline Result<int64_t> call_chunked(Operands inputs, Operands outputs,
                                      const ChunkOptions &options = {},
                                      const CallKeywords &keywords = {}) const;

  // ---- methods. Functions without an output parameter allocate the result. The output of
  // reduce_into, accumulate_into and reduceat_into must be given.

  inline Result<Array> reduce(const Operand &input, const ReduceKeywords &keywords = {}) const;
  inline Result<void> reduce_into(const Operand &input, const Operand &output,
                                  const ReduceKeywords &keywords = {}) const;
  // Runs a reduction with a user-defined accumulator. Allocates the outputs that are Operand() and
  // returns them in the order of the outputs.
  inline Result<std::vector<Array>> reduce_several(const Operand &input,
                                                   const std::vector<Operand> &outputs,
                                                   const ReduceKeywords &keywords = {}) const;
  inline Result<Array> accumulate(const Operand &input,
                                  const AccumulateKeywords &keywords = {}) const;
  inline Result<void> accumulate_into(const Operand &input, const Operand &output,
                                      const AccumulateKeywords &keywords = {}) const;
  inline Result<Array> reduceat(const Operand &input, const Operand &indices,
                                const AccumulateKeywords &keywords = {}) const;
  inline Result<void> reduceat_into(const Operand &input, const Operand &indices,
                                    const Operand &output,
                                    const AccumulateKeywords &keywords = {}) const;
  Result<Array> outer(const Operand &a, const Operand &b, const CallKeywords &keywords = {}) const {
    return one(guf_outer, {a, b}, &keywords);
  }
  template <class Outputs = Operands>
  Result<std::vector<Array>> outer_into(const Operand &a, const Operand &b, const Outputs &outputs,
                                        const CallKeywords &keywords = {}) const {
    return several(guf_outer, Operands{a, b}, outputs, keywords);
  }
  // Computes array[indices] = op(array[indices], operand); every occurrence of an index takes
  // effect. For a unary ufunc, operand is Operand().
  template <class Indices = Operands>
  Result<void> at(const Operand &array, const Indices &indices, const Operand &operand = {},
                  const AtKeywords &keywords = {}) const {
    return with_at(array, indices, operand, keywords, [&](guf_at_args &args) {
      detail::Record record;
      const guf_status status = guf_at(get(), &args, record);
      return detail::done(status, record);
    });
  }

  // ---- plans, and descriptions of what a call would do, and why

  inline Result<Plan> plan(Operands inputs, Operands outputs,
                           const CallKeywords &keywords = {}) const;
  inline Result<Resolution> resolve(Operands inputs, Operands outputs = {},
                                    const CallKeywords &keywords = {}) const;
  inline Result<std::string> explain(Operands inputs, Operands outputs = {},
                                     const CallKeywords &keywords = {}) const;
  inline Result<Resolution> resolve_outer(const Operand &a, const Operand &b,
                                          const CallKeywords &keywords = {}) const;
  inline Result<std::string> explain_outer(const Operand &a, const Operand &b,
                                           const CallKeywords &keywords = {}) const;
  inline Result<Resolution> resolve_reduce(const Operand &input,
                                           const ReduceKeywords &keywords = {}) const;
  inline Result<std::string> explain_reduce(const Operand &input,
                                            const ReduceKeywords &keywords = {}) const;
  inline Result<Resolution> resolve_accumulate(const Operand &input,
                                               const AccumulateKeywords &keywords = {}) const;
  inline Result<std::string> explain_accumulate(const Operand &input,
                                                const AccumulateKeywords &keywords = {}) const;
  inline Result<Resolution> resolve_reduceat(const Operand &input, const Operand &indices,
                                             const AccumulateKeywords &keywords = {}) const;
  inline Result<std::string> explain_reduceat(const Operand &input, const Operand &indices,
                                              const AccumulateKeywords &keywords = {}) const;
  inline Result<Resolution> resolve_at(const Operand &array, Operands indices,
                                       const Operand &operand = {},
                                       const AtKeywords &keywords = {}) const;
  inline Result<std::string> explain_at(const Operand &array, Operands indices,
                                        const Operand &operand = {},
                                        const AtKeywords &keywords = {}) const;

 private:
  using CallFunction = guf_status (*)(guf_ufunc, guf_call_args *, guf_error *);
  using ArrayList = std::vector<Array>;

  static void put(guf_call_args &args, detail::COperands &inputs, detail::COperands &outputs) {
    args.struct_size = sizeof args;
    args.inputs = inputs.data();
    args.ninputs = inputs.count();
    args.outputs = outputs.data();
    args.noutputs = outputs.count();
  }
  Result<void> run(CallFunction function, detail::COperands &inputs, detail::COperands &outputs,
                   guf_call_args &args) const {
    // If the list were empty, the library would allocate outputs, which nothing would own.
    if (outputs.has_none() || (outputs.count() == 0 && output_count() > 0))
      return detail::refuse<void>(GUF_E_ARG, detail::kNoOutput);
    put(args, inputs, outputs);
    detail::Record record;
    const guf_status status = function(get(), &args, record);
    return detail::done(status, record);
  }
  inline int32_t output_count() const;
  inline Result<Array> one(CallFunction function, Operands inputs,
                           const CallKeywords *keywords) const;
  template <class Inputs, class Outputs>
  Result<ArrayList> several(CallFunction function, const Inputs &inputs, const Outputs &outputs,
                            const CallKeywords &keywords) const;
  inline Result<void> add(const std::vector<guf_dtype> &types, HostLoop loop, uint32_t flags) const;
  template <class Indices, class Do>
  auto with_at(const Operand &array, const Indices &indices, const Operand &operand,
               const AtKeywords &keywords, Do act) const;
};

// ---- Finding, describing and creating ufuncs

inline Result<Ufunc> Ufunc::find(const std::string &name, guf_context context) {
  detail::Record record;
  guf_ufunc found = nullptr;
  const guf_status status = guf_ufunc_find(context, name.c_str(), &found, record);
  return detail::result(status, record, [&] { return Ufunc(found); });
}

inline Result<Ufunc> Ufunc::create(const std::string &name, int32_t nin, int32_t nout,
                                   const UfuncOptions &options, guf_context context) {
  guf_ufunc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.nin = nin;
  desc.nout = nout;
  desc.identity = options.identity;
  desc.flags = options.flags;
  desc.nroles = static_cast<int32_t>(options.roles.size());
  desc.name = name.c_str();
  desc.signature = options.signature.empty() ? nullptr : options.signature.c_str();
  desc.rules = options.rules.empty() ? nullptr : options.rules.c_str();
  desc.roles = options.roles.empty() ? nullptr : options.roles.data();
  desc.doc = options.doc.empty() ? nullptr : options.doc.c_str();
  CoreDims *kept = nullptr;
  if (options.core_dims) {
    kept = new CoreDims(options.core_dims);
    desc.core_dims = &detail::run_core_dims;
    desc.user = kept;
    desc.destroy = &detail::destroy<CoreDims>;
  }
  detail::Record record;
  guf_ufunc made = nullptr;
  const guf_status status = guf_ufunc_create(context, &desc, &made, record);
  if (status != GUF_OK) delete kept;
  return detail::result(status, record, [&] { return Ufunc(made); });
}

inline Result<uint32_t> Ufunc::count(guf_context context) {
  detail::Record record;
  uint32_t found = 0;
  const guf_status status = guf_ufunc_count(context, &found, record);
  return detail::result(status, record, [&] { return found; });
}

inline Result<std::string> Ufunc::name_at(uint32_t index, guf_context context) {
  detail::Record record;
  char name[2 * GUF_MAX_NAME + 2];
  const guf_status status = guf_ufunc_name_at(context, index, name, sizeof name, record);
  return detail::result(status, record, [&] { return std::string(name); });
}

inline Result<guf_ufunc_info> Ufunc::info() const {
  detail::Record record;
  guf_ufunc_info found = {};
  found.struct_size = sizeof found;
  const guf_status status = guf_ufunc_get_info(get(), &found, record);
  return detail::result(status, record, [&] { return found; });
}

inline Result<std::vector<DType>> Ufunc::loop_types(uint32_t index) const {
  detail::Record record;
  guf_ufunc_info known = {};
  known.struct_size = sizeof known;
  guf_dtype types[GUF_MAX_OPERANDS];
  guf_status status = guf_ufunc_get_info(get(), &known, record);
  const int32_t count = known.nin + known.nout;
  if (status == GUF_OK) status = guf_ufunc_loop_types(get(), index, count, types, record);
  return detail::result(status, record, [&] { return std::vector<DType>(types, types + count); });
}

// If the library accepts the loop, the library destroys it later. Otherwise this function deletes
// it.
inline Result<void> Ufunc::add(const std::vector<guf_dtype> &types, HostLoop loop,
                               uint32_t flags) const {
  auto *const kept = new HostLoop(std::move(loop));
  guf_loop_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.kind = GUF_LOOP_ERROR;
  desc.flags = flags;
  desc.ntypes = static_cast<int32_t>(types.size());
  desc.types = types.data();
  desc.error = &detail::run_loop;
  desc.user = kept;
  desc.destroy = &detail::destroy<HostLoop>;
  detail::Record record;
  const guf_status status = guf_ufunc_add_loop(get(), &desc, record);
  if (status != GUF_OK) delete kept;
  return detail::done(status, record);
}

inline Result<void> Ufunc::add_module_loop(guf_module module, const std::string &function,
                                           const std::vector<DType> &types) const {
  const std::vector<guf_dtype> plain(types.begin(), types.end());
  return check(guf_ufunc_add_module_loop, get(), module, function.c_str(),
               static_cast<int32_t>(plain.size()), plain.data());
}

inline Result<void> Ufunc::set_reduction(const Ufunc &merge, const Ufunc &finish) const {
  guf_reduction_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.merge = merge.get();
  desc.finish = finish.get();
  return check(guf_ufunc_set_reduction, get(), &desc);
}

// ---- Calls with allocated outputs, chunked calls, plans, resolutions

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

// ---- reduce, accumulate, reduceat and at

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

#endif  // GUFUNC_CPP_UFUNC_HPP
