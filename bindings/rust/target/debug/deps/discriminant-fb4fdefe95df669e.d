/work/main/bindings/rust/target/debug/deps/discriminant-fb4fdefe95df669e.d: programs/src/bin/discriminant.rs

/work/main/bindings/rust/target/debug/deps/libdiscriminant-fb4fdefe95df669e.rmeta: programs/src/bin/discriminant.rs

programs/src/bin/discriminant.rs:
