/work/main/bindings/rust/target/debug/deps/keywords_of_calls-cd66a57e83be53c3.d: gufunc/tests/keywords_of_calls.rs

/work/main/bindings/rust/target/debug/deps/libkeywords_of_calls-cd66a57e83be53c3.rmeta: gufunc/tests/keywords_of_calls.rs

gufunc/tests/keywords_of_calls.rs:
