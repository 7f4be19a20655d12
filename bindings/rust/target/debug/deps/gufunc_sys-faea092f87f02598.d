/work/main/bindings/rust/target/debug/deps/gufunc_sys-faea092f87f02598.d: gufunc-sys/src/lib.rs gufunc-sys/src/ffi.rs

/work/main/bindings/rust/target/debug/deps/libgufunc_sys-faea092f87f02598.rmeta: gufunc-sys/src/lib.rs gufunc-sys/src/ffi.rs

gufunc-sys/src/lib.rs:
gufunc-sys/src/ffi.rs:
