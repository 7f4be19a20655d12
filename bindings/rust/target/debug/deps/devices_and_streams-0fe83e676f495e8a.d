/work/main/bindings/rust/target/debug/deps/devices_and_streams-0fe83e676f495e8a.d: gufunc/tests/devices_and_streams.rs gufunc/tests/shared/mod.rs

/work/main/bindings/rust/target/debug/deps/libdevices_and_streams-0fe83e676f495e8a.rmeta: gufunc/tests/devices_and_streams.rs gufunc/tests/shared/mod.rs

gufunc/tests/devices_and_streams.rs:
gufunc/tests/shared/mod.rs:
