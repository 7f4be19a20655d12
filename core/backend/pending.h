// SPDX-License-Identifier: Apache-2.0
// Objects that queued work uses, held until it is done (keep_until_done, collect_pending:
// backend.h), and waits for work by what it uses.
#ifndef GUFUNC_CORE_BACKEND_PENDING_H
#define GUFUNC_CORE_BACKEND_PENDING_H

#include <utility>
#include <vector>

#include "core/backend/backend.h"

namespace gufunc::backend {

// Collects objects before work is queued, so that nothing can fail afterwards; at the end of the
// scope they are kept until the stream is done. NULL stream: nothing is collected.
class Held {
 public:
  explicit Held(Stream *stream) : stream_(stream) {}
  Held(const Held &) = delete;
  Held &operator=(const Held &) = delete;
  ~Held() {
    if (!objects_.empty()) keep_until_done(*stream_, std::move(objects_));
  }
  // Throws std::bad_alloc. NULL is ignored.
  void add(base::Object *object) {
    if (stream_ == nullptr || object == nullptr) return;
    objects_.push_back(base::Ref<base::Object>::share(object));
  }

 private:
  Stream *stream_;
  std::vector<base::Ref<base::Object>> objects_;
};

// Waits for what streams have queued with the array's bytes, or with a plan or a graph, of which
// that is not known. Failures of the work stay with its stream. Throws std::bad_alloc.
// Errors  GUF_TIMEOUT;  GUF_E_CAPTURE <= such work on a device of which a stream is captured
guf_status wait_for_array(const array::Array &array, uint64_t timeout_ns, guf_error *error);

// Waits for what is queued on the stream, and leaves its failure there.
// Errors  GUF_TIMEOUT
guf_status wait_for_order(Stream &stream, uint64_t timeout_ns);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_PENDING_H
