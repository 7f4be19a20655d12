/work/main/bindings/rust/target/debug/deps/gufunc_sys-e681c672a1c91757.d: gufunc-sys/src/lib.rs gufunc-sys/src/ffi.rs

/work/main/bindings/rust/target/debug/deps/libgufunc_sys-e681c672a1c91757.rmeta: gufunc-sys/src/lib.rs gufunc-sys/src/ffi.rs

gufunc-sys/src/lib.rs:
gufunc-sys/src/ffi.rs:
