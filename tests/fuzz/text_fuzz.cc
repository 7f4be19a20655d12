// SPDX-License-Identifier: Apache-2.0
// Passes arbitrary texts to the C API: signatures, rules, names and dtypes. The target also parses
// the description of each ufunc again, which must create an equal ufunc.
#include <cstring>
#include <string>

#include "target.h"

namespace gufunc::fuzz {
namespace {

void parse_dtype(const std::string &text) {
  guf_dtype dtype = 0;
  guf_error error = fresh_error();
  const guf_status status = guf_dtype_parse(text.c_str(), &dtype, &error);
  demand_report(status, error);
  if (status != GUF_OK) return;
  const char *const name = guf_dtype_name(dtype);
  check(name != nullptr, "a dtype that was parsed has a name");
  guf_dtype again = 0;
  check(guf_dtype_parse(name, &again, nullptr) == GUF_OK && again == dtype,
        "a dtype's name is parsed as that dtype");
}

guf_status create(guf_context context, const char *signature, const char *rules, guf_ufunc *ufunc,
                  guf_error *error) {
  guf_ufunc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.name = "drawn";
  desc.signature = signature;
  desc.rules = rules;
  return guf_ufunc_create(context, &desc, ufunc, error);
}

// A context that exists for one input only, so that the names are free for the next input.
class Context {
 public:
  Context() { check(guf_context_create(0, &context_, nullptr) == GUF_OK, "guf_context_create"); }
  ~Context() { guf_context_release(context_, nullptr); }
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;
  guf_context get() const { return context_; }

 private:
  guf_context context_ = nullptr;
};

void parse_signature(const std::string &signature, const std::string &rules) {
  const Context first;
  guf_ufunc ufunc = nullptr;
  guf_error error = fresh_error();
  const char *const given = rules.empty() ? nullptr : rules.c_str();
  const guf_status status = create(first.get(), signature.c_str(), given, &ufunc, &error);
  demand_report(status, error);
  if (status != GUF_OK) return;
  guf_ufunc_info info = {};
  info.struct_size = sizeof info;
  check(guf_ufunc_get_info(ufunc, &info, nullptr) == GUF_OK, "guf_ufunc_get_info");
  guf_ufunc_release(ufunc, nullptr);
  const bool is_cut = std::strlen(info.signature) + 1 == sizeof info.signature ||
                      std::strlen(info.rules) + 1 == sizeof info.rules;
  if (is_cut) return;
  const Context second;
  error = fresh_error();
  check(create(second.get(), info.signature, info.rules[0] == '\0' ? nullptr : info.rules, &ufunc,
               &error) == GUF_OK,
        "the signature and rules of a ufunc make a ufunc");
  guf_ufunc_info again = {};
  again.struct_size = sizeof again;
  check(guf_ufunc_get_info(ufunc, &again, nullptr) == GUF_OK, "guf_ufunc_get_info");
  guf_ufunc_release(ufunc, nullptr);
  check(std::strcmp(again.signature, info.signature) == 0 && again.nin == info.nin &&
            again.nout == info.nout,
        "and the same one");
}

void find_name(const std::string &name) {
  guf_ufunc ufunc = nullptr;
  guf_error error = fresh_error();
  demand_report(guf_ufunc_find(nullptr, name.c_str(), &ufunc, &error), error);
  guf_ufunc_release(ufunc, nullptr);
}

}  // namespace
}  // namespace gufunc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  gufunc::fuzz::ByteReader bytes(data, size);
  const uint32_t what = bytes.below(4);
  const std::string text = bytes.text();
  if (what == 0) gufunc::fuzz::parse_dtype(text);
  if (what == 1) gufunc::fuzz::find_name(text);
  if (what > 1) gufunc::fuzz::parse_signature(text, bytes.text());
  return 0;
}
