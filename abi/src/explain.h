// SPDX-License-Identifier: Apache-2.0
// The common part of guf_explain and similar functions:
// unpacks the arguments, runs the query and returns its text.
#ifndef GUFUNC_ABI_SRC_EXPLAIN_H
#define GUFUNC_ABI_SRC_EXPLAIN_H

#include <string>
#include <utility>

#include "abi/src/capi.h"
#include "abi/src/text_out.h"

namespace gufunc::capi {

// unpack(&view) fills a view of the arguments.
// query(view, &text, error) writes the text of the result.
template <class View, class Unpack, class Query>
guf_status explain(char *text, uint64_t *inout_length, guf_error *error, Unpack unpack,
                   Query query) {
  return guard(error, [&]() -> guf_status {
    GUF_TRY(need(inout_length, "inout_length", error));
    if (*inout_length > 0) GUF_TRY(need(text, "text", error));
    View view;
    GUF_TRY(unpack(&view));
    std::string result;
    GUF_TRY(query(view, &result, error));
    const uint64_t capacity = std::exchange(*inout_length, result.size() + 1);
    return hand_out(result, text, capacity, error);
  });
}

}  // namespace gufunc::capi

#endif  // GUFUNC_ABI_SRC_EXPLAIN_H
