// SPDX-License-Identifier: Apache-2.0
//! What a program says that opens the library at run time and finds none. Run by rust_test.py, with
//! `GUFUNC_LIBRARY` naming a file that is not there.
#![cfg(feature = "load")]

#[test]
#[ignore = "takes a process without a library"]
fn everything_says_so() {
    let error = gufunc::ufunc("add").unwrap_err();
    assert_eq!(error.status(), gufunc::Status::IO);
    assert!(error.message().contains("/nonexistent/libgufunc.so"), "{error}");
    assert_eq!(gufunc::device("cpu").unwrap_err().status(), gufunc::Status::IO);
    assert_eq!((gufunc::version(), gufunc::version_string()), ((0, 0, 0), ""));
    assert_eq!(gufunc::DType::F64.name(), "");
    assert!(gufunc::Status::IO.text().contains("not loaded"));
    assert!(gufunc::sys::loader::reason().is_some());
}
