// SPDX-License-Identifier: Apache-2.0
//! Closures as loops: dtypes, errors, panics, hooks, reductions, and when the closures are freed.

use gufunc::{
    Array, Context, DType, DynArray, Element, Error, Identity, Result, Role, Status, Stream, Tensor,
};
use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

#[test]
fn elementwise() -> Result<()> {
    let context = Context::new()?;
    let clip = context.create("clip3", 3, 1).doc("x between two").build()?;
    clip.add_elementwise(|x: f64, low: f64, high: f64| x.max(low).min(high))?;
    clip.add_elementwise(|x: i64, low: i64, high: i64| x.max(low).min(high))?;
    assert_eq!(clip.call((&[1i64, 5, 9], &[2i64], &[6i64]))?.to_vec::<i64>()?, [2, 5, 6]);
    assert_eq!(clip.info()?.nloops, 2);
    let again = clip.add_elementwise(|x: f64, _: f64, _: f64| x).unwrap_err();
    assert_eq!(again.status(), Status::EXISTS);
    let short = clip.add_elementwise(|x: f64| x).unwrap_err();
    assert_eq!(short.status(), Status::ARG);

    let xor = context.create("either", 2, 1).identity(Identity::Zero).build()?;
    xor.add_elementwise(|a: bool, b: bool| a != b)?;
    assert_eq!(xor.call((&[true, true], &[true, false]))?.to_vec::<bool>()?, [false, true]);
    let parity = xor.reduce(&[true, true, true]).call()?;
    assert_eq!(parity.to_vec::<bool>()?, [true]);
    assert_eq!(context.create("either", 2, 1).build().unwrap_err().status(), Status::EXISTS);
    assert_eq!(gufunc::ufunc("either").unwrap_err().status(), Status::NOT_FOUND);
    Ok(())
}

#[test]
fn errors_and_panics_become_the_calls() -> Result<()> {
    let context = Context::new()?;
    let picky = context.create("picky", 1, 1).build()?;
    picky.add_loop(&[DType::F64, DType::F64], |args| {
        for item in 0..args.items() {
            match args.operand::<f64>(0, item)?.get(&[]) {
                x if x < 0.0 => {
                    let refused = Error::new(Status::VALUE, format!("{x} is negative"));
                    return Err(refused.with_argument(0).with_native_code(-7));
                }
                x if x > 1e11 => std::panic::panic_any(x),
                x if x > 1e10 => panic!("{x} is beyond all"),
                x if x > 1e9 => panic!("too large"),
                0.0 => return Err(Error::new(Status::OK, "not quite")),
                x => args.operand::<f64>(1, item)?.set(&[], x),
            }
        }
        Ok(())
    })?;
    assert_eq!(picky.call(&[1.0])?.to_vec::<f64>()?, [1.0]);
    let refused = picky.call(&[-1.5]).unwrap_err();
    assert_eq!((refused.status(), refused.message()), (Status::VALUE, "-1.5 is negative"));
    assert_eq!((refused.argument(), refused.axis(), refused.native_code()), (Some(0), None, -7));
    let texts = [(2e9, "too large"), (2e10, "20000000000 is beyond all"), (0.0, "not quite")];
    for (x, text) in texts.into_iter().chain([(2e11, "a panic that has no text")]) {
        let failed = picky.call(&[x]).unwrap_err();
        assert_eq!((failed.status(), failed.message()), (Status::LOOP, text));
        assert_eq!((failed.argument(), failed.native_code()), (None, 0));
    }
    let stream = Stream::new(gufunc::device("cpu")?)?;
    let (x, y) = (Array::full(None, &[1 << 20], -2.0)?, Array::full(None, &[1 << 20], 0.0)?);
    let queued = picky.with().stream(&stream).call_into(&x, &y);
    let later = queued.and_then(|_| stream.synchronize()).unwrap_err();
    assert_eq!((later.status(), later.argument()), (Status::VALUE, Some(0)));
    assert_eq!(later.message(), "-2 is negative; launch 1 of the stream");
    assert_eq!(picky.call(&[2.0])?.to_vec::<f64>()?, [2.0]);

    let wrong = context.create("wrong", 1, 1).build()?;
    wrong.add_loop(&[DType::F64, DType::F64], |args| {
        args.operand::<f32>(0, 0)?;
        Ok(())
    })?;
    let failed = wrong.call(&[1.0]).unwrap_err();
    assert_eq!((failed.status(), failed.argument()), (Status::DTYPE, Some(0)));
    assert_eq!(failed.message(), "operand 0 has dtype float64");
    let long = context.create("long", 1, 1).build()?;
    long.add_elementwise(|_: f64| -> f64 { panic!("{}", "é".repeat(1000)) })?;
    let failed = long.call(&[1.0]).unwrap_err();
    assert!(failed.message().chars().all(|letter| letter == 'é'), "{failed}");
    assert!(failed.message().len() > 400);
    let writes = context.create("writes", 1, 1).build()?;
    writes.add_loop(&[DType::F64, DType::F64], |args| {
        args.operand::<f64>(0, 0)?.set(&[], 9.0);
        Ok(())
    })?;
    let x = [1.0];
    let failed = writes.call(&x).unwrap_err();
    assert_eq!((failed.status(), failed.message()), (Status::LOOP, "an input is not written"));
    assert_eq!(x, [1.0]);
    Ok(())
}

/// A panic payload that panics when it is dropped.
struct Worse;

impl Drop for Worse {
    fn drop(&mut self) {
        panic!("while a panic is dropped");
    }
}

#[test]
fn payloads_that_panic_in_their_turn() -> Result<()> {
    let context = Context::new()?;
    let worse = context.create("worse", 1, 1).build()?;
    worse.add_loop(&[DType::F64, DType::F64], |_| std::panic::panic_any(Worse))?;
    let failed = worse.call(&[1.0]).unwrap_err();
    assert_eq!((failed.status(), failed.message()), (Status::LOOP, "a panic that has no text"));
    // A release callback and the drop of a closure panic with such a payload too.
    let (value, kept) = ([1.0f64], OnDrop);
    // SAFETY: `value` outlives the array.
    let wrapped = unsafe {
        let address = value.as_ptr().cast_mut().cast::<u8>();
        let tensor = Tensor::from_raw(address, DType::F64, &[1], None);
        DynArray::wrap(tensor, || std::panic::panic_any(Worse))?
    };
    drop(wrapped);
    let freed = context.create("freed", 1, 1).build()?;
    freed.add_loop(&[DType::F64, DType::F64], move |_| {
        let _kept = &kept;
        Ok(())
    })?;
    drop(freed);
    gufunc::poll(0)?;
    Ok(())
}

/// Panics with a `Worse` payload when it is dropped.
struct OnDrop;

impl Drop for OnDrop {
    fn drop(&mut self) {
        std::panic::panic_any(Worse);
    }
}

#[test]
fn core_dims_hook() -> Result<()> {
    let context = Context::new()?;
    let twice = context
        .create("twice", 0, 0)
        .signature("(n)->(m)")
        .core_dims(|sizes| match sizes[0] {
            13 => panic!("unlucky"),
            n if n > 100 => Err(Error::new(Status::SHAPE, "rows of at most 100")),
            n => sizes.set(1, 2 * n),
        })
        .build()?;
    twice.add_loop(&[DType::I64, DType::I64], |args| {
        for item in 0..args.items() {
            let (row, out) = (args.operand::<i64>(0, item)?, args.operand::<i64>(1, item)?);
            let n = row.shape()[0];
            (0..2 * n).for_each(|i| out.set(&[i], row.get(&[i % n])));
        }
        Ok(())
    })?;
    assert_eq!(twice.call(&[1i64, 2])?.to_vec::<i64>()?, [1, 2, 1, 2]);
    let refused = twice.call(&vec![0i64; 101]).unwrap_err();
    assert_eq!(refused.status(), Status::SHAPE);
    assert!(refused.message().contains("rows of at most 100"));
    let failed = twice.call(&[0i64; 13]).unwrap_err();
    assert_eq!((failed.status(), failed.message()), (Status::LOOP, "unlucky"));
    Ok(())
}

#[test]
fn reduction_with_a_state() -> Result<()> {
    let context = Context::new()?;
    let block_function = context.create("greatest", 0, 0).signature("(n),()->(),()").build()?;
    block_function.add_loop(&[DType::F64, DType::I64, DType::F64, DType::I64], |args| {
        for item in 0..args.items() {
            let (row, first) = (args.operand::<f64>(0, item)?, args.operand::<i64>(1, item)?);
            let best = (0..row.shape()[0]).fold(0, |best, i| {
                if row.get(&[i]) > row.get(&[best]) {
                    i
                } else {
                    best
                }
            });
            args.operand::<f64>(2, item)?.set(&[], row.get(&[best]));
            args.operand::<i64>(3, item)?.set(&[], first.get(&[]) + best as i64);
        }
        Ok(())
    })?;
    let merge = context.create("greater_state", 4, 2).build()?;
    let (f, i) = (DType::F64, DType::I64);
    merge.add_loop(&[f, i, f, i, f, i], |args| {
        for item in 0..args.items() {
            let value = |operand| args.operand::<f64>(operand, item);
            let place = |operand| args.operand::<i64>(operand, item);
            let from = if value(2)?.get(&[]) > value(0)?.get(&[]) { 2 } else { 0 };
            let (best, at) = (value(from)?.get(&[]), place(from + 1)?.get(&[]));
            value(4)?.set(&[], best);
            place(5)?.set(&[], at);
        }
        Ok(())
    })?;
    block_function.set_reduction(&merge, None)?;
    let mut x = vec![0.0; 1000];
    (x[700], x[900]) = (5.0, 5.0);
    let results = block_function.reduce(&x).call_all()?;
    assert_eq!(results[0].to_vec::<f64>()?, [5.0]);
    assert_eq!(results[1].to_vec::<i64>()?, [700]);
    let info = block_function.info()?;
    assert_eq!((info.nresults, info.merge.as_str()), (2, "greater_state"));
    Ok(())
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Point {
    x: f64,
    y: f64,
    weight: i64,
}

// SAFETY: three numbers without padding; all bits are valid.
unsafe impl Element for Point {
    fn dtype() -> DType {
        DType::register("point_of_rust", 24, 8).unwrap_or(DType::UNSPECIFIED)
    }
}

#[test]
fn structured_dtypes() -> Result<()> {
    let weighted = Context::new()?.create("weighted", 1, 1).build()?;
    weighted.add_elementwise(|p: Point| p.x.hypot(p.y) * p.weight as f64)?;
    let points = [Point { x: 3.0, y: 4.0, weight: 1 }, Point { x: 0.0, y: 1.0, weight: 7 }];
    assert_eq!(weighted.call(&points)?.to_vec::<f64>()?, [5.0, 7.0]);
    Ok(())
}

unsafe extern "C" fn add_one(
    args: *mut *mut c_char,
    dims: *const i64,
    steps: *const i64,
    _user: *mut c_void,
) {
    // SAFETY: the loop was added with two operands of f64.
    unsafe {
        for i in 0..*dims as isize {
            let x = (*args).offset(i * *steps as isize).cast::<f64>();
            let y = (*args.add(1)).offset(i * *steps.add(1) as isize).cast::<f64>();
            y.write_unaligned(x.read_unaligned() + 1.0);
        }
    }
}

#[test]
fn functions_of_c() -> Result<()> {
    let ufunc = Context::new()?.create("add_one", 1, 1).roles(&[Role::In, Role::Out]).build()?;
    let none = std::ptr::null_mut();
    // SAFETY: the function is defined above with these dtypes.
    unsafe { ufunc.add_c_loop(&[DType::F64, DType::F64], add_one, none)? };
    assert_eq!(ufunc.call(&[1.0, 2.0])?.to_vec::<f64>()?, [2.0, 3.0]);
    Ok(())
}

#[test]
fn closures_are_freed_once() -> Result<()> {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let freed = Arc::new(AtomicUsize::new(0));
    {
        let context = Context::new()?;
        let (of_loop, of_hook) = (Counted(freed.clone()), Counted(freed.clone()));
        let ufunc = context
            .create("counted", 0, 0)
            .signature("(n)->(n)")
            .core_dims(move |_| {
                let _ = &of_hook;
                Ok(())
            })
            .build()?;
        let types = [DType::F64, DType::F64];
        ufunc.add_loop(&types, move |_| {
            let _ = &of_loop;
            Ok(())
        })?;
        let refused = Counted(freed.clone());
        let again = ufunc.add_loop(&types, move |_| {
            let _ = &refused;
            Ok(())
        });
        assert_eq!(again.unwrap_err().status(), Status::EXISTS);
        assert_eq!(freed.load(Ordering::SeqCst), 1);
    }
    gufunc::poll(0)?;
    assert_eq!(freed.load(Ordering::SeqCst), 3);
    Ok(())
}
