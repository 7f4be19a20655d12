// SPDX-License-Identifier: Apache-2.0
// A call that is prepared once and launched many times. Several threads may launch it at the same
// time.
#ifndef GUFUNC_CORE_PLAN_PREPARED_PLAN_H
#define GUFUNC_CORE_PLAN_PREPARED_PLAN_H

#include <memory>
#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "core/call/staging.h"
#include "core/geometry/launch.h"
#include "core/memory/memory.h"

namespace gufunc::plan {

// The maximum number of operands for which a launch copies arrays of fixed size.
inline constexpr int32_t kFewOperands = 4;

class PreparedPlan final : public base::Object {
 public:
  static constexpr base::Kind kKind = base::Kind::kPlan;

  // Errors  as guf_plan_create
  static guf_status make(op::CallView &call, base::Ref<PreparedPlan> *out, guf_error *error);

  // Describes as text how a call would run. Outputs may be missing.
  // Errors  as guf_explain
  static guf_status explain(op::CallView &call, std::string *out, guf_error *error);

  uint64_t workspace() const { return workspace_; }
  // Describes as text what the plan does and why. The backend's part of the text is created by this
  // function and not by `make`, because launches do not need it.
  std::string text() const;

  // Errors  as guf_plan_launch
  guf_status launch(backend::Stream *stream, int32_t naddresses, const uint64_t *addresses,
                    uint64_t workspace, guf_error *error);

 private:
  PreparedPlan() : Object(kKind) {}

  // The data of one operand that a launch needs. If the plan has a mask, the last entry is for the
  // mask.
  struct Operand {
    int64_t first;         // offset from the address to the first byte of the operand
    int64_t end;           // offset from the address to one past the last byte
    int64_t offset;        // offset from the address to the first element of the launch
    uint64_t stride_bits;  // bitwise OR of the strides
    uint64_t fixed;        // address of a scalar in this plan, or 0
  };
  // Two operands, at least one of which is written.
  struct Pair {
    int32_t a, b;
    int64_t distance;  // difference of the two addresses when the plan was made
  };
  // An operand that the launch accesses in the workspace instead of its own memory.
  struct Stage {
    call::StagedOperand staged;
    bool swapped;
    uint64_t workspace_offset;
    std::vector<int64_t> shape, strides;  // of the operand
    call::StagedLayout copy;
    base::Ref<PreparedPlan> masked_store;  // stores the elements that the mask selects
  };

  // Makes the plan of a call whose types and shapes are known. Scalars and staged operands of the
  // call then refer to memory of the plan.
  static guf_status prepare(op::CallView &call, const resolve::Choice &choice,
                            const broadcast::LoopShape &loop, base::Ref<PreparedPlan> *out,
                            guf_error *error);
  void describe_operands(const op::CallView &call);
  guf_status plan_stages(op::CallView &call, const call::Staging &staging,
                         const broadcast::LoopShape &loop, guf_error *error);
  guf_status plan_masked_stores(const op::CallView &call, const broadcast::LoopShape &loop,
                                guf_error *error);
  void find_pairs(const op::CallView &call, const call::Staging &staging);
  void keep_scalars(op::CallView &call);
  std::string describe_launch() const;
  guf_status take_geometry(const geometry::Request &request, guf_error *error);

  guf_status check_addresses(const uint64_t *addresses, uint64_t workspace, guf_error *error) const;
  void fill_block(const uint64_t *addresses, uint64_t workspace, guf_launch_block *block) const;
  void fill_small_block(const uint64_t *addresses, guf_launch_block *block) const;
  guf_status copy_stages(bool load, backend::Stream *stream, const uint64_t *addresses,
                         uint64_t workspace, guf_error *error) const;
  guf_status store_masked(const Stage &stage, backend::Stream *stream, const uint64_t *addresses,
                          uint64_t workspace, guf_error *error) const;
  // Queues the copies to the workspace, the launch, and the copies from the workspace.
  guf_status queue(backend::Stream *stream, const uint64_t *addresses, uint64_t workspace,
                   guf_error *error) const;
  guf_status run_excess(backend::Stream *stream, const guf_launch_block &block,
                        guf_error *error) const;

  // The members are in the order in which a launch reads them.
  int32_t naddresses_ = 0;
  int32_t noperands_ = 0;
  bool masked_ = false;
  bool small_ = false;
  bool quiet_ = false;  // whether a launch with a null stream has no cancellation point
  uint64_t items_ = 0;
  backend::Device *device_ = nullptr;
  void *kernel_ = nullptr;
  uint32_t threads_ = 0;
  uint64_t workspace_ = 0;
  std::vector<Operand> operands_;
  std::vector<Pair> pairs_;
  std::vector<Stage> stages_;
  guf_launch_block block_;                    // addresses and alignment flags are set per launch
  std::unique_ptr<geometry::Launch> excess_;  // set if the loop dimensions exceed a block
  alignas(16) unsigned char scalars_[GUF_MAX_OPERANDS + 1][16];
  base::Ref<op::Ufunc> ufunc_;
  const op::Loop *loop_ = nullptr;
  std::string text_;                 // the text without the backend's part
  std::vector<uint64_t> described_;  // the operands' addresses at creation, for texts only
};

}  // namespace gufunc::plan

#endif  // GUFUNC_CORE_PLAN_PREPARED_PLAN_H
