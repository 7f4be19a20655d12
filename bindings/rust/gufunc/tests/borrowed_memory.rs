// SPDX-License-Identifier: Apache-2.0
//! Memory that a call borrows is not accessed after the call returns, whatever the program does
//! with its streams. The tests run on every device of `GUFUNC_TEST_DEVICES`.

mod shared;

use gufunc::{
    scalar, ufunc, Array, DType, Device, DynArray, FpFlags, HostMemory, HostPolicy, Order, Result,
    Scope, Status, Stream,
};

/// Large enough that a device has not finished the work when the call that queues the work returns.
const SIZE: i64 = 1 << 20;

#[test]
fn fp_flags_are_set_when_the_call_returns() -> Result<()> {
    let _turn = shared::turn();
    for device in shared::devices() {
        let (one, zero) = (Array::full(device, &[SIZE], 1.0)?, Array::full(device, &[SIZE], 0.0)?);
        let quotient = Array::<f64>::alloc(device, &[SIZE], Order::C)?;
        let stream = Stream::new(device)?;
        for queued in [false, true] {
            let (divide, mut found) = (ufunc("divide")?, FpFlags::NONE);
            let mut call = divide.with().report_fp_flags(FpFlags::ALL, &mut found);
            if queued {
                call = call.stream(&stream);
            }
            call.call_into((&one, &zero), &quotient)?;
            assert_eq!(found, FpFlags::DIVIDE);
        }
        let (multiply, mut found) = (ufunc("multiply")?, FpFlags::NONE);
        let huge = Array::full(device, &[SIZE], 1e300)?;
        multiply.reduce(&huge).report_fp_flags(FpFlags::ALL, &mut found).call()?;
        assert!(found.contains(FpFlags::OVERFLOW));
        let mut found = FpFlags::NONE;
        multiply.accumulate(&huge).report_fp_flags(FpFlags::ALL, &mut found).call()?;
        assert!(found.contains(FpFlags::OVERFLOW));
        let (add, mut found) = (ufunc("add")?, FpFlags::NONE);
        let most = Array::full(device, &[1], f64::MAX)?;
        let index = Array::full(None, &[1000], 0i64)?;
        add.at(&most, &index)
            .operand(scalar(f64::MAX))
            .report_fp_flags(FpFlags::ALL, &mut found)
            .call()?;
        assert!(found.contains(FpFlags::OVERFLOW));
    }
    Ok(())
}

fn capture(stream: &Stream) -> Result<()> {
    // SAFETY: only this test uses the streams, on one thread.
    unsafe { stream.begin_capture() }
}

/// Copies `x` into a slice while the stream is captured, and returns the status of the copy.
fn captured_copy(stream: &Stream, x: &DynArray, host: &mut [f64]) -> Result<Status> {
    capture(stream)?;
    let refused = x.copy_to_host(host, Order::C, Some(stream)).unwrap_err();
    let graph = stream.end_capture()?;
    // The slice is no longer borrowed, so launching the graph must not write it.
    host.fill(0.5);
    graph.launch(stream)?;
    stream.synchronize()?;
    Ok(refused.status())
}

#[test]
fn a_graph_has_no_slice() -> Result<()> {
    let _turn = shared::turn();
    for device in shared::gpus() {
        let (stream, mut host) = (Stream::new(device)?, vec![0.0; 4096]);
        let x = Array::full(device, &[4096], 7.0)?;
        assert_eq!(captured_copy(&stream, &x, &mut host)?, Status::CAPTURE);
        assert!(host.iter().all(|&value| value == 0.5));
        // A capture does not support staging, which page-locked memory does not need.
        let mut locked = device.register(host)?;
        assert_eq!(captured_copy(&stream, &x, &mut locked)?, Status::CAPTURE);
        assert!(locked.iter().all(|&value| value == 0.5));

        capture(&stream)?;
        let add = ufunc("add")?;
        let call = add.with().stream(&stream).host_policy(HostPolicy::Copy);
        let refused = { call }.call_into((&x, &locked[..]), &x);
        assert_eq!(refused.unwrap_err().status(), Status::CAPTURE);
        let mut found = FpFlags::NONE;
        let negative = ufunc("negative")?;
        let call = negative.with().stream(&stream).report_fp_flags(FpFlags::ALL, &mut found);
        { call }.call_into(&x, &x).unwrap_err();
        stream.end_capture()?.launch(&stream)?;
        stream.synchronize()?;
        assert!(x.to_vec()?.iter().all(|&value| value == 7.0));
    }
    Ok(())
}

/// Runs scopes in which `work` leaves the stream captured. The scopes must wait for their copies
/// nonetheless.
fn scope_with_capture(
    device: Device,
    work: impl for<'s> FnOnce(&Scope<'s, '_>, &Stream) -> Result<()>,
) -> Result<()> {
    let (stream, other) = (Stream::new(device)?, Stream::new(device)?);
    let x = Array::full(device, &[SIZE], 7.0)?;
    let host = vec![0.0; SIZE as usize];
    let mut locked = device.register(host)?;
    let place = &mut locked[..];
    let failed = stream.scope(|scope| {
        for _ in 0..8 {
            ufunc("negative")?.with().stream(scope.stream()).call_into(&x, &x)?;
        }
        scope.copy_to_host(&x, place)?;
        work(scope, &other)
    });
    assert_eq!(failed.unwrap_err().status(), Status::CAPTURE);
    assert!(locked.iter().all(|&value| value == 7.0));
    Ok(())
}

#[test]
fn a_scope_waits_though_its_stream_is_captured() -> Result<()> {
    let _turn = shared::turn();
    for device in shared::gpus() {
        scope_with_capture(device, |scope, _| capture(scope.stream()))?;
        scope_with_capture(device, |scope, other| {
            capture(other)?;
            scope.stream().wait_event(&other.record()?)
        })?;
        let mut kept = None;
        scope_with_capture(device, |scope, _| {
            capture(scope.stream())?;
            let x = Array::full(device, &[3], 1.0)?;
            let mut host = [0.0; 3];
            let refused = x.copy_to_host(&mut host, Order::C, Some(scope.stream()));
            assert_eq!(refused.unwrap_err().status(), Status::CAPTURE);
            kept = Some(scope.stream().end_capture()?);
            capture(scope.stream())
        })?;
    }
    Ok(())
}

#[test]
fn plans_of_a_gpu_over_host_memory() -> Result<()> {
    let _turn = shared::turn();
    let negative = ufunc("negative")?;
    for device in shared::gpus() {
        let stream = Stream::new(device)?;
        for memory in [HostMemory::Mapped, HostMemory::Managed] {
            let array = |value: f64| -> Result<DynArray> {
                let made = DynArray::alloc_host(device, memory, DType::F64, &[SIZE], Order::C)?;
                made.fill(scalar(value), None)?;
                Ok(made)
            };
            let (x, mut y, other) = (array(2.0)?, array(0.0)?, array(0.0)?);
            let plan = negative.with().device(device).plan(&x, &mut y)?;
            let queued = negative.with().stream(&stream).plan(&x, &y)?;
            for (value, plan) in [(-2.0, &plan), (-2.0, &queued)] {
                y.fill(scalar(0.0), None)?;
                plan.launch(&x, &y)?;
                // SAFETY: the launch has waited, and nothing else writes the memory.
                let written = unsafe {
                    let address = y.info()?.address as *const f64;
                    std::slice::from_raw_parts(address, SIZE as usize)
                };
                assert!(written.iter().all(|&found| found == value));
            }
            plan.launch(&y, &x)?; // the plan's arrays, swapped
            let (a, mut b) = (vec![1.0; SIZE as usize], vec![0.5; SIZE as usize]);
            let slices = plan.launch(&a, &mut b).unwrap_err();
            assert_eq!((slices.status(), slices.argument()), (Status::PLAN_MISMATCH, Some(0)));
            assert!(b.iter().all(|&value| value == 0.5));
            let unknown = plan.launch(&x, &other).unwrap_err();
            assert_eq!((unknown.status(), unknown.argument()), (Status::PLAN_MISMATCH, Some(1)));
        }
        let (x, y) = (Array::full(None, &[2], 3.0)?, Array::full(None, &[2], 0.0)?);
        let unread = negative.with().device(device).plan(&x, &y).map(drop).unwrap_err();
        assert_eq!(unread.status(), Status::UNSUPPORTED);
    }
    let (x, y) = (Array::full(None, &[2], 3.0)?, Array::full(None, &[2], 0.0)?);
    let plan = negative.with().device(gufunc::device("auto")?).plan(&x, &y)?;
    let mut z = [0.0; 2];
    plan.launch(&x, &mut z)?; // on the cpu, whichever device "auto" selects
    assert_eq!(z, [-3.0; 2]);
    Ok(())
}

#[test]
fn slices_of_bool_hold_bools() -> Result<()> {
    let _turn = shared::turn();
    let bytes = Array::from_vec(vec![0u8, 1, 2, 128, 255, 6], &[6])?;
    let info = bytes.info()?;
    for device in shared::devices() {
        // SAFETY: `bytes` outlives the array.
        let wrapped = unsafe {
            let shape = [6];
            let address = info.address as *mut u8;
            let tensor = gufunc::Tensor::from_raw(address, gufunc::DType::BOOL, &shape, None);
            DynArray::wrap(tensor, || ())?
        };
        let flags = wrapped.to_device(device, None)?;
        for name in ["logical_or", "bitwise_or", "bitwise_and", "maximum", "minimum"] {
            let mut out = [0u8; 6];
            let mut place = [false; 6];
            let policy = HostPolicy::Copy;
            let function = ufunc(name)?;
            function.with().host_policy(policy).call_into((&flags, &flags), &mut place)?;
            // SAFETY: both buffers have six bytes.
            unsafe { std::ptr::copy(place.as_ptr().cast::<u8>(), out.as_mut_ptr(), 6) };
            assert!(out.iter().all(|&byte| byte <= 1), "{name}: {out:?}");
        }
    }
    Ok(())
}
