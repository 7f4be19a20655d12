// SPDX-License-Identifier: Apache-2.0
//! Arrays, views, copies and dtypes.

use gufunc::{
    backends, scalar, view, view_mut, weak, Array, Casting, DType, DynArray, Operand, Order,
    Output, Result, Slice, Status, TimeUnit, BF16, F16, NAT,
};

#[test]
fn views() -> Result<()> {
    let x = Array::from_vec((0..12).collect::<Vec<i32>>(), &[3, 4])?;
    assert_eq!(x.shape()?, [3, 4]);
    assert_eq!(x.slice(&[Slice::ALL, (1..3).into()])?.to_vec()?, [1, 2, 5, 6, 9, 10]);
    assert_eq!(x.slice(&[(-1..).into()])?.to_vec()?, [8, 9, 10, 11]);
    assert_eq!(x.slice(&[(..1).into(), (..).into()])?.shape()?, [1, 4]);
    assert_eq!(x.slice(&[Slice::ALL, (1..=2).into()])?.to_vec()?, [1, 2, 5, 6, 9, 10]);
    assert_eq!(x.slice(&[(..=0).into(), (-2..=-1).into()])?.to_vec()?, [2, 3]);
    assert_eq!(x.slice(&[(..=-2).into(), (..=i64::MAX).into()])?.shape()?, [2, 4]);
    assert_eq!(x.slice(&[Slice::ALL.step(0)]).unwrap_err().status(), Status::VALUE);
    assert_eq!(x.slice(&[Slice::ALL; 3]).unwrap_err().status(), Status::INDEX);
    assert_eq!(x.transpose(None)?.shape()?, [4, 3]);
    assert_eq!(x.transpose(Some(&[0, 0])).unwrap_err().status(), Status::AXIS);
    assert_eq!(x.reshape(&[2, -1], Order::C)?.shape()?, [2, 6]);
    assert_eq!(x.ravel(Order::C)?.shape()?, [12]);
    // The strides do not allow a view, so the result is a copy, as in NumPy.
    let columns = [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11];
    assert_eq!(x.transpose(None)?.ravel(Order::C)?.shape()?, [12]);
    assert_eq!(x.transpose(None)?.ravel(Order::C)?.to_vec()?, columns);
    let copy = x.transpose(None)?.reshape(&[6, -1], Order::C)?;
    assert_eq!(copy.shape()?, [6, 2]);
    assert_eq!(copy.to_vec()?, columns);
    copy.fill(weak(-1), None)?;
    assert_eq!(x.to_vec()?, (0..12).collect::<Vec<i32>>());
    // In column-major order, the elements of the transposed array follow each other in memory, so
    // the result is a view.
    let view = x.transpose(None)?.reshape(&[6, -1], Order::F)?;
    assert_eq!(view.shape()?, [6, 2]);
    assert_eq!(view.to_vec()?, [0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11]);
    assert_eq!(view.info()?.address, x.info()?.address);
    assert_eq!(x.transpose(None)?.reshape(&[5, -1], Order::C).unwrap_err().status(), Status::SHAPE);
    let deep = x.expand_dims(&[0, -1])?;
    assert_eq!(deep.shape()?, [1, 3, 4, 1]);
    assert_eq!(deep.squeeze(Some(&[0]))?.shape()?, [3, 4, 1]);
    assert_eq!(deep.squeeze(None)?.shape()?, [3, 4]);
    let wide = x.broadcast_to(&[2, 3, 4])?;
    assert!(wide.info()?.is_read_only());
    assert_eq!(wide.fill(scalar(1), None).unwrap_err().status(), Status::READ_ONLY);
    let windows = x.sliding_window_view(&[2], &[1])?;
    assert_eq!(windows.shape()?, [3, 3, 2]);
    assert_eq!(x.sliding_window_view(&[2], &[]).unwrap_err().status(), Status::ARG);

    // A view shares the memory of the array.
    x.slice(&[(0..1).into()])?.fill(weak(-1), None)?;
    assert_eq!(x.to_vec()?[..5], [-1, -1, -1, -1, 4]);
    Ok(())
}

#[test]
fn copies_for_which_there_is_no_memory() -> Result<()> {
    let one = Array::from_vec(vec![1.0], &[1])?;
    for extent in [1i64 << 44, 1 << 59] {
        let wide = one.broadcast_to(&[extent])?;
        assert_eq!(wide.to_vec().unwrap_err().status(), Status::NO_MEMORY);
    }
    Ok(())
}

#[test]
fn copies() -> Result<()> {
    let x = Array::from_vec(vec![1.5, -2.5, 3.5, 4.0], &[2, 2])?;
    let f = x.copy(Order::F, None)?;
    assert!(f.info()?.is_f_contiguous() && f.info()?.owns_data() && f.info()?.is_aligned());
    assert!(!f.info()?.is_swapped() && !f.info()?.is_c_contiguous());
    let mut host = [0.0; 4];
    f.copy_to_host(&mut host, Order::F, None)?;
    assert_eq!(host, [1.5, 3.5, -2.5, 4.0]);
    assert_eq!(f.copy_to_host(&mut [0f32; 4], Order::C, None).unwrap_err().status(), Status::DTYPE);
    assert_eq!(f.copy_to_host(&mut [0.0; 3], Order::C, None).unwrap_err().status(), Status::SHAPE);
    assert_eq!(x.cast::<i32>(Casting::Unsafe)?.to_vec()?, [1, -2, 3, 4]);
    let refused = x.astype(DType::I32, Casting::Safe, Order::Keep, None);
    assert_eq!(refused.unwrap_err().status(), Status::CASTING);
    let ones = Array::full(None, &[2, 2], 1.0)?;
    ones.assign(&*x.slice(&[(1..2).into()])?, Casting::SameKind, None)?;
    assert_eq!(ones.to_vec()?, [3.5, 4.0, 3.5, 4.0]);
    x.copy_to(&ones, None)?;
    assert_eq!(ones.to_vec()?, x.to_vec()?);
    let strided = DynArray::alloc_strided(None, DType::F64, &[2], &[-16])?;
    strided.fill(weak(2.0), None)?;
    assert_eq!(strided.to_vec::<f64>()?, [2.0, 2.0]);
    let printed = Array::from_vec(vec![1.0, 2.0], &[2])?.to_string();
    assert_eq!(printed, "[1. 2.]\nshape (2,), float64, cpu");
    let long = Array::full(None, &[30, 30], 0.125)?.to_string();
    assert!(long.len() > 1024 && long.ends_with("shape (30, 30), float64, cpu"));
    Ok(())
}

#[test]
fn typed_and_untyped() -> Result<()> {
    let x: DynArray = Array::from_vec(vec![1u8, 2], &[2])?.into();
    assert_eq!(x.clone().typed::<i8>().unwrap_err().status(), Status::DTYPE);
    let x: Array<u8> = x.try_into()?;
    assert_eq!((&x + &x)?.to_vec()?, [2, 4]);
    assert_eq!((&x - 1u8)?.to_vec()?, [0, 1]);
    assert_eq!((&x << 1u8)?.to_vec()?, [2, 4]);
    assert_eq!((&x / &x)?.to_vec::<f64>()?, [1.0, 1.0]);
    assert_eq!((&(&x * &x)? % &x)?.to_vec()?, [0, 0]);
    assert_eq!((!&x)?.to_vec()?, [254, 253]);
    let y = Array::from_vec(vec![1f64, 2.0, 3.0], &[3])?;
    assert_eq!((&*x + &*y).unwrap_err().status(), Status::SHAPE);
    assert_eq!((-&y)?.to_vec()?, [-1.0, -2.0, -3.0]);
    assert_eq!((&x | 4u8)?.to_vec()?, [5, 6]);
    assert_eq!((&y / 2.0)?.to_vec::<f64>()?, [0.5, 1.0, 1.5]);
    assert_eq!((6.0 / &y)?.to_vec::<f64>()?, [6.0, 3.0, 2.0]);
    assert_eq!((2.0 * &y)?.to_vec()?, [2.0, 4.0, 6.0]);
    assert_eq!((4u8 - &x)?.to_vec()?, [3, 2]);
    assert_eq!((&x / 2u8)?.to_vec::<f64>()?, [0.5, 1.0]);
    assert_eq!(format!("{x:?}"), "DynArray(uint8, [2])");
    Ok(())
}

#[test]
fn slices_borrowed_as_other_elements() -> Result<()> {
    let add = gufunc::ufunc("add")?;
    let days: DType = "datetime64[D]".parse()?;
    let mut next = [0i64; 2];
    let out = view_mut(&mut next, &[2])?.with_dtype(days)?.swapped()?;
    add.call_into((view(&[3i64, 4], &[2])?.with_dtype(days)?, weak(1)), out)?;
    assert_eq!(next, [4i64.swap_bytes(), 5i64.swap_bytes()]);
    let big = [1i16.swap_bytes(), 2i16.swap_bytes()];
    let swapped = Operand::from(&big[..]).swapped()?;
    assert_eq!(add.call((swapped, weak(1)))?.to_vec::<i16>()?, [2, 3]);
    let mut flags = [true, false];
    let status = |refused: Result<Output<'_>>| refused.err().map(|error| error.status());
    let as_numbers = view_mut(&mut flags, &[2])?.with_dtype(DType::U8);
    assert_eq!(status(as_numbers), Some(Status::DTYPE)); // 7 is not a valid bool
    let mut seven = [7u8];
    let as_flags = view_mut(&mut seven, &[1])?.with_dtype(DType::BOOL);
    assert_eq!(status(as_flags), Some(Status::DTYPE));
    assert_eq!(status(view_mut(&mut next, &[2])?.with_dtype(DType::I32)), Some(Status::DTYPE));
    let structured = DType::register("rust_eight_bytes", 8, 8)?;
    assert_eq!(status(view_mut(&mut next, &[2])?.with_dtype(structured)), Some(Status::DTYPE));
    assert!(view_mut(&mut flags, &[2])?.with_dtype(DType::BOOL).is_ok());
    assert_eq!(status(Output::allocate().swapped()), Some(Status::ARG));
    assert_eq!(scalar(1i64).with_dtype(days).err().unwrap().status(), Status::ARG);
    Ok(())
}

#[test]
fn elements() -> Result<()> {
    let add = gufunc::ufunc("add")?;
    let half = add.call((&[F16(0x3c00)], &[F16(0x4000)]))?; // 1 + 2
    assert_eq!(half.to_vec::<F16>()?, [F16(0x4200)]);
    assert_eq!(add.call((&[BF16(0x3f80)], &[BF16(0x3f80)]))?.to_vec::<BF16>()?, [BF16(0x4000)]);
    let complex = add.call((&[[1.0, 2.0]], weak([0.5, -1.0])))?;
    assert_eq!(complex.dtype()?, DType::C128);
    assert_eq!(complex.to_vec::<[f64; 2]>()?, [[1.5, 1.0]]);
    let bytes = [1u8, 2];
    for two in [weak(2i8), weak(2i16), weak(2isize), weak(2u8), weak(2u16), weak(2u32)] {
        assert_eq!(add.call((&bytes, two))?.to_vec::<u8>()?, [3, 4]);
    }
    for two in [weak(2u64), weak(bytes.len())] {
        assert_eq!(add.call((&bytes, two))?.to_vec::<u8>()?, [3, 4]);
    }
    assert_eq!(add.call((&[1i8], weak(-2i8)))?.to_vec::<i8>()?, [-1]);
    assert_eq!(add.call((&[0u64], weak(u64::MAX)))?.to_vec::<u64>()?, [u64::MAX]);
    assert_eq!(add.call((&[1f32], weak(0.5f32)))?.to_vec::<f32>()?, [1.5]);
    let less = gufunc::ufunc("less")?.call((&[1.0, 2.0], weak(2)))?;
    assert_eq!(less.to_vec::<bool>()?, [true, false]);

    // Uninitialized memory may contain bytes that are not valid bools. `to_vec` rejects such bytes.
    let odd = Array::from_vec(vec![7u8, 1], &[2])?;
    let address = odd.info()?.address as *mut u8;
    // SAFETY: `odd` keeps the array's memory alive.
    let odd = unsafe {
        let tensor = gufunc::Tensor::from_raw(address, DType::BOOL, &[2], None);
        DynArray::wrap(tensor, move || drop(odd))?
    };
    assert_eq!(odd.to_vec::<bool>().unwrap_err().status(), Status::VALUE);
    let mut copy = [true; 2];
    let copied = odd.copy_to_host(&mut copy, Order::C, None);
    assert_eq!((copied.unwrap_err().status(), copy), (Status::VALUE, [false; 2]));
    Ok(())
}

#[test]
fn dtypes() -> Result<()> {
    for (spelling, dtype) in [("float32", DType::F32), ("<i8", DType::I64), ("E", DType::BF16)] {
        assert_eq!(spelling.parse::<DType>()?, dtype);
    }
    assert_eq!("flaot32".parse::<DType>().unwrap_err().status(), Status::DTYPE);
    let info = DType::C64.info()?;
    assert_eq!((info.itemsize, info.kind, info.letter), (8, 'c', 'F'));
    assert_eq!((info.name.as_str(), info.short_name.as_str()), ("complex64", "c8"));
    assert_eq!(DType::I64.promote(DType::U64)?, DType::F64);
    assert!(DType::I32.can_cast(DType::F64, Casting::Safe)?);
    assert!(!DType::from_raw(0x1234_5678).name().contains("float"));

    let seconds = DType::DATETIME64.with_unit(TimeUnit::Second, 25)?;
    assert_eq!(seconds.to_string(), "datetime64[25s]");
    assert_eq!((seconds.unit()?, seconds.is_time()), ((TimeUnit::Second, 25), true));
    assert_eq!(DType::F64.unit().unwrap_err().status(), Status::DTYPE);
    let times = DynArray::alloc(None, seconds, &[2], Order::C)?;
    times.fill(gufunc::Operand::scalar_of(seconds, &NAT.to_ne_bytes())?, None)?;
    assert_eq!(times.to_vec::<i64>()?, [NAT, NAT]);

    let structured = DType::register("pair", 16, 8)?;
    assert_eq!(DType::register("pair", 16, 8)?, structured);
    assert_eq!(DType::register("pair", 24, 8).unwrap_err().status(), Status::EXISTS);
    assert_eq!(structured.info()?.kind, 'V');
    Ok(())
}

#[test]
fn the_library() -> Result<()> {
    assert_eq!(gufunc::version_string(), "0.1.0");
    assert_eq!(gufunc::version(), (0, 1, 0));
    let cpu = backends(true)?.into_iter().find(|backend| backend.name == "cpu").unwrap();
    assert_eq!((cpu.ndevices, cpu.failure.is_none()), (Some(1), true));
    let device = gufunc::device("cpu")?;
    assert_eq!((device.info()?.spec.as_str(), device.info()?.host_memory), ("cpu", true));
    assert_eq!(format!("{device:?}"), "Device(cpu)");
    assert_eq!(device.memory().unwrap_err().status(), Status::UNSUPPORTED);
    // SAFETY: the file does not exist.
    let refused = unsafe { gufunc::backend_load("relative.so") };
    assert_eq!(refused.unwrap_err().status(), Status::ARG);
    gufunc::poll(0)?;
    while gufunc::log_read()?.is_some() {}
    let names = gufunc::Context::default().ufunc_names()?;
    assert!(names.len() > 30 && names.iter().any(|name| name == "add"), "{names:?}");
    let info = gufunc::ufunc("add")?.info()?;
    assert_eq!((info.nin, info.nout, info.identity), (2, 1, gufunc::Identity::Zero));
    assert!(info.flags.contains(gufunc::FunctionFlags::COMMUTATIVE));
    let x = view(&[1.0], &[1])?;
    assert!(gufunc::ufunc("sqrt")?.call(x).is_ok());
    Ok(())
}
