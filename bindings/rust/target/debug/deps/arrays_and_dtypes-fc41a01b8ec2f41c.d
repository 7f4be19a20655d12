/work/main/bindings/rust/target/debug/deps/arrays_and_dtypes-fc41a01b8ec2f41c.d: gufunc/tests/arrays_and_dtypes.rs

/work/main/bindings/rust/target/debug/deps/libarrays_and_dtypes-fc41a01b8ec2f41c.rmeta: gufunc/tests/arrays_and_dtypes.rs

gufunc/tests/arrays_and_dtypes.rs:
