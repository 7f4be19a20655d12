// SPDX-License-Identifier: Apache-2.0
// Finding, describing and creating ufuncs. Included by ufunc.hpp.
#ifndef GUFUNC_CPP_UFUNC_MAKE_HPP
#define GUFUNC_CPP_UFUNC_MAKE_HPP

#include <gufunc/cpp/ufunc.hpp>

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

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

}  // namespace GUFUNC_CPP_FORM
}  // namespace gufunc

#endif  // GUFUNC_CPP_UFUNC_MAKE_HPP
