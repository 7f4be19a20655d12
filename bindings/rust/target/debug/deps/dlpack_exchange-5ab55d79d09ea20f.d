/work/main/bindings/rust/target/debug/deps/dlpack_exchange-5ab55d79d09ea20f.d: gufunc/tests/dlpack_exchange.rs gufunc/tests/shared/mod.rs

/work/main/bindings/rust/target/debug/deps/libdlpack_exchange-5ab55d79d09ea20f.rmeta: gufunc/tests/dlpack_exchange.rs gufunc/tests/shared/mod.rs

gufunc/tests/dlpack_exchange.rs:
gufunc/tests/shared/mod.rs:
