// SPDX-License-Identifier: Apache-2.0
//! A case of the corpus: its memory, operands and keywords, and the call.

use crate::json::{Json, Result};
use crate::operands::{dtype_of, operand, Buffer, View};
use gufunc::{Casting, DType, Device, DynArray, FpFlags, Operand, Order, Output, Ufunc};

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
