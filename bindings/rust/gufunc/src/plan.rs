// SPDX-License-Identifier: Apache-2.0
//! Plans: calls that are prepared once and launched many times.

use crate::array::raw_stream;
use crate::handle::counted;
use crate::status::check;
use crate::{
    Call, DType, Device, DynArray, Error, Inputs, Operand, Order, Output, Outputs, Result, Role,
    Status, Stream,
};
use gufunc_sys as sys;

counted! {
    /// The reference-counted handle of a plan.
    Handle, guf_plan, guf_plan_retain, guf_plan_release
}

/// Layout of an operand when the plan was made. Scalars have no layout.
#[derive(Clone, PartialEq, Eq)]
struct Layout {
    dtype: u32,
    swapped: bool,
    shape: Vec<i64>,
    strides: Vec<i64>,
    device: sys::guf_device,
}

// SAFETY: the fields are numbers and a handle that any thread may use.
unsafe impl Send for Layout {}
// SAFETY: as for `Send`.
unsafe impl Sync for Layout {}

/// What the plan requires of an operand of a launch.
#[derive(Clone)]
enum Held {
    /// A scalar that the plan stores: kind, dtype and bytes.
    Scalar((i32, u32, [u64; 2])),
    Memory(Layout),
    /// Host memory that a GPU reads in place. The plan keeps the array, because it cannot check
    /// whether the GPU can read other host memory.
    Read {
        layout: Layout,
        address: u64,
        _kept: DynArray,
    },
}

/// A call that is prepared for operands of fixed dtypes, shapes and strides, made by
/// [`Call::plan`]. It may be launched from many threads at the same time.
///
/// Scalars are part of a plan: a launch with a different value is refused. For a value that varies,
/// use an array or slice of one element. A plan for a GPU that uses host memory (mapped, managed)
/// keeps the arrays in host memory and must be launched on them, because it cannot check whether
/// the GPU can read other host memory. [`Plan::launch_at`] leaves this check to the caller.
///
/// ```
/// use gufunc::{ufunc, Array};
/// let (x, y) = (Array::from_vec(vec![1.0, 4.0], &[2])?, Array::from_vec(vec![0.0; 2], &[2])?);
/// let plan = ufunc("sqrt")?.with().plan(&x, &y)?;
/// plan.launch(&x, &y)?;
/// assert_eq!(y.to_vec()?, [1.0, 2.0]);
/// let mut z = [0.0; 2];
/// plan.launch(&[9.0, 16.0], &mut z)?; // other memory with the same layout
/// assert_eq!(z, [3.0, 4.0]);
/// # Ok::<(), gufunc::Error>(())
/// ```
#[derive(Clone)]
pub struct Plan {
    handle: Handle,
    operands: Vec<Held>,
    /// The device on which the plan runs; `None`: the cpu.
    device: Option<Device>,
    /// Whether inputs are written in place.
    writes_inputs: bool,
}

impl Layout {
    fn of(operand: &Operand<'_>) -> Result<Option<Layout>> {
        if let Some(tensor) = operand.tensor() {
            let ndim = tensor.ndim as usize;
            // SAFETY: the lists belong to the tensor, which the operand holds.
            let list = |at: *const i64| unsafe { std::slice::from_raw_parts(at, ndim).to_vec() };
            let shape = if ndim == 0 { Vec::new() } else { list(tensor.shape) };
            let strides = match tensor.strides.is_null() || ndim == 0 {
                true => contiguous(&shape, DType(tensor.dtype).itemsize()?),
                false => list(tensor.strides),
            };
            let swapped = tensor.flags & sys::GUF_TENSOR_SWAPPED != 0;
            return Layout::new(tensor.dtype, swapped, shape, strides, tensor.device).map(Some);
        }
        let Some(array) = operand.as_array() else { return Ok(None) };
        let info = array.raw_info()?;
        let ndim = info.ndim as usize;
        let (shape, strides) = (info.shape[..ndim].to_vec(), info.strides[..ndim].to_vec());
        let swapped = info.flags & sys::GUF_ARRAY_SWAPPED != 0;
        Layout::new(info.dtype, swapped, shape, strides, info.device).map(Some)
    }

    /// Returns a layout in a normal form, so that two layouts of the same elements are equal:
    /// strides that have no effect are 0, and the device of host memory is null.
    fn new(
        dtype: u32,
        swapped: bool,
        shape: Vec<i64>,
        mut strides: Vec<i64>,
        device: sys::guf_device,
    ) -> Result<Layout> {
        for (stride, extent) in strides.iter_mut().zip(&shape) {
            if *extent <= 1 {
                *stride = 0;
            }
        }
        let host = device.is_null() || Device::new(device).info()?.backend == "cpu";
        let device = if host { std::ptr::null_mut() } else { device };
        Ok(Layout { dtype, swapped, shape, strides, device })
    }
}

fn contiguous(shape: &[i64], itemsize: usize) -> Vec<i64> {
    let mut strides = vec![itemsize as i64; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].wrapping_mul(shape[axis].max(1));
    }
    strides
}

impl Call<'_> {
    /// Prepares the call, so that it can be launched many times on operands with the same layouts
    /// as `inputs` and `outputs`.
    ///
    /// # Errors
    /// The errors of the call that occur before the work starts; [`Status::ARG`] for an output to
    /// allocate, [`Status::UNSUPPORTED`] for reported flags and for host memory that the device
    /// cannot read.
    pub fn plan<'i>(&mut self, inputs: impl Inputs<'i>, outputs: impl Outputs<'i>) -> Result<Plan> {
        let (inputs, outputs) = (inputs.into_inputs(), outputs.into_outputs());
        let (inputs, outputs) = (inputs.as_ref(), outputs.as_ref());
        let (ufunc, mut raw) = (self.ufunc.as_raw(), std::ptr::null_mut());
        self.run(inputs, outputs, |args| {
            // SAFETY: the operands are in the frame, and the handle pointer is valid.
            check(|error| unsafe { sys::guf_plan_create(ufunc, args, &mut raw, error) })
        })?;
        // SAFETY: the function returned one reference.
        let handle = unsafe { Handle::from_raw(raw) };
        let operands = || inputs.iter().chain(outputs.iter().map(|o| &o.0)).chain(self.mask());
        let layouts = operands().map(Layout::of).collect::<Result<Vec<_>>>()?;
        let device = self.runs_on(&layouts)?;
        let hold = |(operand, layout)| Held::of(operand, layout, device);
        let operands = operands().zip(layouts).map(hold).collect::<Result<_>>()?;
        let writes_inputs = self.ufunc.info()?.roles.contains(&Role::Inout);
        Ok(Plan { handle, operands, device, writes_inputs })
    }

    /// Returns the device on which the plan runs: the stream's device, else the operands' device,
    /// else the device of the call. `None` means the cpu, also for host memory on device `"auto"`.
    fn runs_on(&self, layouts: &[Option<Layout>]) -> Result<Option<Device>> {
        let of_operands = layouts.iter().flatten().find(|layout| !layout.device.is_null());
        let device = match (self.on_stream(), of_operands, self.on_device()) {
            (Some(stream), ..) => stream.device()?,
            (None, Some(layout), _) => Device::new(layout.device),
            (None, None, Some(requested)) if !requested.is_auto()? => requested,
            _ => return Ok(None),
        };
        Ok((device.info()?.backend != "cpu").then_some(device))
    }
}

impl Held {
    fn of(operand: &Operand<'_>, layout: Option<Layout>, device: Option<Device>) -> Result<Held> {
        let Some(layout) = layout else { return Ok(Held::Scalar(operand.value())) };
        match operand.as_array() {
            Some(array) if device.is_some() && layout.device.is_null() => {
                let (address, kept) = (operand.address()?, DynArray::clone(&array));
                Ok(Held::Read { layout, address, _kept: kept })
            }
            _ => Ok(Held::Memory(layout)),
        }
    }
}

impl Plan {
    /// Returns the C handle, which this value continues to own.
    pub fn as_raw(&self) -> sys::guf_plan {
        self.handle.as_raw()
    }

    /// Returns the C handle and its reference, which the caller must release.
    pub fn into_raw(self) -> sys::guf_plan {
        self.handle.into_raw()
    }

    /// Launches the plan on operands with the layout of the plan's operands, and waits for the
    /// result.
    ///
    /// # Errors
    /// [`Status::PLAN_MISMATCH`] if the layout of an operand or the overlap of operands differs
    /// from the plan's, or if a scalar has a different value; [`Status::LAUNCH`], [`Status::LOOP`],
    /// [`Status::VALUE`].
    pub fn launch<'a>(&self, inputs: impl Inputs<'a>, outputs: impl Outputs<'a>) -> Result<()> {
        let (inputs, outputs) = (inputs.into_inputs(), outputs.into_outputs());
        self.launch_all(inputs.as_ref(), outputs.as_ref(), None)
    }

    /// Launches a plan with a mask; see [`Plan::launch`].
    ///
    /// # Errors
    /// As [`Plan::launch`].
    pub fn launch_where<'a>(
        &self,
        inputs: impl Inputs<'a>,
        outputs: impl Outputs<'a>,
        mask: impl Into<Operand<'a>>,
    ) -> Result<()> {
        let (inputs, outputs) = (inputs.into_inputs(), outputs.into_outputs());
        self.launch_all(inputs.as_ref(), outputs.as_ref(), Some(&mask.into()))
    }

    fn launch_all(
        &self,
        inputs: &[Operand<'_>],
        outputs: &[Output<'_>],
        mask: Option<&Operand<'_>>,
    ) -> Result<()> {
        let operands: Vec<&Operand<'_>> =
            inputs.iter().chain(outputs.iter().map(|o| &o.0)).chain(mask).collect();
        let addresses = self.addresses(&operands)?;
        if self.writes_inputs && inputs.iter().any(Operand::is_read_only) {
            return Err(Error::new(Status::READ_ONLY, "the function writes an input in place"));
        }
        for output in outputs {
            if output.0.is_read_only() {
                return Err(Error::new(Status::READ_ONLY, "an output is read-only"));
            }
        }
        let (nbytes, alignment) = self.workspace()?;
        let workspace = self.allocate_workspace(nbytes, alignment)?;
        let at = workspace.as_ref().map_or(0, |(_, at)| *at);
        // SAFETY: the memory is borrowed or held until the wait below, and its layout was checked.
        let launched = unsafe { self.launch_at(None, &addresses, at) };
        // Waits even if the launch failed, because work may have been queued before the failure.
        let waited = self.device.map_or(Ok(true), |device| device.synchronize(None));
        launched.and(waited).map(|_| ())
    }

    /// Checks the layouts of the operands and returns their addresses.
    fn addresses(&self, operands: &[&Operand<'_>]) -> Result<Vec<u64>> {
        if operands.len() != self.operands.len() {
            let (given, expected) = (operands.len(), self.operands.len());
            let message = format!("operands: expected {expected}, got {given}");
            return Err(Error::new(Status::ARG, message));
        }
        let pairs = operands.iter().zip(&self.operands).enumerate();
        pairs.map(|(place, (operand, held))| self.address(place, operand, held)).collect()
    }

    fn address(&self, place: usize, operand: &Operand<'_>, held: &Held) -> Result<u64> {
        let mismatch = |what: &str| {
            let message = format!("operand {place} {what}");
            Err(Error::new(Status::PLAN_MISMATCH, message).with_argument(place))
        };
        let (layout, address) = (Layout::of(operand)?, operand.address()?);
        match (held, layout) {
            (Held::Scalar(value), None) if *value == operand.value() => Ok(0),
            (Held::Scalar(_), None) => mismatch("differs from the scalar that the plan keeps"),
            (Held::Memory(own), Some(layout)) if *own == layout => Ok(address),
            (Held::Read { layout: own, .. }, Some(layout)) if *own == layout => {
                match self.reads(&layout, address) {
                    true => Ok(address),
                    false => mismatch("is in other host memory than when the plan was made"),
                }
            }
            _ => mismatch("has another layout than when the plan was made"),
        }
    }

    /// Whether the plan keeps an array with this layout at this address.
    fn reads(&self, layout: &Layout, address: u64) -> bool {
        self.operands.iter().any(|held| match held {
            Held::Read { layout: own, address: at, .. } => own == layout && *at == address,
            _ => false,
        })
    }

    /// Allocates the workspace of one launch on the plan's device.
    fn allocate_workspace(&self, nbytes: u64, alignment: u64) -> Result<Option<(DynArray, u64)>> {
        if nbytes == 0 {
            return Ok(None);
        }
        let shape = [(nbytes + alignment) as i64];
        let array = DynArray::alloc(self.device, DType::U8, &shape, Order::C)?;
        let address = array.raw_info()?.address.next_multiple_of(alignment.max(1));
        Ok(Some((array, address)))
    }

    /// Launches the plan on addresses, one per operand in the order inputs, outputs, mask. The
    /// address of a scalar is ignored. With a stream the launch is queued and may be captured.
    ///
    /// # Safety
    /// At each address there is memory with the layout of the plan's operand. The memory is valid
    /// until the work is complete. While the work writes the memory of an operand, nothing else
    /// uses this memory. `workspace` is the address of memory of the size and alignment that
    /// [`Plan::workspace`] returns.
    ///
    /// # Errors
    /// As [`Plan::launch`].
    pub unsafe fn launch_at(
        &self,
        stream: Option<&Stream>,
        addresses: &[u64],
        workspace: u64,
    ) -> Result<()> {
        let (count, at, stream) =
            (crate::array::count(addresses), addresses.as_ptr(), raw_stream(stream));
        // SAFETY: the list has the length that is passed; the caller guarantees the memory.
        check(|error| unsafe {
            sys::guf_plan_launch(self.as_raw(), stream, count, at, workspace, error)
        })
    }

    /// Returns the size in bytes and the alignment of the scratch memory that one launch needs.
    ///
    /// # Errors
    /// Any error that the library reports.
    pub fn workspace(&self) -> Result<(u64, u64)> {
        let (mut nbytes, mut alignment) = (0, 0);
        // SAFETY: both result pointers are valid for the call.
        check(|error| unsafe {
            sys::guf_plan_workspace(self.as_raw(), &mut nbytes, &mut alignment, error)
        })?;
        Ok((nbytes, alignment))
    }

    /// Describes as text what the plan does, and why.
    ///
    /// # Errors
    /// Any error that the library reports.
    pub fn explain(&self) -> Result<String> {
        crate::status::written(|text, length, error| {
            // SAFETY: the buffer has the length that is passed.
            unsafe { sys::guf_plan_explain(self.as_raw(), text, length, error) }
        })
    }
}
