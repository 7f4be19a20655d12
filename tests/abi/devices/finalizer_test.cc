// SPDX-License-Identifier: Apache-2.0
// Simulates garbage collectors. Handles of every kind are released on threads that did not make the
// handles, in any order, while work that uses the handles is queued and while other threads make
// calls.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <thread>

#include "device_fixture.h"

namespace device_test {
namespace {

constexpr int kWorkers = 3, kCollectors = 2, kRounds = 20;
constexpr int64_t kSize = 3000;

// Contains unused handles, which the collectors release in random order.
class Heap {
 public:
  template <class Handle>
  void drop(Handle handle, guf_status (*release)(Handle, guf_error *)) {
    const std::lock_guard lock(mutex_);
    dropped_.emplace_back([handle, release] { return release(handle, nullptr); });
  }
  // Releases one handle. Returns false if there is none.
  bool collect(std::mt19937 *random) {
    std::function<guf_status()> release;
    {
      const std::lock_guard lock(mutex_);
      if (dropped_.empty()) return false;
      std::swap(dropped_[(*random)() % dropped_.size()], dropped_.back());
      release = std::move(dropped_.back());
      dropped_.pop_back();
    }
    EXPECT_EQ(release(), GUF_OK);
    return true;
  }

 private:
  std::mutex mutex_;
  std::vector<std::function<guf_status()>> dropped_;
};

// Counts the calls of release callbacks and the expected number of calls.
struct Counts {
  std::atomic<int> wrapped = 0, freed = 0;    // memory that was wrapped, and freed
  std::atomic<int> added = 0, destroyed = 0;  // loops that were added, and destroyed
};

void thrice(char **args, const int64_t *dims, const int64_t *steps, void *factor) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    *reinterpret_cast<float *>(args[1] + i * steps[1]) =
        *reinterpret_cast<const float *>(args[0] + i * steps[0]) * *static_cast<float *>(factor);
  }
}

// One thread of a program. A worker does not use the functions of the fixture, because these
// functions can be called on one thread only.
class Worker {
 public:
  Worker(int number, guf_device device, bool on_cpu, Heap *heap, Counts *counts)
      : number_(number), device_(device), on_cpu_(on_cpu), heap_(heap), counts_(counts) {}

  void run() {
    for (int round = 0; round < kRounds; ++round) {
      queue_and_forget(static_cast<float>(round));
      prepare_and_forget();
      wrap_and_forget(static_cast<float>(round));
      make_loops(static_cast<float>(round));
      load_module(round);
    }
  }

 private:
  void expect(guf_status status) { EXPECT_EQ(status, GUF_OK) << error_.message; }

  guf_array array(guf_device device, float value, guf_stream stream) {
    guf_array made = nullptr;
    const guf_operand number = scalar_of(value);
    expect(guf_array_alloc(device, GUF_F32, 1, &kSize, nullptr, GUF_ORDER_C, &made, &error_));
    expect(guf_array_fill(made, &number, stream, &error_));
    return made;
  }
  guf_stream stream(guf_device device) {
    guf_stream made = nullptr;
    expect(guf_stream_create(device, 0, &made, &error_));
    return made;
  }
  guf_ufunc find(guf_context context, const char *name) {
    guf_ufunc found = nullptr;
    expect(guf_ufunc_find(context, name, &found, &error_));
    return found;
  }
  // Calls a ufunc and returns its output, which is allocated if `out` is nullptr.
  guf_array call(guf_ufunc ufunc, std::vector<guf_array> inputs, guf_array out, guf_stream stream) {
    std::vector<guf_operand> operands;
    for (const guf_array input : inputs) operands.push_back(operand_of(input));
    guf_operand output = operand_of(out);
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.inputs = operands.data();
    args.ninputs = static_cast<int32_t>(operands.size());
    args.outputs = &output;
    args.noutputs = 1;
    args.options.stream = stream;
    expect(guf_call(ufunc, &args, &error_));
    return output.array;
  }
  float first_of(guf_array made, guf_stream stream) {
    std::vector<float> values(kSize);
    expect(guf_array_copy_to_host(made, values.data(), kSize * sizeof(float), GUF_ORDER_C, stream,
                                  &error_));
    if (stream != nullptr) expect(guf_stream_synchronize(stream, UINT64_MAX, &error_));
    return values[0];
  }
  void drop(guf_array made) { heap_->drop(made, guf_array_release); }
  void drop(guf_stream made) { heap_->drop(made, guf_stream_release); }
  void drop(guf_ufunc made) { heap_->drop(made, guf_ufunc_release); }
  void drop(guf_context made) { heap_->drop(made, guf_context_release); }

  // Releases a stream, an event and arrays before their work has run. For every fourth value, waits
  // for the work and checks the result.
  void queue_and_forget(float value) {
    const guf_stream queue = stream(device_), behind = stream(device_);
    const guf_ufunc add = find(nullptr, "add");
    guf_event event = nullptr;
    expect(guf_event_create(device_, 0, &event, &error_));
    const guf_array one = array(device_, value, queue), other = array(device_, 1, queue);
    const guf_array sum = call(add, {one, other}, nullptr, queue);
    drop(other);
    drop(one);
    expect(guf_event_record(event, queue, &error_));
    expect(guf_stream_wait_event(behind, event, &error_));
    heap_->drop(event, guf_event_release);
    const guf_array twice = call(add, {sum, sum}, nullptr, behind);
    drop(sum);
    drop(add);
    drop(queue);
    if (static_cast<int>(value) % 4 == 0) {
      EXPECT_EQ(first_of(twice, behind), 2 * (value + 1));
    }
    drop(behind);
    drop(twice);
  }

  // Releases plans and graphs as soon as they are launched.
  void prepare_and_forget() {
    const guf_stream queue = stream(device_);
    const guf_ufunc add = find(nullptr, "add");
    const guf_array one = array(device_, 1, queue);
    call(add, {one, one}, one, queue);  // loads the kernel; the result is 2
    guf_operand operand = operand_of(one), inputs[] = {operand, operand};
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.inputs = inputs;
    args.ninputs = 2;
    args.outputs = &operand;
    args.noutputs = 1;
    args.options.stream = queue;
    guf_plan plan = nullptr;
    expect(guf_plan_create(add, &args, &plan, &error_));
    guf_array_info info = {};
    info.struct_size = sizeof info;
    expect(guf_array_get_info(one, &info, &error_));
    const uint64_t addresses[] = {info.address, info.address, info.address};
    expect(guf_plan_launch(plan, queue, 3, addresses, 0, &error_));  // the result is 4
    heap_->drop(plan, guf_plan_release);
    if (!on_cpu_) {
      expect(guf_stream_begin_capture(queue, &error_));
      call(add, {one, one}, one, queue);
      guf_graph graph = nullptr;
      expect(guf_stream_end_capture(queue, &graph, &error_));
      expect(guf_graph_launch(graph, queue, &error_));  // the result is 8
      heap_->drop(graph, guf_graph_release);
    }
    EXPECT_EQ(first_of(one, queue), on_cpu_ ? 4 : 8);
    drop(add);
    drop(one);
    drop(queue);
  }

  // Wraps memory of the program. The release callback frees the memory when no array and no stream
  // uses it.
  void wrap_and_forget(float value) {
    auto memory = std::make_unique<std::pair<Counts *, std::vector<float>>>(
        counts_, std::vector<float>(kSize, value));
    gufunc::Operands operands;
    const guf_tensor *const tensor = operands.tensor(gufunc::view(GUF_F32, memory->second))->tensor;
    guf_array wrapped = nullptr, view = nullptr;
    const auto release_memory = [](void *user, uint64_t) {
      const std::unique_ptr<std::pair<Counts *, std::vector<float>>> mine(
          static_cast<std::pair<Counts *, std::vector<float>> *>(user));
      mine->second[0] = -1;
      ++mine->first->freed;
    };
    expect(guf_array_wrap(tensor, release_memory, memory.release(), 0, &wrapped, &error_));
    ++counts_->wrapped;
    const int64_t shape[] = {3, kSize / 3};
    expect(guf_array_reshape(wrapped, 2, shape, GUF_ORDER_C, &view, &error_));
    drop(wrapped);
    guf_device cpu = nullptr;
    expect(guf_device_get(nullptr, "cpu", &cpu, &error_));
    const guf_stream queue = stream(cpu);
    const guf_ufunc negative = find(nullptr, "negative");
    const guf_array minus = call(negative, {view}, nullptr, queue);
    drop(view);
    drop(negative);
    EXPECT_EQ(first_of(minus, queue), -value);
    drop(minus);
    drop(queue);
  }

  // Releases a context, its ufunc and the data of its loop while a stream runs the loop.
  void make_loops(float value) {
    guf_context context = nullptr;
    expect(guf_context_create(0, &context, &error_));
    guf_ufunc_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.nin = desc.nout = 1;
    desc.name = "thrice";
    guf_ufunc own = nullptr;
    expect(guf_ufunc_create(context, &desc, &own, &error_));
    struct Data {
      float factor;
      Counts *counts;
    };
    static const guf_dtype types[] = {GUF_F32, GUF_F32};
    guf_loop_desc loop = {};
    loop.struct_size = sizeof loop;
    loop.kind = GUF_LOOP_NUMPY;
    loop.flags = GUF_LOOP_ANY_THREAD;
    loop.ntypes = 2;
    loop.types = types;
    loop.numpy = thrice;
    loop.user = new Data{3, counts_};
    loop.destroy = [](void *user) {
      const std::unique_ptr<Data> data(static_cast<Data *>(user));
      data->factor = 0;
      ++data->counts->destroyed;
    };
    expect(guf_ufunc_add_loop(own, &loop, &error_));
    ++counts_->added;
    guf_device cpu = nullptr;
    expect(guf_device_get(nullptr, "cpu", &cpu, &error_));
    const guf_stream queue = stream(cpu);
    const guf_array one = array(cpu, value, queue);
    const guf_array made = call(own, {one}, nullptr, queue);
    drop(context);
    drop(own);
    drop(one);
    EXPECT_EQ(first_of(made, queue), 3 * value);
    drop(made);
    drop(queue);
  }

  // Releases a module in its own context while a device runs its kernel. Each module has its own
  // file, so its code is unloaded while other threads load and run modules.
  void load_module(int round) {
    const std::string path = testing::TempDir() + "finalizer_" + std::to_string(getpid()) + "_" +
                             std::to_string(number_) + "_" + std::to_string(round) + ".so";
    std::filesystem::copy_file(GUFUNC_TEST_MODULES "/auto_both.so", path);
    guf_context context = nullptr;
    guf_module module = nullptr;
    expect(guf_context_create(0, &context, &error_));
    expect(guf_module_load(context, path.c_str(), 0, &module, &error_));
    std::filesystem::remove(path);
    const guf_ufunc ends = find(context, "auto_both:ends");
    const guf_stream queue = stream(device_);
    const guf_array one = array(device_, 2, queue);
    const guf_array made = call(ends, {one, one}, nullptr, queue);
    drop(context);
    heap_->drop(module, guf_module_release);
    drop(ends);
    drop(one);
    drop(queue);
    drop(made);
  }

  const int number_;
  const guf_device device_;
  const bool on_cpu_;
  Heap *const heap_;
  Counts *const counts_;
  guf_error error_ = fresh_error();
};

class Finalizers : public Devices {
 protected:
  // Waits for the default stream, and returns the number of bytes in use on the device. Returns 0
  // on the cpu, which does not support this query.
  uint64_t live_bytes(guf_device device) {
    guf_poll(0, nullptr, nullptr);
    EXPECT_EQ(guf_device_synchronize(device, UINT64_MAX, &error_), GUF_OK) << error_.message;
    guf_device_memory memory = {};
    memory.struct_size = sizeof memory;
    const guf_status status = guf_device_get_memory(device, &memory, nullptr);
    EXPECT_EQ(status, on_cpu() ? GUF_E_UNSUPPORTED : GUF_OK);
    return memory.live_bytes;
  }
};

TEST_P(Finalizers, ReleaseObjectsOfOtherThreads) {
  Heap heap;
  Counts counts;
  const guf_device there = device(0);
  const uint64_t before = live_bytes(there);
  std::atomic<bool> working = true;
  std::vector<std::thread> workers, collectors;
  for (int i = 0; i < kWorkers; ++i) {
    workers.emplace_back([&, i] { Worker(i, there, on_cpu(), &heap, &counts).run(); });
  }
  for (unsigned i = 0; i < kCollectors; ++i) {
    collectors.emplace_back([&, i] {
      std::mt19937 random(i);
      for (bool last = false;;) {
        if (random() % 64 == 0) guf_poll(0, nullptr, nullptr);
        if (heap.collect(&random)) continue;
        if (last) return;
        last = !working;  // collects once more after the workers have finished
        std::this_thread::yield();
      }
    });
  }
  for (std::thread &worker : workers) worker.join();
  working = false;
  for (std::thread &collector : collectors) collector.join();
  // A closed stream still runs its queued work, and keeps the resources of the work until then.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const auto all_gone = [&] {
    return live_bytes(there) == before && counts.freed == counts.wrapped &&
           counts.destroyed == counts.added;
  };
  while (!all_gone() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(counts.freed, kWorkers * kRounds);
  EXPECT_EQ(counts.destroyed, kWorkers * kRounds);
  EXPECT_EQ(live_bytes(there), before);
}

INSTANTIATE_TEST_SUITE_P(On, Finalizers, testing::Values("cpu", "cuda", "roc"), name_of);

}  // namespace
}  // namespace device_test
