/work/main/bindings/rust/target/debug/deps/gufunc-f54ca125afd3449d.d: gufunc/src/lib.rs gufunc/src/accumulate.rs gufunc/src/array.rs gufunc/src/at.rs gufunc/src/call.rs gufunc/src/callback.rs gufunc/src/chunks.rs gufunc/src/context.rs gufunc/src/copies.rs gufunc/src/device.rs gufunc/src/dlpack.rs gufunc/src/dtype.rs gufunc/src/element.rs gufunc/src/elementwise.rs gufunc/src/fp_flags.rs gufunc/src/frame.rs gufunc/src/graph.rs gufunc/src/handle.rs gufunc/src/host_loop.rs gufunc/src/inputs.rs gufunc/src/kernel.rs gufunc/src/keywords.rs gufunc/src/loop_args.rs gufunc/src/module.rs gufunc/src/operand.rs gufunc/src/operators.rs gufunc/src/plan.rs gufunc/src/reduce.rs gufunc/src/resolve.rs gufunc/src/scope.rs gufunc/src/status.rs gufunc/src/stream.rs gufunc/src/tensor.rs gufunc/src/text.rs gufunc/src/typed.rs gufunc/src/ufunc.rs gufunc/src/views.rs

/work/main/bindings/rust/target/debug/deps/libgufunc-f54ca125afd3449d.rmeta: gufunc/src/lib.rs gufunc/src/accumulate.rs gufunc/src/array.rs gufunc/src/at.rs gufunc/src/call.rs gufunc/src/callback.rs gufunc/src/chunks.rs gufunc/src/context.rs gufunc/src/copies.rs gufunc/src/device.rs gufunc/src/dlpack.rs gufunc/src/dtype.rs gufunc/src/element.rs gufunc/src/elementwise.rs gufunc/src/fp_flags.rs gufunc/src/frame.rs gufunc/src/graph.rs gufunc/src/handle.rs gufunc/src/host_loop.rs gufunc/src/inputs.rs gufunc/src/kernel.rs gufunc/src/keywords.rs gufunc/src/loop_args.rs gufunc/src/module.rs gufunc/src/operand.rs gufunc/src/operators.rs gufunc/src/plan.rs gufunc/src/reduce.rs gufunc/src/resolve.rs gufunc/src/scope.rs gufunc/src/status.rs gufunc/src/stream.rs gufunc/src/tensor.rs gufunc/src/text.rs gufunc/src/typed.rs gufunc/src/ufunc.rs gufunc/src/views.rs

gufunc/src/lib.rs:
gufunc/src/accumulate.rs:
gufunc/src/array.rs:
gufunc/src/at.rs:
gufunc/src/call.rs:
gufunc/src/callback.rs:
gufunc/src/chunks.rs:
gufunc/src/context.rs:
gufunc/src/copies.rs:
gufunc/src/device.rs:
gufunc/src/dlpack.rs:
gufunc/src/dtype.rs:
gufunc/src/element.rs:
gufunc/src/elementwise.rs:
gufunc/src/fp_flags.rs:
gufunc/src/frame.rs:
gufunc/src/graph.rs:
gufunc/src/handle.rs:
gufunc/src/host_loop.rs:
gufunc/src/inputs.rs:
gufunc/src/kernel.rs:
gufunc/src/keywords.rs:
gufunc/src/loop_args.rs:
gufunc/src/module.rs:
gufunc/src/operand.rs:
gufunc/src/operators.rs:
gufunc/src/plan.rs:
gufunc/src/reduce.rs:
gufunc/src/resolve.rs:
gufunc/src/scope.rs:
gufunc/src/status.rs:
gufunc/src/stream.rs:
gufunc/src/tensor.rs:
gufunc/src/text.rs:
gufunc/src/typed.rs:
gufunc/src/ufunc.rs:
gufunc/src/views.rs:
