/work/main/bindings/rust/target/debug/deps/lifetimes_and_threads-738d8c7305edddd9.d: gufunc/tests/lifetimes_and_threads.rs gufunc/tests/shared/mod.rs

/work/main/bindings/rust/target/debug/deps/liblifetimes_and_threads-738d8c7305edddd9.rmeta: gufunc/tests/lifetimes_and_threads.rs gufunc/tests/shared/mod.rs

gufunc/tests/lifetimes_and_threads.rs:
gufunc/tests/shared/mod.rs:
