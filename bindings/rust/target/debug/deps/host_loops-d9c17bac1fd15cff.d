/work/main/bindings/rust/target/debug/deps/host_loops-d9c17bac1fd15cff.d: gufunc/tests/host_loops.rs

/work/main/bindings/rust/target/debug/deps/libhost_loops-d9c17bac1fd15cff.rmeta: gufunc/tests/host_loops.rs

gufunc/tests/host_loops.rs:
