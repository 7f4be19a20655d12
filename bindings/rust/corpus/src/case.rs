// SPDX-License-Identifier: Apache-2.0
//! A case of the corpus: its memory, operands and keywords, and the call.

use crate::json::{Json, Result};
use gufunc::{
    weak, Casting, DType, Device, DynArray, FpFlags, Operand, Order, Output, Tensor, Ufunc,
};

/// Memory of a case, at an address that is `shift` bytes above a multiple of 16.
pub struct Buffer<'a> {
    memory: Vec<u128>,
    shift: usize,
    /// The bytes before the call.
    pub before: &'a [u8],
}

/// An operand of kind `array`.
#[derive(Clone)]
pub struct View {
    /// Index of the buffer.
    pub buffer: usize,
    /// Byte offset of element (0, ..., 0) in the buffer.
    pub offset: usize,
    pub dtype: DType,
    pub shape: Vec<i64>,
    pub strides: Vec<i64>,
    pub swapped: bool,
    read_only: bool,
}

impl<'a> Buffer<'a> {
    pub fn read(json: &Json, blob: &'a [u8]) -> Result<Self> {
        let (at, nbytes) = (json.need("at")?.size()?, json.need("nbytes")?.size()?);
        let before = blob.get(at..at + nbytes).ok_or("a buffer outside the group's bytes")?;
        let shift = json.need("shift")?.size()?;
        let mut buffer = Buffer { memory: vec![0; nbytes / 16 + 2], shift, before };
        // SAFETY: the memory holds all bytes after the shift.
        unsafe {
            std::ptr::copy_nonoverlapping(before.as_ptr(), buffer.start(), nbytes);
        }
        Ok(buffer)
    }

    fn start(&mut self) -> *mut u8 {
        // SAFETY: the offset is inside the memory.
        unsafe { self.memory.as_mut_ptr().cast::<u8>().add(self.shift) }
    }

    /// Returns the current bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the slice is the memory after the shift.
        unsafe {
            let start = self.memory.as_ptr().cast::<u8>().add(self.shift);
            std::slice::from_raw_parts(start, self.before.len())
        }
    }
}

impl View {
    pub fn read(json: &Json) -> Result<Option<Self>> {
        if json.get("kind") != Some(&Json::Text("array".to_string())) {
            return Ok(None);
        }
        Ok(Some(View {
            buffer: json.need("buffer")?.size()?,
            offset: json.need("offset")?.size()?,
            dtype: dtype_of(json.need("dtype")?)?,
            shape: json.need("shape")?.ints()?,
            strides: json.need("strides")?.ints()?,
            swapped: json.is("swapped"),
            read_only: json.is("read_only"),
        }))
    }

    pub fn tensor<'v>(&'v self, buffers: &mut [Buffer<'_>]) -> Result<Tensor<'v>> {
        let buffer = buffers.get_mut(self.buffer).ok_or("no such buffer")?;
        // SAFETY: no element of the corpus is outside its buffer, and the case owns the memory.
        let mut tensor = unsafe {
            let address = buffer.start().add(self.offset);
            Tensor::from_raw(address, self.dtype, &self.shape, Some(&self.strides))
        };
        if self.swapped {
            tensor = tensor.swapped();
        }
        Ok(if self.read_only { tensor.read_only() } else { tensor })
    }
}

pub fn dtype_of(json: &Json) -> Result<DType> {
    json.text()?.parse().map_err(|error: gufunc::Error| error.to_string())
}

fn bits_of(json: &Json) -> Result<f64> {
    let digits = json.text()?;
    let bits = u64::from_str_radix(digits, 16).map_err(|_| format!("bits {digits}"))?;
    Ok(f64::from_bits(bits))
}

/// Makes a weak integer of any size.
fn weak_int(digits: &str) -> Result<Operand<'static>> {
    if let Ok(small) = digits.parse::<i64>() {
        return Ok(weak(small));
    }
    let magnitude = digits.trim_start_matches('-');
    if magnitude.is_empty() || !magnitude.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(format!("{digits} is not an integer"));
    }
    let known = magnitude.parse::<u64>();
    let negative = digits.starts_with('-');
    Ok(Operand::weak_huge(known.clone().unwrap_or(u64::MAX), negative, known.is_err()))
}

fn scalar_of(json: &Json) -> Result<Operand<'static>> {
    let digits = json.need("bytes")?.text()?;
    let byte = |at: usize| digits.get(at..at + 2).and_then(|d| u8::from_str_radix(d, 16).ok());
    let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
    let bytes = bytes.ok_or_else(|| format!("bytes {digits}"))?;
    let dtype = dtype_of(json.need("dtype")?)?;
    Operand::scalar_of(dtype, &bytes).map_err(|error| error.to_string())
}

/// Makes an operand of any kind. `view` is the view of an operand of kind `array`.
pub fn operand<'v>(
    json: &Json,
    view: &'v Option<View>,
    buffers: &mut [Buffer<'_>],
) -> Result<Operand<'v>> {
    match (view, json.need("kind")?.text()?) {
        (Some(view), _) => Ok(view.tensor(buffers)?.into()),
        (None, "scalar") => scalar_of(json),
        (None, "weak_int") => weak_int(json.need("value")?.text()?),
        (None, "weak_float") => Ok(weak(bits_of(json.need("bits")?)?)),
        (None, "weak_complex") => match json.need("bits")?.list()? {
            [real, imaginary] => Ok(weak([bits_of(real)?, bits_of(imaginary)?])),
            _ => Err("bits".to_string()),
        },
        (None, kind) => Err(format!("operand of the kind \"{kind}\"")),
    }
}

/// The keys that a case may contain.
const KEYS: [&str; 20] = [
    "id",
    "ufunc",
    "method",
    "buffers",
    "inputs",
    "outputs",
    "where",
    "indices",
    "initial",
    "axis",
    "axes",
    "keepdims",
    "dims",
    "casting",
    "order",
    "dtype",
    "signature",
    "fp_report",
    "fp_fail",
    "expect",
];

pub struct Case<'a> {
    pub json: &'a Json,
    pub buffers: Vec<Buffer<'a>>,
    pub inputs: Vec<Option<View>>,
    pub outputs: Vec<Option<View>>,
    pub fp_flags: FpFlags,
}

/// The outcome of a call: the allocated arrays, or the error of the library.
pub type Outcome = gufunc::Result<Vec<Option<DynArray>>>;

/// Returns the items of a list, or an empty list if the key is missing.
fn listed<'j>(json: &'j Json, key: &str) -> Result<&'j [Json]> {
    json.get(key).map_or(Ok(&[]), Json::list)
}

impl<'a> Case<'a> {
    /// Reads a case. An unknown key is an error.
    pub fn read(json: &'a Json, blob: &'a [u8]) -> Result<Self> {
        let Json::Map(pairs) = json else { return Err("no case".to_string()) };
        if let Some((key, _)) = pairs.iter().find(|(key, _)| !KEYS.contains(&key.as_str())) {
            return Err(format!("the key \"{key}\""));
        }
        let buffers = listed(json, "buffers")?.iter().map(|b| Buffer::read(b, blob));
        let views = |key| listed(json, key)?.iter().map(View::read).collect::<Result<Vec<_>>>();
        Ok(Case {
            json,
            buffers: buffers.collect::<Result<_>>()?,
            inputs: views("inputs")?,
            outputs: views("outputs")?,
            fp_flags: FpFlags::NONE,
        })
    }

    /// Runs the case on a device. The outer error is an error in the case, and the inner error is
    /// an error of the library.
    pub fn run(&mut self, device: Device) -> Result<Outcome> {
        let ufunc = match gufunc::ufunc(self.json.need("ufunc")?.text()?) {
            Ok(ufunc) => ufunc,
            Err(error) => return Ok(Err(error)),
        };
        let done = match self.json.need("method")?.text()? {
            "call" => self.call(&ufunc, device, false)?,
            "outer" => self.call(&ufunc, device, true)?,
            "reduce" => self.reduce(&ufunc, device)?,
            "accumulate" | "reduceat" => self.accumulate(&ufunc, device)?,
            "at" => self.at(&ufunc, device)?,
            other => return Err(format!("method \"{other}\"")),
        };
        Ok(done.and_then(|arrays| device.synchronize(None).map(|_| arrays)))
    }

    fn flags(&self) -> Result<(FpFlags, FpFlags)> {
        let report = if self.json.is("fp_report") { FpFlags::ALL } else { FpFlags::NONE };
        let fail = self.json.get("fp_fail").map_or(Ok(0), Json::int)?;
        Ok((report, FpFlags(u32::try_from(fail).map_err(|error| error.to_string())?)))
    }

    fn order(&self) -> Result<Option<Order>> {
        let Some(word) = self.json.get("order") else { return Ok(None) };
        match word.text()? {
            "K" => Ok(Some(Order::Keep)),
            "C" => Ok(Some(Order::C)),
            "F" => Ok(Some(Order::F)),
            "A" => Ok(Some(Order::Any)),
            other => Err(format!("order \"{other}\"")),
        }
    }

    fn casting(&self) -> Result<Option<Casting>> {
        let Some(word) = self.json.get("casting") else { return Ok(None) };
        match word.text()? {
            "no" => Ok(Some(Casting::No)),
            "equiv" => Ok(Some(Casting::Equiv)),
            "safe" => Ok(Some(Casting::Safe)),
            "same_kind" => Ok(Some(Casting::SameKind)),
            "unsafe" => Ok(Some(Casting::Unsafe)),
            other => Err(format!("casting \"{other}\"")),
        }
    }

    fn call(&mut self, ufunc: &Ufunc, device: Device, outer: bool) -> Result<Outcome> {
        let ((report, fail), json) = (self.flags()?, self.json);
        let (order, casting) = (self.order()?, self.casting()?);
        let mask_view = json.get("where").map_or(Ok(None), View::read)?;
        let lists = listed(json, "axes")?.iter().map(Json::ints).collect::<Result<Vec<_>>>()?;
        let axes: Vec<&[i64]> = lists.iter().map(Vec::as_slice).collect();
        let types: Vec<DType> = {
            let one = |json: &Json| match json {
                Json::Null => Ok(DType::UNSPECIFIED),
                spelling => dtype_of(spelling),
            };
            listed(json, "signature")?.iter().map(one).collect::<Result<_>>()?
        };
        let inputs = operands(json, "inputs", &self.inputs, &mut self.buffers)?;
        let outputs = outputs(json, ufunc, &self.outputs, &mut self.buffers)?;
        let mut call = ufunc.with().device(device).fail_on_fp_flags(fail);
        if report != FpFlags::NONE {
            call = call.report_fp_flags(report, &mut self.fp_flags);
        }
        if let Some(mask) = json.get("where") {
            call = call.where_(operand(mask, &mask_view, &mut self.buffers)?);
        }
        if let Some(order) = order {
            call = call.order(order);
        }
        if let Some(casting) = casting {
            call = call.casting(casting);
        }
        if let Some(dtype) = json.get("dtype") {
            call = call.dtype(dtype_of(dtype)?);
        }
        if !types.is_empty() {
            call = call.signature(&types);
        }
        if json.get("axes").is_some() {
            call = call.axes(&axes);
        }
        if let Some(axis) = json.get("axis") {
            call = call.axis(axis.int()?);
        }
        if json.is("keepdims") {
            call = call.keepdims();
        }
        for dim in listed(json, "dims")? {
            let [name, size] = dim.list()? else { return Err("dims".to_string()) };
            call = call.dim(name.text()?, size.int()?);
        }
        Ok(match outer {
            true => call.outer_into(inputs, outputs),
            false => call.call_into(inputs, outputs),
        })
    }

    fn reduce(&mut self, ufunc: &Ufunc, device: Device) -> Result<Outcome> {
        let ((report, fail), json) = (self.flags()?, self.json);
        let order = self.order()?;
        let mask_view = json.get("where").map_or(Ok(None), View::read)?;
        let initial_view = json.get("initial").map_or(Ok(None), View::read)?;
        let axes = match json.get("axis") {
            Some(list @ Json::List(_)) => list.ints()?,
            _ => Vec::new(),
        };
        let mut inputs = operands(json, "inputs", &self.inputs, &mut self.buffers)?;
        let outputs = outputs(json, ufunc, &self.outputs, &mut self.buffers)?;
        let input = inputs.pop().ok_or("no input")?;
        let mut reduce = ufunc.reduce(input).device(device).fail_on_fp_flags(fail);
        if report != FpFlags::NONE {
            reduce = reduce.report_fp_flags(report, &mut self.fp_flags);
        }
        if let Some(mask) = json.get("where") {
            reduce = reduce.where_(operand(mask, &mask_view, &mut self.buffers)?);
        }
        reduce = match json.get("initial") {
            None => reduce,
            Some(Json::Text(none)) if none == "none" => reduce.no_initial(),
            Some(value) => reduce.initial(operand(value, &initial_view, &mut self.buffers)?),
        };
        reduce = match json.get("axis") {
            None => reduce,
            Some(Json::List(_)) => reduce.axes(&axes),
            Some(Json::Text(all)) if all == "all" => reduce.all_axes(),
            Some(one) => reduce.axis(one.int()?),
        };
        if json.is("keepdims") {
            reduce = reduce.keepdims();
        }
        if let Some(order) = order {
            reduce = reduce.order(order);
        }
        if let Some(dtype) = json.get("dtype") {
            reduce = reduce.dtype(dtype_of(dtype)?);
        }
        Ok(match json.get("outputs") {
            Some(_) => reduce.call_into(outputs),
            None => reduce.call_all().map(|made| made.into_iter().map(Some).collect()),
        })
    }

    fn accumulate(&mut self, ufunc: &Ufunc, device: Device) -> Result<Outcome> {
        let ((report, fail), json) = (self.flags()?, self.json);
        let (order, axis) = (self.order()?, json.get("axis").map_or(Ok(0), Json::int)?);
        let views = index_views(json)?;
        let mut inputs = operands(json, "inputs", &self.inputs, &mut self.buffers)?;
        let mut indices = operands(json, "indices", &views, &mut self.buffers)?;
        let output = outputs(json, ufunc, &self.outputs, &mut self.buffers)?.pop();
        let (input, output) = (inputs.pop().ok_or("no input")?, output.ok_or("no output")?);
        let fold = match indices.pop() {
            Some(indices) => ufunc.reduceat(input, indices),
            None => ufunc.accumulate(input),
        };
        let mut fold = fold.device(device).axis(axis).fail_on_fp_flags(fail);
        if report != FpFlags::NONE {
            fold = fold.report_fp_flags(report, &mut self.fp_flags);
        }
        if let Some(order) = order {
            fold = fold.order(order);
        }
        if let Some(dtype) = json.get("dtype") {
            fold = fold.dtype(dtype_of(dtype)?);
        }
        Ok(match self.outputs.iter().any(Option::is_some) {
            true => fold.call_into(output).map(|()| vec![None]),
            false => fold.call().map(|made| vec![Some(made)]),
        })
    }

    fn at(&mut self, ufunc: &Ufunc, device: Device) -> Result<Outcome> {
        let ((report, fail), json) = (self.flags()?, self.json);
        let views = index_views(json)?;
        let mut inputs = operands(json, "inputs", &self.inputs, &mut self.buffers)?.into_iter();
        let indices = operands(json, "indices", &views, &mut self.buffers)?;
        drop(inputs.next());
        let array = self.inputs.first().and_then(Option::as_ref).ok_or("no array")?;
        let array = Output::from(array.tensor(&mut self.buffers)?);
        let mut at = ufunc.at(array, indices).device(device).fail_on_fp_flags(fail);
        if report != FpFlags::NONE {
            at = at.report_fp_flags(report, &mut self.fp_flags);
        }
        if let Some(second) = inputs.next() {
            at = at.operand(second);
        }
        Ok(at.call().map(|()| vec![None]))
    }
}

fn index_views(json: &Json) -> Result<Vec<Option<View>>> {
    listed(json, "indices")?.iter().map(View::read).collect()
}

fn operands<'v>(
    json: &Json,
    key: &str,
    views: &'v [Option<View>],
    buffers: &mut [Buffer<'_>],
) -> Result<Vec<Operand<'v>>> {
    let pairs = listed(json, key)?.iter().zip(views);
    pairs.map(|(json, view)| operand(json, view, buffers)).collect()
}

/// Returns the outputs that the case provides. If it provides none, returns an output to allocate
/// for each output of the ufunc.
fn outputs<'v>(
    json: &Json,
    ufunc: &Ufunc,
    views: &'v [Option<View>],
    buffers: &mut [Buffer<'_>],
) -> Result<Vec<Output<'v>>> {
    if json.get("outputs").is_none() {
        return Ok((0..ufunc.nout()).map(|_| Output::allocate()).collect());
    }
    let one = |view: &'v Option<View>| match view {
        None => Ok(Output::allocate()),
        Some(view) => Ok(Output::from(view.tensor(buffers)?)),
    };
    views.iter().map(one).collect()
}
