// SPDX-License-Identifier: Apache-2.0
//! Calls with each keyword, and the fields of their errors.

use gufunc::{
    in_place, inout, scalar, ufunc, view, view_mut, weak, Array, Casting, Context, DType, FpFlags,
    HostPolicy, Operand, Order, Output, Result, Status, Stream, Tensor,
};

#[test]
fn outputs_given_and_allocated() -> Result<()> {
    let context = Context::new()?;
    let divmod = context.create("own_divmod", 2, 2).build()?;
    divmod.add_loop(&[DType::F64; 4], |args| {
        for item in 0..args.items() {
            let value = |operand| args.operand::<f64>(operand, item);
            let (x, y) = (value(0)?.get(&[]), value(1)?.get(&[]));
            value(2)?.set(&[], (x / y).floor());
            value(3)?.set(&[], x.rem_euclid(y));
        }
        Ok(())
    })?;
    assert_eq!((divmod.nin(), divmod.nout()), (2, 2));
    let both = divmod.call_all((&[7.5, -2.25], weak(2)))?;
    assert_eq!(both[0].to_vec::<f64>()?, [3.0, -2.0]);
    assert_eq!(both[1].to_vec::<f64>()?, [1.5, 1.75]);
    let mut rest = [0.0; 2];
    let given = divmod.with().call_into((&[3.5, 4.0], weak(2)), (Output::allocate(), &mut rest))?;
    assert_eq!(given[0].as_ref().unwrap().to_vec::<f64>()?, [1.0, 2.0]);
    assert!(given[1].is_none());
    assert_eq!(rest, [1.5, 0.0]);
    assert_eq!(divmod.call((&[1.0], weak(2))).unwrap_err().status(), Status::ARG);
    let mut quotient = [0.0; 2];
    divmod.call_into((&[3.5, 4.0], weak(2)), (&mut quotient, Output::allocate()))?;
    assert_eq!(quotient, [1.0, 2.0]);
    let none = divmod.call_into((&[1.0], weak(2)), ()).unwrap_err();
    assert_eq!((none.status(), none.message()), (Status::ARG, "outputs: expected 2, got none"));
    let (add, mask) = (ufunc("add")?, [true]);
    let none = add.with().where_(&mask).call_into((&[1.0], weak(2)), ()).unwrap_err();
    assert_eq!(none.status(), Status::ARG);
    assert!(add.with().outer_into((&[1.0], &[2.0]), ()).is_err());
    Ok(())
}

#[test]
fn standard_functions_of_several_outputs() -> Result<()> {
    let both = ufunc("divmod")?.call_all((&[7.5, -2.25], weak(2)))?;
    assert_eq!(both[0].to_vec::<f64>()?, [3.0, -2.0]);
    assert_eq!(both[1].to_vec::<f64>()?, [1.5, 1.75]);
    let parts = ufunc("modf")?.call_all((&[7.5, -2.25],))?;
    assert_eq!(parts[0].to_vec::<f64>()?, [0.5, -0.25]);
    assert_eq!(parts[1].to_vec::<f64>()?, [7.0, -2.0]);
    let (mut fraction, mut exponent) = ([0.0; 2], [0i32; 2]);
    ufunc("frexp")?.call_into((&[6.0, 0.25],), (&mut fraction, &mut exponent))?;
    assert_eq!((fraction, exponent), ([0.75, 0.5], [3, -1]));
    Ok(())
}

#[test]
fn casting_order_dtype_signature() -> Result<()> {
    let add = ufunc("add")?;
    let mut small = [0f32; 2];
    let refused = add.with().casting(Casting::Safe).call_into((&[1.0], &[2.0]), &mut small);
    assert_eq!(refused.unwrap_err().status(), Status::CASTING);
    add.with().casting(Casting::Unsafe).call_into((&[1.0, 2.0], weak(0.5)), &mut small)?;
    assert_eq!(small, [1.5, 2.5]);

    let x = view(&[1i32, 2, 3, 4], &[2, 2])?;
    let sum = add.with().order(Order::F).dtype(DType::F64).call((x, weak(1)))?;
    let info = sum.info()?;
    assert_eq!((info.dtype, info.is_f_contiguous()), (DType::F64, true));
    assert_eq!(sum.to_vec::<f64>()?, [2.0, 3.0, 4.0, 5.0]);

    let types = [DType::F32, DType::F32, DType::UNSPECIFIED];
    let sum = add.with().signature(&types).casting(Casting::SameKind).call((&[1.0], &[2.0]))?;
    assert_eq!(sum.dtype()?, DType::F32);
    Ok(())
}

#[test]
fn core_dimensions() -> Result<()> {
    let vecdot = ufunc("vecdot")?;
    let (x, y) = ([1.0, 2.0, 3.0, 4.0], [1.0, 10.0]);
    let rows = vecdot.call((view(&x, &[2, 2])?, &y))?;
    assert_eq!(rows.to_vec::<f64>()?, [21.0, 43.0]);
    let columns =
        vecdot.with().axis(0).keepdims().call((view(&x, &[2, 2])?, view(&y, &[2, 1])?))?;
    assert_eq!(columns.shape()?, [1, 2]);
    assert_eq!(columns.to_vec::<f64>()?, [31.0, 42.0]);
    let axes = vecdot.with().axes(&[&[0], &[0]]).call((view(&x, &[2, 2])?, &y))?;
    assert_eq!(axes.to_vec::<f64>()?, [31.0, 42.0]);

    let error = vecdot.with().axis(5).call((view(&x, &[2, 2])?, &y)).unwrap_err();
    assert_eq!(error.status(), Status::AXIS);

    let context = Context::new()?;
    let fill = context.create("fill", 0, 0).signature("()->(n)").build()?;
    fill.add_loop(&[DType::F64, DType::F64], |args| {
        for item in 0..args.items() {
            let value = args.operand::<f64>(0, item)?.get(&[]);
            let row = args.operand::<f64>(1, item)?;
            (0..row.shape()[0]).for_each(|i| row.set(&[i], value));
        }
        Ok(())
    })?;
    assert_eq!(fill.with().dim("n", 3).call(&[7.0])?.to_vec::<f64>()?, [7.0; 3]);
    assert_eq!(fill.with().dim("n\0", 3).call(&[7.0]).unwrap_err().status(), Status::ARG);
    Ok(())
}

#[test]
fn fp_flags() -> Result<()> {
    let (divide, mut found) = (ufunc("divide")?, FpFlags::NONE);
    let inputs = || (&[1.0, 0.0], &[0.0, 0.0]);
    divide.with().report_fp_flags(FpFlags::ALL, &mut found).call(inputs())?;
    assert_eq!(found, FpFlags::DIVIDE | FpFlags::INVALID);
    let mut quotient = [9f64; 2];
    let failed =
        divide.with().fail_on_fp_flags(FpFlags::INVALID).call_into(inputs(), &mut quotient);
    assert_eq!(failed.unwrap_err().status(), Status::FLOATING_POINT);
    assert!(quotient[0].is_infinite());
    Ok(())
}

#[test]
fn resolve_explain_and_plan() -> Result<()> {
    let add = ufunc("add")?;
    let (x, y) = ([1i32, 2], [0.5f64, 0.25]);
    let resolved = add.with().resolve((&x, &y), ())?;
    assert_eq!(resolved.loop_dtypes, [DType::F64; 3]);
    assert_eq!(resolved.output_shapes, [[2]]);
    assert_eq!(add.loop_types(resolved.loop_index)?, [DType::F64; 3]);
    assert!(add.with().explain((&x, &y), ())?.contains("add"));
    assert_eq!(add.with().resolve_outer((&x, &y))?.output_shapes, [[2, 2]]);
    assert!(add.with().explain_outer((&x, &y))?.contains("add"));
    assert_eq!(add.with().outer((&x, &y))?.shape()?, [2, 2]);

    let (mut out, mask) = ([0.0; 2], [true, false]);
    let plan = add.with().where_(&mask).plan((&x, &y), &mut out)?;
    assert!(plan.explain()?.contains("add"));
    plan.launch_where((&[3i32, 4], &y), &mut out, &[false, true])?;
    assert_eq!(out, [0.0, 4.25]);
    let longer = plan.launch_where((&[3i32, 4, 5], &y), &mut out, &mask).unwrap_err();
    assert_eq!(longer.status(), Status::PLAN_MISMATCH);
    assert_eq!(plan.launch((&x, &y), &mut out).unwrap_err().status(), Status::ARG);

    let twice = ufunc("multiply")?.with().plan((&y, weak(2.0)), &mut out)?;
    for other in [weak(100.0), weak(2), scalar(2f64)] {
        let refused = twice.launch((&y, other), &mut out).unwrap_err();
        assert_eq!((refused.status(), refused.argument()), (Status::PLAN_MISMATCH, Some(1)));
    }
    assert_eq!(out, [0.0, 4.25]);
    twice.launch((&y, weak(2.0)), &mut out)?;
    assert_eq!(out, [1.0, 0.5]);

    // The stride of an axis of extent 1 has no effect. Memory of the device "cpu" is host memory.
    let wide = Array::from_vec(vec![9.0f64, 16.0, 25.0, 36.0], &[2, 2])?;
    let row = wide.slice(&[(0..1).into(), (0..1).into()])?;
    let sqrt =
        ufunc("sqrt")?.with().plan(view(&[4.0], &[1, 1])?, view_mut(&mut out[..1], &[1, 1])?)?;
    sqrt.launch(&row, view_mut(&mut out[..1], &[1, 1])?)?;
    assert_eq!(out[0], 3.0);
    let one = [49.0];
    // SAFETY: `one` is valid during the launch, and it is host memory.
    let placed = unsafe {
        let tensor = Tensor::from_raw(one.as_ptr().cast_mut().cast(), DType::F64, &[1, 1], None);
        Operand::from(tensor.on(gufunc::device("cpu")?))
    };
    sqrt.launch(placed, view_mut(&mut out[..1], &[1, 1])?)?;
    assert_eq!(out[0], 7.0);
    Ok(())
}

#[test]
fn methods() -> Result<()> {
    let (add, x) = (ufunc("add")?, Array::from_vec((0..24).collect::<Vec<i64>>(), &[2, 3, 4])?);
    let axes = [0, 2];
    let mut sum = add.reduce(&x).axes(&axes).keepdims().initial(scalar(1000i64));
    assert_eq!(sum.resolve()?.output_shapes[0], [1, 3, 1]);
    assert!(sum.explain()?.contains("add"));
    assert_eq!(sum.call()?.to_vec::<i64>()?, [1060, 1092, 1124]);
    assert_eq!(add.reduce(&x).axes(&[]).call()?.shape()?, [2, 3, 4]);

    let maximum = ufunc("maximum")?;
    let empty = view(&[] as &[f64], &[0, 2])?;
    assert_eq!(maximum.reduce(empty).call().unwrap_err().status(), Status::VALUE);
    let mut most = [0f32; 2];
    let mask = view(&[true, false, true, true], &[2, 2])?;
    maximum
        .reduce(view(&[1.0, 9.0, 3.0, 4.0], &[2, 2])?)
        .where_(mask)
        .initial(weak(-1.0))
        .call_into(&mut most)?;
    assert_eq!(most, [3.0, 4.0]);

    let mut running = [0i64; 4];
    add.accumulate(&[1i64, 2, 3, 4]).call_into(&mut running)?;
    assert_eq!(running, [1, 3, 6, 10]);
    let folds = add.reduceat(&[1i64, 2, 3, 4], &[0i64, 9]).call().unwrap_err();
    assert_eq!(folds.status(), Status::INDEX);
    assert_eq!(add.accumulate(&x).axis(-1).resolve()?.output_shapes, [[2, 3, 4]]);
    assert!(add.reduceat(&x, &[0i64]).explain()?.contains("add"));

    let mut counts = [0i64; 6];
    let (rows, columns) = ([0i64, 1, 1], [2i64, 0, 0]);
    let table = view_mut(&mut counts, &[2, 3])?;
    let mut at = add.at(table, (&rows, &columns)).operand(weak(1));
    assert!(at.explain()?.contains("add"));
    assert_eq!(at.resolve()?.output_shapes[0], [2, 3]);
    at.call()?;
    assert_eq!(counts, [0, 0, 1, 2, 0, 0]);
    Ok(())
}

#[test]
fn errors_describe_the_reason() -> Result<()> {
    let add = ufunc("add")?;
    let error = add.call((&[1.0, 2.0], &[1.0, 2.0, 3.0])).unwrap_err();
    assert_eq!((error.argument(), error.axis(), error.native_code()), (Some(1), Some(0), 0));
    assert_eq!((error.status().class(), error.status().is_error()), (3, true));
    assert_eq!(format!("{:?}", error.status()), "GUF_E_SHAPE");
    assert!(!error.status().text().is_empty());
    assert!(format!("{error:?}").contains("argument: 1"));

    let error = gufunc::ufunc("aad").unwrap_err();
    assert_eq!(error.status(), Status::NOT_FOUND);
    assert_eq!(gufunc::device("warp:0").unwrap_err().status(), Status::NO_BACKEND);
    // SAFETY: the file does not exist.
    let error = unsafe { gufunc::load_module("/nonexistent/module.so") }.unwrap_err();
    assert_eq!(error.status(), Status::IO);
    assert_ne!(error.native_code(), 0);
    assert_eq!(gufunc::ufunc("a\0b").unwrap_err().status(), Status::ARG);

    let many: Vec<Operand> = (0..40).map(weak).collect();
    assert_eq!(add.call(many).unwrap_err().status(), Status::ARG);
    assert_eq!(view(&[1.0], &[2]).err().unwrap().status(), Status::SHAPE);
    assert_eq!(view(&[1.0], &[-1, -1]).err().unwrap().status(), Status::SHAPE);
    let huge = Operand::weak_huge(u64::MAX, false, true);
    let error = add.call((&[1i64], huge)).unwrap_err();
    assert_eq!(error.status(), Status::OVERFLOW);
    Ok(())
}

#[test]
fn borrowed_slices() -> Result<()> {
    // A shared slice is rejected as an operand that the ufunc reads and writes.
    let context = Context::new()?;
    let double =
        context.create("double", 0, 0).signature("(n)").roles(&[gufunc::Role::Inout]).build()?;
    double.add_loop(&[DType::F64], |args| {
        for item in 0..args.items() {
            let row = args.operand::<f64>(0, item)?;
            (0..row.shape()[0]).for_each(|i| row.set(&[i], 2.0 * row.get(&[i])));
        }
        Ok(())
    })?;
    let mut row = [1.0, 2.0];
    assert_eq!(double.call_into(&row, ()).unwrap_err().status(), Status::READ_ONLY);
    assert_eq!(row, [1.0, 2.0]);
    let shape = [2];
    double.call_into(inout(&mut row, &shape)?, ())?;
    assert_eq!(row, [2.0, 4.0]);
    let plan = double.with().plan(inout(&mut row, &shape)?, ())?;
    assert_eq!(plan.launch(&row, ()).unwrap_err().status(), Status::READ_ONLY);
    plan.launch(inout(&mut row, &shape)?, ())?;
    assert_eq!(row, [4.0, 8.0]);

    // A call on a stream is complete on return, because the slice is borrowed only for the call.
    let cpu = gufunc::device("cpu")?;
    let (stream, x) = (Stream::new(cpu)?, vec![4.0f64; 1 << 20]);
    let mut y = vec![0.0f64; 1 << 20];
    let call = ufunc("sqrt")?;
    call.with().stream(&stream).call_into(&x, &mut y)?;
    assert!(y.iter().all(|&y| y == 2.0));
    let (input, output) = in_place(&mut y);
    call.with()
        .stream(&stream)
        .threads(1)
        .host_policy(HostPolicy::Copy)
        .call_into(input, output)?;
    assert!(y.iter().all(|&y| y == 2f64.sqrt()));
    Ok(())
}
