/work/main/bindings/rust/target/debug/deps/hermite-2741ecc40086db44.d: programs/src/bin/hermite.rs

/work/main/bindings/rust/target/debug/deps/libhermite-2741ecc40086db44.rmeta: programs/src/bin/hermite.rs

programs/src/bin/hermite.rs:
