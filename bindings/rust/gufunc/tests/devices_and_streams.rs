// SPDX-License-Identifier: Apache-2.0
//! Streams, events, graphs, memory and kernels, on every device of `GUFUNC_TEST_DEVICES`.

mod shared;

use gufunc::{
    device, inout, load_module, scalar, ufunc, weak, Array, Device, Dim3, Event, HostMemory,
    HostPolicy, Order, ParameterKind, Result, Status, Stream,
};
use std::time::Duration;

fn each(test: fn(Device) -> Result<()>) -> Result<()> {
    shared::devices().into_iter().try_for_each(test)
}

#[test]
fn streams_and_events() -> Result<()> {
    let _turn = shared::turn();
    each(|device| {
        let (stream, other) = (Stream::new(device)?, Stream::new(device)?);
        assert_eq!(stream.device()?, device);
        let x = Array::from_slice(device, &[1.0, 4.0, 9.0], &[3])?;
        let root = ufunc("sqrt")?.with().stream(&stream).call(&x)?;
        let event = stream.record()?;
        other.wait_event(&event)?;
        let sum = ufunc("add")?.reduce(&root).stream(&other).call()?;
        other.synchronize()?;
        assert!(other.query()? && event.query()? && event.wait(Some(Duration::from_secs(9)))?);
        assert_eq!(sum.to_vec::<f64>()?, [6.0]);
        assert!(stream.synchronize_for(Some(Duration::from_secs(9)))?);
        assert!(device.synchronize(None)?);

        let fresh = Event::new(device)?;
        assert!(fresh.query()?);
        fresh.record(&other)?;
        other.synchronize()?;
        let on_gpu = device.info()?.backend != "cpu";
        match Event::elapsed(&event, &fresh) {
            Ok(time) => assert!(on_gpu && time.is_some_and(|time| time >= 0.0)),
            Err(error) => assert!(!on_gpu && error.status() == Status::UNSUPPORTED),
        }
        match stream.native() {
            Ok(native) => assert!(on_gpu && native != 0 && device.native_stream().is_ok()),
            Err(error) => assert!(!on_gpu && error.status() == Status::UNSUPPORTED),
        }
        Ok(())
    })
}

#[test]
fn arrays_wait_for_their_work() -> Result<()> {
    let _turn = shared::turn();
    each(|device| {
        let (stream, size) = (Stream::new(device)?, 1 << 16);
        let x = Array::full(device, &[size], 0.0)?;
        for _ in 0..20 {
            ufunc("add")?.with().stream(&stream).call_into((&x, weak(1)), &x)?;
        }
        let row = x.slice(&[(5..9).into()])?;
        let soon = row.synchronize(Some(Duration::ZERO))?;
        assert!(row.synchronize(None)? && stream.query()?, "{soon}");
        assert_eq!(row.to_vec()?, [20.0; 4]);
        // Reading the array waits for the work of the stream, so no explicit wait is needed.
        let large = Array::full(device, &[1 << 20], 4.0)?;
        let root = ufunc("sqrt")?.with().stream(&stream).call(&large)?;
        assert!(root.to_vec::<f64>()?.iter().all(|&value| value == 2.0));
        let next = ufunc("sqrt")?.with().stream(&stream).call(&large)?;
        assert!(next.to_string().contains("[2. 2. 2. ... 2. 2. 2.]"), "{next}");
        Ok(())
    })
}

#[test]
fn scopes_and_guards() -> Result<()> {
    let _turn = shared::turn();
    each(|device| {
        let (x, mut y, mut flags) = (vec![4.0f64; 5000], vec![0.0f64; 5000], [false; 5000]);
        let stream = Stream::new(device)?;
        let (sqrt, equal) = (ufunc("sqrt")?, ufunc("equal")?);
        stream.scope(|scope| {
            let x = scope.to_device(device, &x, &[5000])?;
            let root = sqrt.with().stream(scope.stream()).call(&x)?;
            let two = equal.with().stream(&stream).call((&root, weak(2)))?;
            scope.copy_to_host(&two, &mut flags)?;
            scope.copy_to_host(&root, &mut y)
        })?;
        assert!(y.iter().all(|&y| y == 2.0) && flags.iter().all(|&flag| flag));
        let mut short = [0.0; 3];
        let failed = stream.scope(|scope| {
            let x = scope.to_device(device, &x, &[5000])?;
            scope.copy_to_host(&x, &mut short)
        });
        assert_eq!(failed.unwrap_err().status(), Status::SHAPE);
        let panicked = std::panic::catch_unwind(|| {
            let _guard = stream.auto_synchronize();
            panic!("on the way");
        });
        assert!(panicked.is_err() && stream.query()?);
        stream.auto_synchronize().finish()
    })
}

#[test]
fn copies_between_devices() -> Result<()> {
    let _turn = shared::turn();
    each(|device| {
        let x = Array::from_slice(device, &[1i32, 2, 3, 4], &[2, 2])?;
        assert_eq!(x.info()?.device, Some(device));
        let transposed = x.transpose(None)?;
        assert_eq!(transposed.to_vec()?, [1, 3, 2, 4]);
        let copy = transposed.copy(Order::C, None)?.to_device(gufunc::device("cpu")?, None)?;
        assert_eq!(copy.to_vec()?, [1, 3, 2, 4]);
        let stream = Stream::new(device)?;
        let mut host = [0; 4];
        x.copy_to_host(&mut host, Order::F, Some(&stream))?;
        assert_eq!(host, [1, 3, 2, 4]);
        for other in shared::devices() {
            let there = Array::<i32>::alloc(other, &[2, 2], Order::C)?;
            x.copy_to(&there, None)?;
            assert_eq!(there.to_vec()?, [1, 2, 3, 4]);
        }
        Ok(())
    })
}

#[test]
fn host_memory() -> Result<()> {
    let _turn = shared::turn();
    each(|device| {
        for kind in [HostMemory::Pinned, HostMemory::Mapped, HostMemory::Managed] {
            match Array::<f64>::alloc_host(device, kind, &[4], Order::C) {
                Ok(array) => {
                    array.fill(scalar(2.5), None)?;
                    assert_eq!(array.to_vec()?, [2.5; 4]);
                }
                Err(error) => assert_eq!(error.status(), Status::UNSUPPORTED),
            }
        }
        let memory = vec![1.0f64; 1 << 16];
        let mut locked = device.register(memory)?;
        locked[0] = 9.0;
        let roots = ufunc("sqrt")?.with().device(device).call(&locked[..])?;
        assert_eq!(roots.to_vec::<f64>()?[..2], [3.0, 1.0]);
        let memory = locked.into_vec();
        assert_eq!((memory[0], memory.len()), (9.0, 1 << 16));
        // The memory is no longer locked, so it can be locked again. Dropping the result unlocks
        // it.
        drop(device.register(memory)?);
        let none = device.register(Vec::<f64>::new()).map(drop).unwrap_err();
        assert_eq!(none.status(), Status::ARG);
        Ok(())
    })
}

#[test]
fn a_mix_of_places() -> Result<()> {
    let _turn = shared::turn();
    for device in shared::gpus() {
        let (add, x) = (ufunc("add")?, Array::from_slice(device, &[1.0, 2.0], &[2])?);
        let y = [10.0, 20.0];
        let refused = add.call((&x, &y)).unwrap_err();
        assert_eq!(refused.status(), Status::DEVICE_MISMATCH);
        let sum = add.with().host_policy(HostPolicy::Copy).call((&x, &y))?;
        assert_eq!((sum.info()?.device, sum.to_vec::<f64>()?), (Some(device), vec![11.0, 22.0]));
        let host = add.with().device(device).call((&y, weak(1)))?;
        assert_eq!(host.to_vec::<f64>()?, [11.0, 21.0]);
        let plan = add.with().plan((&x, &x), &x)?;
        plan.launch((&x, &x), &x)?;
        assert_eq!(x.to_vec()?, [2.0, 4.0]);
        assert_eq!(plan.launch((&y, &y), &x).unwrap_err().status(), Status::PLAN_MISMATCH);
    }
    Ok(())
}

fn capture(stream: &Stream) -> Result<()> {
    // SAFETY: only this test uses the streams, on one thread.
    unsafe { stream.begin_capture() }
}

#[test]
fn graphs() -> Result<()> {
    let _turn = shared::turn();
    let cpu = Stream::new(device("cpu")?)?;
    assert_eq!(capture(&cpu).unwrap_err().status(), Status::UNSUPPORTED);
    for device in shared::gpus() {
        let (stream, add) = (Stream::new(device)?, ufunc("add")?);
        let x = Array::from_slice(device, &[1.0, 2.0], &[2])?;
        capture(&stream)?;
        assert_eq!(stream.synchronize().unwrap_err().status(), Status::CAPTURE);
        add.with().stream(&stream).call_into((&x, weak(1)), &x)?;
        let mut graph = stream.end_capture()?;
        assert_eq!(x.to_vec()?, [1.0, 2.0]);
        graph.launch(&stream)?;
        graph.clone().launch(&stream)?;
        stream.synchronize()?;
        assert_eq!(x.to_vec()?, [3.0, 4.0]);
        capture(&stream)?;
        add.with().stream(&stream).call_into((&x, weak(10)), &x)?;
        stream.end_capture_into(&mut graph)?;
        graph.launch(&stream)?;
        stream.synchronize()?;
        assert_eq!(x.to_vec()?, [13.0, 14.0]);
    }
    Ok(())
}

#[test]
fn memory_of_devices() -> Result<()> {
    let _turn = shared::turn();
    for device in shared::gpus() {
        let x = Array::<u8>::alloc(device, &[1 << 20], Order::C)?;
        let held = device.memory()?;
        assert!(held.live_bytes >= 1 << 20 && held.total_bytes >= held.free_bytes);
        device.limit_memory(Some(held.live_bytes + held.cached_bytes))?;
        let refused = Array::<u8>::alloc(device, &[64 << 20], Order::C).unwrap_err();
        assert_eq!(refused.status(), Status::DEVICE_MEMORY);
        device.limit_memory(None)?;
        drop(x);
        gufunc::poll(0)?;
        device.trim_memory(0)?;
        let mismatched = device.enable_peer(gufunc::device("cpu")?).unwrap_err();
        assert_eq!(mismatched.status(), Status::DEVICE_MISMATCH);
    }
    Ok(())
}

#[test]
fn device_memory_goes_back_without_a_close() -> Result<()> {
    let _turn = shared::turn();
    for device in shared::gpus() {
        let before = device.memory()?.live_bytes;
        for _ in 0..2000 {
            let x = Array::<f64>::alloc(device, &[1 << 12], Order::C)?;
            ufunc("sqrt")?.call_into(&x, &x)?;
        }
        device.synchronize(None)?;
        gufunc::poll(0)?;
        assert!(device.memory()?.live_bytes <= before + (4 << 20));
    }
    Ok(())
}

#[test]
fn modules() -> Result<()> {
    let _turn = shared::turn();
    let Some(path) = shared::module("discriminant") else { return Ok(()) };
    // SAFETY: the module is built from the examples.
    let module = unsafe { load_module(&path)? };
    let info = module.info()?;
    assert_eq!((info.name.as_str(), info.nfunctions, info.data_only), ("discriminant", 1, false));
    assert_eq!(module.functions()?, ["discriminant:discriminant"]);
    assert!(module.kernels()?.is_empty());
    // SAFETY: the module is built from the examples.
    let again = unsafe { load_module(&path)? };
    assert_eq!(again.as_raw(), module.as_raw());
    assert_eq!(module.kernel("none").unwrap_err().status(), Status::NOT_FOUND);

    let context = gufunc::Context::new()?;
    let own = context.create("own", 3, 1).build()?;
    own.add_module_loop(&module, "discriminant", &[gufunc::DType::F32; 4])?;
    let result = own.call((&[1f32], &[3f32], &[2f32]))?;
    assert_eq!(result.to_vec::<f32>()?, [1.0]);
    // SAFETY: the module is built from the examples.
    let data_only = unsafe { context.load_module_data(&path)? };
    assert!(data_only.info()?.data_only);
    Ok(())
}

#[test]
fn raw_kernels() -> Result<()> {
    let _turn = shared::turn();
    let Some(path) = shared::module("raw_counting") else { return Ok(()) };
    // SAFETY: the module is built from the examples.
    let module = unsafe { load_module(&path)? };
    assert!(module.kernels()?.contains(&"histogram".to_string()));
    let histogram = module.kernel("histogram")?;
    let info = histogram.info()?;
    assert_eq!((info.name.as_str(), info.nparameters), ("raw_counting:histogram", 2));
    assert_eq!(histogram.parameter(0)?.kind, ParameterKind::View(1));
    assert!(histogram.parameter(0)?.read_only && !histogram.parameter(1)?.read_only);
    assert_eq!(histogram.parameter(2).unwrap_err().status(), Status::INDEX);
    let values: Vec<f32> = (0..1000).map(|i| i as f32 / 1000.0).collect();
    each_kernel_device(|device| {
        assert!(histogram.device_info(device)?.max_threads >= 64);
        let (x, counts) =
            (Array::from_slice(device, &values, &[1000])?, Array::full(device, &[4], 0u64)?);
        let stream = Stream::new(device)?;
        // SAFETY: the kernel adds to the counts with atomics.
        unsafe { histogram.launch(8, Dim3(64, 1, 1), 16, (&x, &counts), Some(&stream))? };
        stream.synchronize()?;
        assert_eq!(counts.to_vec()?, [250; 4]);
        Ok(())
    })?;
    let mut counts = [0u64; 2];
    let (shape, shared) = ([2], 8);
    // SAFETY: the kernel adds to the counts with atomics; on the cpu the launch borrows slices.
    unsafe {
        let counts = inout(&mut counts, &shape)?;
        histogram.launch((2, 1), (32, 1, 1), shared, (&values, counts), None)?;
    }
    assert_eq!(counts, [500, 500]);
    // SAFETY: the launch is rejected before anything runs.
    let wrong = unsafe { histogram.launch(1, 1, 0, weak(1), None) };
    assert_eq!(wrong.unwrap_err().status(), Status::ARG);
    Ok(())
}

fn each_kernel_device(test: impl Fn(Device) -> Result<()>) -> Result<()> {
    shared::devices().into_iter().try_for_each(test)
}
