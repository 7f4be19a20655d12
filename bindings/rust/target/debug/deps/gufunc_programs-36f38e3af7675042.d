/work/main/bindings/rust/target/debug/deps/gufunc_programs-36f38e3af7675042.d: programs/src/lib.rs

/work/main/bindings/rust/target/debug/deps/libgufunc_programs-36f38e3af7675042.rmeta: programs/src/lib.rs

programs/src/lib.rs:
