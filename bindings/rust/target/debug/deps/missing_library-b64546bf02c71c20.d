/work/main/bindings/rust/target/debug/deps/missing_library-b64546bf02c71c20.d: gufunc/tests/missing_library.rs

/work/main/bindings/rust/target/debug/deps/libmissing_library-b64546bf02c71c20.rmeta: gufunc/tests/missing_library.rs

gufunc/tests/missing_library.rs:
