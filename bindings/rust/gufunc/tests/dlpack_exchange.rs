// SPDX-License-Identifier: Apache-2.0
//! DLPack import and export, with a producer that counts the calls of its deleter, on every device
//! of `GUFUNC_TEST_DEVICES`.

mod shared;

use gufunc::{
    device, sys, ufunc, weak, Array, DlpackStream, DlpackTensor, DynArray, Order, Result, Slice,
    Status, Stream,
};
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// The state that another library would keep for a tensor that it exported.
struct Producer {
    deleted: Arc<AtomicUsize>,
    shape: Vec<i64>,
    strides: Vec<i64>,
    _memory: Array<f64>,
}

impl Producer {
    /// Describes `array` as another library would. Also returns the producer's state and the
    /// counter of deletions.
    fn describe(
        array: &Array<f64>,
    ) -> Result<(sys::guf_dlpack_tensor, *mut c_void, Arc<AtomicUsize>)> {
        let (info, deleted) = (array.info()?, Arc::new(AtomicUsize::new(0)));
        let owner = Box::into_raw(Box::new(Producer {
            deleted: deleted.clone(),
            shape: info.shape,
            strides: info.strides.iter().map(|&stride| stride / 8).collect(),
            _memory: array.clone(),
        }));
        let place = info.device.map(|device| device.info()).transpose()?;
        let mut tensor = sys::guf_dlpack_tensor::new();
        tensor.data = info.address as *mut c_void;
        tensor.device_type = match place.as_ref().map_or("cpu", |place| &place.backend) {
            "cuda" => sys::GUF_DLPACK_CUDA,
            "roc" => sys::GUF_DLPACK_ROC,
            _ => sys::GUF_DLPACK_CPU,
        };
        tensor.device_id = place.map_or(0, |place| place.index as i32);
        tensor.dtype = sys::GUF_F64;
        // SAFETY: `owner` is the box above.
        unsafe {
            tensor.ndim = (*owner).shape.len() as i32;
            tensor.shape = (*owner).shape.as_mut_ptr();
            tensor.strides = (*owner).strides.as_mut_ptr();
        }
        Ok((tensor, owner.cast(), deleted))
    }

    unsafe fn free(owner: *mut c_void) {
        // SAFETY: `owner` is the box of `describe`. A second call would crash or be counted.
        let owner = unsafe { Box::from_raw(owner.cast::<Producer>()) };
        owner.deleted.fetch_add(1, Ordering::SeqCst);
    }

    unsafe extern "C" fn delete(tensor: *mut sys::guf_dlpack) {
        // SAFETY: `export_tensor` made the boxes.
        unsafe { Producer::free(Box::from_raw(tensor).manager_context) }
    }

    unsafe extern "C" fn delete_unversioned(tensor: *mut sys::guf_dlpack_unversioned) {
        // SAFETY: `export_unversioned` made the boxes.
        unsafe { Producer::free(Box::from_raw(tensor).manager_context) }
    }

    fn export_tensor(array: &Array<f64>, flags: u32) -> Result<(DlpackTensor, Arc<AtomicUsize>)> {
        let mut managed = Box::new(sys::guf_dlpack::new());
        let (tensor, owner, deleted) = Producer::describe(array)?;
        (managed.major, managed.minor, managed.tensor) = (1, 3, tensor);
        (managed.manager_context, managed.flags) = (owner, flags.into());
        managed.deleter = Some(Producer::delete);
        // SAFETY: nothing else uses the tensor.
        Ok((unsafe { DlpackTensor::from_versioned(Box::into_raw(managed))? }, deleted))
    }

    fn export_unversioned(array: &Array<f64>) -> Result<(DlpackTensor, Arc<AtomicUsize>)> {
        let mut managed = Box::new(sys::guf_dlpack_unversioned::new());
        let (tensor, owner, deleted) = Producer::describe(array)?;
        (managed.tensor, managed.manager_context) = (tensor, owner);
        managed.deleter = Some(Producer::delete_unversioned);
        // SAFETY: nothing else uses the tensor.
        Ok((unsafe { DlpackTensor::from_unversioned(Box::into_raw(managed))? }, deleted))
    }
}

/// Returns the number of deletions. If fewer deletions than expected have run, waits at most a few
/// seconds, because the thread of another test may be about to run a deleter.
fn count(deleted: &AtomicUsize, expected: usize) -> usize {
    for _ in 0..5000 {
        gufunc::poll(0).unwrap();
        if deleted.load(Ordering::SeqCst) >= expected {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    deleted.load(Ordering::SeqCst)
}

#[test]
fn a_tensor_is_deleted_once_behind_the_last_view() -> Result<()> {
    let _turn = shared::turn();
    for device in shared::devices() {
        let x = Array::from_slice(device, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])?;
        let transposed = x.transpose(None)?;
        for versioned in [true, false] {
            let (tensor, deleted) = match versioned {
                true => Producer::export_tensor(&transposed, 0)?,
                false => Producer::export_unversioned(&transposed)?,
            };
            assert_eq!(tensor.version(), versioned.then_some((1, 3)));
            let y = Array::<f64>::from_dlpack(tensor, None)?;
            assert_eq!((y.shape()?, y.info()?.address), (vec![3, 2], x.info()?.address));
            assert_eq!(y.to_vec()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
            let row = y.slice(&[(1..2).into()])?;
            ufunc("negative")?.call_into(&row, &row)?;
            ufunc("negative")?.call_into(&row, &row)?;
            drop(y);
            device.synchronize(None)?;
            assert_eq!((count(&deleted, 0), row.to_vec()?), (0, vec![2.0, 5.0]));
            drop(row);
            device.synchronize(None)?;
            assert_eq!(count(&deleted, 1), 1);
        }
    }
    Ok(())
}

#[test]
fn who_does_not_take_a_tensor_deletes_it() -> Result<()> {
    let _turn = shared::turn();
    let x = Array::from_vec(vec![1.0, 2.0], &[2])?;
    let (tensor, deleted) = Producer::export_tensor(&x, 0)?;
    drop(tensor);
    assert_eq!(count(&deleted, 1), 1);

    // The test extracts the pointer, and with it the right to delete the tensor.
    let (tensor, deleted) = Producer::export_tensor(&x, 0)?;
    let pointer = tensor.into_unversioned().unwrap_err().into_versioned().unwrap();
    assert_eq!(count(&deleted, 0), 0);
    // SAFETY: this function is the only user of the pointer.
    drop(unsafe { DlpackTensor::from_versioned(pointer)? });
    assert_eq!(count(&deleted, 1), 1);
    let (tensor, deleted) = Producer::export_unversioned(&x)?;
    let pointer = tensor.into_versioned().unwrap_err().into_unversioned().unwrap();
    // SAFETY: this function is the only user of the pointer.
    let y = DynArray::from_dlpack(unsafe { DlpackTensor::from_unversioned(pointer)? }, None)?;
    assert_eq!((count(&deleted, 0), y.to_vec::<f64>()?), (0, vec![1.0, 2.0]));
    drop(y);
    assert_eq!(count(&deleted, 1), 1);

    // A tensor without a deleter is not deleted.
    let mut shape = [2];
    let mut managed = sys::guf_dlpack::new();
    (managed.major, managed.tensor) = (1, Producer::describe(&x)?.0);
    (managed.tensor.shape, managed.tensor.strides) = (shape.as_mut_ptr(), std::ptr::null_mut());
    // SAFETY: the tensor outlives the array.
    let y = DynArray::from_dlpack(unsafe { DlpackTensor::from_versioned(&mut managed)? }, None)?;
    assert_eq!(y.to_vec::<f64>()?, [1.0, 2.0]);
    // SAFETY: the function rejects NULL.
    let nothing = unsafe { DlpackTensor::from_versioned(std::ptr::null_mut()) };
    assert_eq!(nothing.unwrap_err().status(), Status::ARG);
    Ok(())
}

/// Returns the status with which a changed tensor is rejected, and checks that it was deleted.
fn refused(change: impl FnOnce(&mut sys::guf_dlpack), stream: DlpackStream<'_>) -> Result<Status> {
    let (tensor, deleted) = Producer::export_tensor(&Array::from_vec(vec![1.0, 2.0], &[2])?, 0)?;
    let pointer = tensor.into_versioned().unwrap();
    // SAFETY: the tensor belongs to this test.
    let tensor = unsafe {
        change(&mut *pointer);
        DlpackTensor::from_versioned(pointer)?
    };
    let error = DynArray::from_dlpack(tensor, stream).unwrap_err();
    assert_eq!(deleted.load(Ordering::SeqCst), 1, "{error}");
    Ok(error.status())
}

#[test]
fn a_refused_tensor_is_deleted_before_the_return() -> Result<()> {
    let _turn = shared::turn();
    let none = DlpackStream::Unordered;
    assert_eq!(refused(|tensor| tensor.major = 2, none)?, Status::ABI);
    assert_eq!(refused(|tensor| tensor.tensor.dtype = 0x0002_4002, none)?, Status::DTYPE);
    assert_eq!(refused(|tensor| tensor.tensor.device_type = 7, none)?, Status::NO_BACKEND);
    assert_eq!(refused(|tensor| tensor.tensor.ndim = 99, none)?, Status::SHAPE);
    assert_eq!(refused(|tensor| tensor.tensor.data = std::ptr::null_mut(), none)?, Status::ARG);
    assert_eq!(refused(|_| (), DlpackStream::Legacy)?, Status::ARG);
    let cpu = Stream::new(device("cpu")?)?;
    assert_eq!(refused(|_| (), (&cpu).into())?, Status::ARG);
    for device in shared::gpus() {
        let stream = Stream::new(device)?;
        assert_eq!(refused(|_| (), (&stream).into())?, Status::ARG);
        let there = |tensor: &mut sys::guf_dlpack| tensor.tensor.device_id = 99;
        let cuda = |tensor: &mut sys::guf_dlpack| {
            tensor.tensor.device_type = sys::GUF_DLPACK_CUDA;
            there(tensor);
        };
        assert_eq!(refused(cuda, none)?, Status::NO_DEVICE);
    }
    let (tensor, deleted) = Producer::export_tensor(&Array::from_vec(vec![1.0], &[1])?, 0)?;
    let other = Array::<i32>::from_dlpack(tensor, None).unwrap_err();
    assert_eq!((other.status(), count(&deleted, 1)), (Status::DTYPE, 1));
    Ok(())
}

#[test]
fn flags_go_both_ways() -> Result<()> {
    let _turn = shared::turn();
    for device in shared::devices() {
        let x = Array::from_slice(device, &[1.0, 2.0], &[2])?;
        let (tensor, deleted) = Producer::export_tensor(&x, sys::GUF_DLPACK_READ_ONLY)?;
        assert!(tensor.is_read_only() && !tensor.is_copied());
        let y = DynArray::from_dlpack(tensor, None)?;
        assert!(y.info()?.is_read_only());
        let written = ufunc("negative")?.call_into(&y, &y).unwrap_err();
        assert_eq!(written.status(), Status::READ_ONLY);
        let again = y.to_dlpack(None)?;
        assert!(again.is_read_only() && again.version() == Some((1, 0)));
        let unversioned = y.to_dlpack_unversioned(None).unwrap_err();
        assert_eq!(unversioned.status(), Status::READ_ONLY);
        let copy = y.copy_to_dlpack(None)?;
        assert!(copy.is_copied() && !copy.is_read_only());
        drop(y);
        assert_eq!(count(&deleted, 0), 0);
        let copy = Array::<f64>::from_dlpack(copy, None)?;
        ufunc("negative")?.call_into(&copy, &copy)?;
        assert_eq!((copy.to_vec()?, x.to_vec()?), (vec![-1.0, -2.0], vec![1.0, 2.0]));
        drop(again);
        device.synchronize(None)?;
        assert_eq!(count(&deleted, 1), 1);
    }
    Ok(())
}

#[test]
fn exports_keep_the_memory_and_report_unsupported() -> Result<()> {
    let _turn = shared::turn();
    for device in shared::devices() {
        let x = Array::from_slice(device, &[1.0, 2.0, 3.0, 4.0], &[4])?;
        let address = x.info()?.address;
        let back = x.slice(&[Slice::ALL.step(-2)])?;
        drop(x);
        for versioned in [true, false] {
            let tensor = match versioned {
                true => back.to_dlpack(None)?,
                false => back.to_dlpack_unversioned(None)?,
            };
            let sent = std::thread::spawn(move || Array::<f64>::from_dlpack(tensor, None));
            let y = sent.join().unwrap()?;
            assert_eq!((y.to_vec()?, y.info()?.strides), (vec![4.0, 2.0], vec![-16]));
            assert_eq!(y.info()?.address, address + 24);
        }
        let times =
            back.astype("timedelta64[s]".parse()?, gufunc::Casting::Unsafe, Order::C, None)?;
        assert_eq!(times.to_dlpack(None).unwrap_err().status(), Status::DTYPE);
    }
    Ok(())
}

#[test]
fn streams_order_what_is_exchanged() -> Result<()> {
    let _turn = shared::turn();
    for device in shared::gpus() {
        let (stream, size) = (Stream::new(device)?, 1 << 20);
        let x = Array::full(device, &[size], 1.0)?;
        let (add, negative) = (ufunc("add")?, ufunc("negative")?);
        for _ in 0..8 {
            add.with().stream(&stream).call_into((&x, weak(1)), &x)?;
        }
        // The default stream reads the tensor after the work of the stream that produced the
        // values.
        let (tensor, deleted) = Producer::export_tensor(&x, 0)?;
        let y = Array::<f64>::from_dlpack(tensor, &stream)?;
        let opposite = negative.call(&y)?;
        assert!(opposite.to_vec::<f64>()?.iter().all(|&value| value == -9.0));
        // The consumer stream waits for the work on the default stream.
        add.call_into((&y, weak(1)), &y)?;
        let tensor = y.to_dlpack(&stream)?;
        let read = negative.with().stream(&stream).call(&x)?;
        drop((tensor, y));
        stream.synchronize()?;
        assert!(read.to_vec::<f64>()?.iter().all(|&value| value == -10.0));
        device.synchronize(None)?;
        assert_eq!(count(&deleted, 1), 1);
        let kept = x.to_dlpack(DlpackStream::Legacy)?;
        drop((kept, x.to_dlpack(DlpackStream::PerThread)?));
        let cpu = Stream::new(gufunc::device("cpu")?)?;
        assert_eq!(x.to_dlpack(&cpu).unwrap_err().status(), Status::DEVICE_MISMATCH);
    }
    let x = Array::from_vec(vec![1.0], &[1])?;
    assert_eq!(x.to_dlpack(DlpackStream::Legacy).unwrap_err().status(), Status::ARG);
    Ok(())
}
