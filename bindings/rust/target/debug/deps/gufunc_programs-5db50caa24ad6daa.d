/work/main/bindings/rust/target/debug/deps/gufunc_programs-5db50caa24ad6daa.d: programs/src/lib.rs

/work/main/bindings/rust/target/debug/deps/libgufunc_programs-5db50caa24ad6daa.rmeta: programs/src/lib.rs

programs/src/lib.rs:
