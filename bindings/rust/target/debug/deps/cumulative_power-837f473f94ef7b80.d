/work/main/bindings/rust/target/debug/deps/cumulative_power-837f473f94ef7b80.d: programs/src/bin/cumulative_power.rs

/work/main/bindings/rust/target/debug/deps/libcumulative_power-837f473f94ef7b80.rmeta: programs/src/bin/cumulative_power.rs

programs/src/bin/cumulative_power.rs:
