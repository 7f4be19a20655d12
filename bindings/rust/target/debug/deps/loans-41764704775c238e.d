/work/main/bindings/rust/target/debug/deps/loans-41764704775c238e.d: gufunc/tests/loans.rs gufunc/tests/shared/mod.rs

/work/main/bindings/rust/target/debug/deps/libloans-41764704775c238e.rmeta: gufunc/tests/loans.rs gufunc/tests/shared/mod.rs

gufunc/tests/loans.rs:
gufunc/tests/shared/mod.rs:
