// SPDX-License-Identifier: Apache-2.0
//! A million creations and drops of objects, releases on any thread, and errors on eight threads at
//! the same time.

mod shared;

use gufunc::{
    ufunc, view, Array, Context, DType, DlpackStream, DynArray, Event, Result, Stream, Tensor,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Arc};
use std::thread;
use std::time::Duration;

/// Returns the growth in bytes during a million calls of `make`. The first tenth of the calls fills
/// caches, and its growth is not counted.
fn growth(make: impl Fn() -> Result<()>) -> Result<i64> {
    let mut before = 0;
    for i in 0..1_100_000 {
        if i == 100_000 {
            before = shared::resident_bytes();
        }
        make()?;
    }
    Ok(shared::resident_bytes() as i64 - before as i64)
}

#[test]
fn nothing_leaks() -> Result<()> {
    let _turn = shared::turn();
    let cpu = gufunc::device("cpu")?;
    let grown = growth(|| {
        let x = Array::from_vec(vec![1.0f64; 8], &[2, 4])?;
        let _view = x.transpose(None)?.clone();
        Ok(())
    })?;
    assert!(grown < 4 << 20, "arrays and views: {grown} bytes");
    let x = Array::from_vec(vec![1.0f64; 8], &[2, 4])?;
    let grown = growth(|| {
        let refused = DynArray::from_dlpack(x.to_dlpack(None)?, DlpackStream::Legacy);
        assert!(refused.is_err());
        DynArray::from_dlpack(x.to_dlpack_unversioned(None)?, None).map(drop)
    })?;
    assert!(grown < 4 << 20, "tensors of DLPack: {grown} bytes");
    let add = ufunc("add")?;
    let grown = growth(|| add.call((&[1.0], &[2.0, 3.0])).map(drop))?;
    assert!(grown < 4 << 20, "results: {grown} bytes");
    let grown = growth(|| {
        let refused = add.call((&[1.0, 2.0], &[1.0, 2.0, 3.0])).unwrap_err();
        assert!(!refused.clone().message().is_empty());
        let (_found, _event) = (ufunc("add")?, Event::new(cpu)?);
        Ok(())
    })?;
    assert!(grown < 4 << 20, "errors, ufuncs and events: {grown} bytes");
    Ok(())
}

#[test]
fn loops_and_streams_do_not_leak() -> Result<()> {
    let _turn = shared::turn();
    let cpu = gufunc::device("cpu")?;
    let make = || -> Result<()> {
        let context = Context::new()?;
        let ufunc = context.create("square_of_rust", 1, 1).build()?;
        ufunc.add_elementwise(|x: f64| x * x)?;
        let _stream = Stream::new(cpu)?;
        ufunc.call(&[2.0]).map(drop)
    };
    (0..2_000).try_for_each(|_| make())?;
    let before = shared::resident_bytes();
    (0..20_000).try_for_each(|_| make())?;
    let grown = shared::resident_bytes() as i64 - before as i64;
    assert!(grown < 4 << 20, "{grown} bytes");
    Ok(())
}

#[test]
fn released_on_any_thread() -> Result<()> {
    let _turn = shared::turn();
    let released = Arc::new(AtomicUsize::new(0));
    let (send, receive) = mpsc::channel::<DynArray>();
    let dropper = thread::spawn(move || receive.into_iter().for_each(drop));
    for _ in 0..10_000 {
        let (memory, count) = (vec![1.0f64; 16], released.clone());
        let address = memory.as_ptr() as *mut u8;
        // SAFETY: the release owns the vector and drops it.
        let array = unsafe {
            let tensor = Tensor::from_raw(address, DType::F64, &[16], None);
            DynArray::wrap(tensor, move || {
                drop(memory);
                count.fetch_add(1, Ordering::SeqCst);
            })?
        };
        let sum = ufunc("add")?.reduce(&array).call()?;
        send.send(array).unwrap();
        send.send(sum).unwrap();
    }
    drop(send);
    dropper.join().unwrap();
    for _ in 0..5000 {
        gufunc::poll(0)?;
        if released.load(Ordering::SeqCst) == 10_000 {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(released.load(Ordering::SeqCst), 10_000);
    Ok(())
}

#[test]
fn eight_threads_have_their_own_errors() {
    let _turn = shared::turn();
    let wrong: usize = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|number| scope.spawn(move || wrong_errors(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(wrong, 0);
}

/// Makes 12 500 failing calls and returns the number of errors that belong to the calls of another
/// thread.
fn wrong_errors(number: usize) -> usize {
    let (x, y) = (vec![0.0; 2 + number], vec![0.0; 100 + number]);
    let expected = format!("({},) ({},)", x.len(), y.len());
    let (add, name) = (ufunc("add").unwrap(), format!("nothing_of_{number}"));
    let mut wrong = 0;
    for i in 0..12_500 {
        let right = match i % 2 {
            0 => add.call((&x, &y)).unwrap_err().message().contains(&expected),
            _ => ufunc(&name).unwrap_err().message().contains(&name),
        };
        wrong += usize::from(!right);
    }
    wrong
}

#[test]
fn what_is_sent_and_shared() {
    fn everywhere<T: Send + Sync + Clone>() {}
    everywhere::<Context>();
    everywhere::<DynArray>();
    everywhere::<Array<f64>>();
    everywhere::<Stream>();
    everywhere::<Event>();
    everywhere::<gufunc::Graph>();
    everywhere::<gufunc::Ufunc>();
    everywhere::<gufunc::Plan>();
    everywhere::<gufunc::Module>();
    everywhere::<gufunc::Kernel>();
    everywhere::<gufunc::Device>();
    everywhere::<gufunc::Error>();
    let shared = view(&[1.0], &[1]);
    assert!(shared.is_ok());
}
