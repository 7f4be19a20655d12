/work/main/bindings/rust/target/debug/deps/matmulcore-a9fd60e4d8f680f5.d: programs/src/bin/matmulcore.rs

/work/main/bindings/rust/target/debug/deps/libmatmulcore-a9fd60e4d8f680f5.rmeta: programs/src/bin/matmulcore.rs

programs/src/bin/matmulcore.rs:
