/work/main/bindings/rust/target/debug/deps/optional_features-b9fb6040961a8351.d: gufunc/tests/optional_features.rs

/work/main/bindings/rust/target/debug/deps/liboptional_features-b9fb6040961a8351.rmeta: gufunc/tests/optional_features.rs

gufunc/tests/optional_features.rs:
