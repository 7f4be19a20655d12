// SPDX-License-Identifier: Apache-2.0
// Objects that queued work uses, held until it is done (keep_until_done, reap: backend.h).
#ifndef GUFUNC_CORE_BACKEND_IN_FLIGHT_H
#define GUFUNC_CORE_BACKEND_IN_FLIGHT_H

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

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_IN_FLIGHT_H
