// SPDX-License-Identifier: Apache-2.0
// Retains the objects that queued work uses until the work is done (see also retain_until_done and
// collect_pending in backend.h), and waits for the work that uses an array.
#ifndef GUFUNC_CORE_BACKEND_PENDING_H
#define GUFUNC_CORE_BACKEND_PENDING_H

#include <utility>
#include <vector>

#include "core/backend/backend.h"

namespace gufunc::backend {

// Collects objects before work is queued, so that nothing can fail afterwards. The destructor
// passes the objects to `retain_until_done`, which keeps them alive until the work on the stream is
// done. If the stream is nullptr, nothing is collected.
class RetainedObjects {
 public:
  explicit RetainedObjects(Stream *stream) : stream_(stream) {}
  RetainedObjects(const RetainedObjects &) = delete;
  RetainedObjects &operator=(const RetainedObjects &) = delete;
  ~RetainedObjects() {
    if (!objects_.empty()) retain_until_done(*stream_, std::move(objects_));
  }
  // Adds an object; nullptr is ignored. Throws std::bad_alloc.
  void add(base::Object *object) {
    if (stream_ == nullptr || object == nullptr) return;
    objects_.push_back(base::Ref<base::Object>::share(object));
  }

 private:
  Stream *stream_;
  std::vector<base::Ref<base::Object>> objects_;
};

// Waits for queued work that uses the array's bytes, and for all plans and
// graphs, whose operands are unknown. Does not report failures of the work, because the stream of
// the work reports them. Throws std::bad_alloc.
// Errors  GUF_TIMEOUT;  GUF_E_CAPTURE <= a stream of the work's device is being captured
guf_status wait_for_array(const array::Array &array, uint64_t timeout_ns, guf_error *error);

// Waits for the work queued on the stream. Does not report failures of the work.
// Errors  GUF_TIMEOUT
guf_status wait_for_stream(Stream &stream, uint64_t timeout_ns);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_PENDING_H
