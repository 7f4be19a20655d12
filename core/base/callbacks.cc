// SPDX-License-Identifier: Apache-2.0
// The queue of pending callbacks: a linked list, guarded by a lock that is never held for long.
#include "core/base/callbacks.h"

#include <atomic>
#include <mutex>

#include "core/base/fork.h"

namespace gufunc::base {

struct DeferredCallback::Node {
  CallbackFn function;
  void *user;
  uint64_t value;
  Node *next;
};

namespace {

// `last` is only a hint for the end of the list. In a child process that was forked during an
// append, the list may continue after `last`, so append() searches for the end from `last` on.
struct Queue {
  ForkLock lock;
  std::atomic<DeferredCallback::Node *> first{nullptr};
  DeferredCallback::Node *last = nullptr;
};
constinit Queue queue;

void append(DeferredCallback::Node *node) {
  node->next = nullptr;
  const std::lock_guard<ForkLock> hold(queue.lock);
  if (queue.first.load(std::memory_order_relaxed) == nullptr) {
    queue.last = node;
    queue.first.store(node, std::memory_order_release);
    return;
  }
  while (queue.last->next != nullptr) queue.last = queue.last->next;
  queue.last->next = node;
  queue.last = node;
}

std::unique_ptr<DeferredCallback::Node> take_first() {
  const std::lock_guard<ForkLock> hold(queue.lock);
  DeferredCallback::Node *const node = queue.first.load(std::memory_order_relaxed);
  if (node != nullptr) queue.first.store(node->next, std::memory_order_release);
  return std::unique_ptr<DeferredCallback::Node>(node);
}

}  // namespace

DeferredCallback::DeferredCallback(CallbackFn function, void *user, uint64_t value)
    : node_(new Node{function, user, value, nullptr}) {}

DeferredCallback::DeferredCallback() = default;
DeferredCallback::DeferredCallback(DeferredCallback &&) noexcept = default;
DeferredCallback &DeferredCallback::operator=(DeferredCallback &&) noexcept = default;
DeferredCallback::~DeferredCallback() = default;

void DeferredCallback::queue() noexcept {
  if (node_ != nullptr) append(node_.release());
}

void DeferredCallback::run_now() noexcept {
  if (const std::unique_ptr<Node> node = std::move(node_)) node->function(node->user, node->value);
}

void queue_callback(CallbackFn function, void *user, uint64_t value) {
  DeferredCallback(function, user, value).queue();
}

uint32_t run_callbacks(uint32_t max) {
  uint32_t ran = 0;
  while (callbacks_wait() && (max == 0 || ran < max)) {
    const std::unique_ptr<DeferredCallback::Node> node = take_first();
    if (node == nullptr) break;
    node->function(node->user, node->value);
    ++ran;
  }
  return ran;
}

bool callbacks_wait() {
  return queue.first.load(std::memory_order_acquire) != nullptr;
}

}  // namespace gufunc::base
