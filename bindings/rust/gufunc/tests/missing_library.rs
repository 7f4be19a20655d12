// SPDX-License-Identifier: Apache-2.0
//! Errors of a program that opens the library at run time if no library is found. rust_test.py runs
//! this test with `GUFUNC_LIBRARY` set to a file that does not exist.
#![cfg(feature = "load")]

use gufunc::{DlpackTensor, DynArray, Status};
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
#[ignore = "requires a process without a library"]
fn every_call_reports_the_missing_library() {
    let error = gufunc::ufunc("add").unwrap_err();
    assert_eq!(error.status(), Status::IO);
    assert!(error.message().contains("/nonexistent/libgufunc.so"), "{error}");
    assert_eq!(gufunc::device("cpu").unwrap_err().status(), Status::IO);
    assert_eq!((gufunc::version(), gufunc::version_string()), ((0, 0, 0), ""));
    assert_eq!(gufunc::DType::F64.name(), "");
    assert!(Status::IO.text().contains("not loaded"));
    assert!(gufunc::sys::loader::reason().is_some());
    let context = gufunc::Context::default().clone();
    assert_eq!(context.ufunc("add").unwrap_err().status(), Status::IO);
    assert_eq!(gufunc::Context::new().unwrap_err().status(), Status::IO);
    assert_eq!(gufunc::backends(true).unwrap_err().status(), Status::IO);
    assert_eq!("f8".parse::<gufunc::DType>().unwrap_err().status(), Status::IO);
    assert_eq!(gufunc::Array::from_vec(vec![1.0], &[1]).unwrap_err().status(), Status::IO);
    assert_eq!(gufunc::poll(0).unwrap_err().status(), Status::IO);

    // No array takes the tensor, so the `DlpackTensor` deletes it once.
    static DELETED: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn delete(_tensor: *mut gufunc::sys::guf_dlpack) {
        DELETED.fetch_add(1, Ordering::SeqCst);
    }
    let mut tensor = gufunc::sys::guf_dlpack::new();
    tensor.major = 1;
    tensor.deleter = Some(delete);
    // SAFETY: the tensor outlives its use and has no elements.
    let taken = unsafe { DlpackTensor::from_versioned(&mut tensor).unwrap() };
    assert_eq!(DynArray::from_dlpack(taken, None).unwrap_err().status(), Status::IO);
    assert_eq!(DELETED.load(Ordering::SeqCst), 1);
}
