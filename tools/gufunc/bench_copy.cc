// SPDX-License-Identifier: Apache-2.0
#include "bench_copy.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include "fatal_signals.h"

namespace gufunc::cli {
namespace {

using Clock = std::chrono::steady_clock;

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// Keeps the compiler from removing a copy whose result nothing reads.
void keep(const std::byte *bytes) {
  asm volatile("" : : "r"(bytes) : "memory");
}

// Threads that run one function together, again and again. They busy-wait, because waking a
// thread takes longer than the copies of small arrays.
template <class Work>
class Team {
 public:
  // `work(i)` is the part of thread i. If the system refuses a thread, the caller runs its part.
  Team(uint32_t threads, Work work) : work_(work), total_(threads) {
    const SignalsBlocked blocked;  // the new threads inherit the mask
    try {
      for (uint32_t i = 1; i < threads; ++i) threads_.emplace_back([this, i] { wait_and_run(i); });
    } catch (const std::system_error &) {
      return;  // run() performs the other parts
    }
  }
  Team(const Team &) = delete;
  Team &operator=(const Team &) = delete;
  ~Team() {
    ended_ = true;
    ++round_;
    for (std::thread &thread : threads_) thread.join();
  }

  void run() {
    done_ = 0;
    ++round_;
    work_(0);
    for (size_t i = threads_.size() + 1; i < total_; ++i) work_(static_cast<uint32_t>(i));
    for (uint32_t turns = 0; done_ < threads_.size(); ++turns) pause(turns);
  }

 private:
  static void pause(uint32_t turns) {
    if (turns > 1000) std::this_thread::yield();
  }

  void wait_and_run(uint32_t part) {
    for (uint64_t seen = 0;; ++done_) {
      for (uint32_t turns = 0; round_ == seen; ++turns) pause(turns);
      ++seen;
      if (ended_) return;
      work_(part);
    }
  }

  Work work_;
  uint32_t total_;
  std::atomic<uint64_t> round_ = 0;
  std::atomic<size_t> done_ = 0;
  std::atomic<bool> ended_ = false;
  std::vector<std::thread> threads_;
};

ArrayHandle bytes_on(guf_device device, uint64_t count) {
  const auto shape = static_cast<int64_t>(count);
  ArrayHandle array;
  Call call;
  call.check(
      guf_array_alloc(device, GUF_U8, 1, &shape, nullptr, GUF_ORDER_C, array.out(), call.error()));
  return array;
}

}  // namespace

BenchCopy::BenchCopy(guf_device device, uint64_t bytes, uint32_t threads)
    : device_(device),
      half_(std::max<uint64_t>(bytes / 2, 1)),
      threads_(std::max<uint32_t>(threads, 1)),
      source_(bytes_on(device, half_)),
      destination_(bytes_on(device, half_)) {
  guf_device_info info = {};
  info.struct_size = sizeof info;
  Call call;
  call.check(guf_device_get_info(device, &info, call.error()));
  guf_operand one = {};
  one.kind = GUF_OPERAND_WEAK_INT;
  one.value[0] = 1;
  // Memory that was never written is one page of zeros, which stays in the cache.
  call.check(guf_array_fill(source_.get(), &one, nullptr, call.error()));
  if (std::strcmp(info.backend, "cpu") != 0) return;
  guf_array_info array = {};
  array.struct_size = sizeof array;
  call.check(guf_array_get_info(source_.get(), &array, call.error()));
  from_ = reinterpret_cast<std::byte *>(array.address);
  call.check(guf_array_get_info(destination_.get(), &array, call.error()));
  to_ = reinterpret_cast<std::byte *>(array.address);
}

double BenchCopy::sample(int64_t calls) {
  return from_ == nullptr ? sample_device(calls) : sample_host(calls);
}

double BenchCopy::sample_host(int64_t calls) {
  const auto part = [this](uint32_t i) {
    const uint64_t begin = half_ * i / threads_, end = half_ * (i + 1) / threads_;
    std::memcpy(to_ + begin, from_ + begin, end - begin);
    keep(to_);
  };
  Team team(threads_, part);
  team.run();
  const Clock::time_point start = Clock::now();
  for (int64_t i = 0; i < calls; ++i) team.run();
  return ns_since(start);
}

double BenchCopy::sample_device(int64_t calls) {
  Call call;
  const auto copy = [&] {
    call.check(
        guf_array_assign(destination_.get(), source_.get(), GUF_CASTING_NO, nullptr, call.error()));
  };
  copy();
  call.check(guf_device_synchronize(device_, UINT64_MAX, call.error()));
  const Clock::time_point start = Clock::now();
  for (int64_t i = 0; i < calls; ++i) copy();
  call.check(guf_device_synchronize(device_, UINT64_MAX, call.error()));
  return ns_since(start);
}

}  // namespace gufunc::cli
