// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// BackendInfo describes a backend: a plugin for one kind of device.
type BackendInfo struct {
	Name       string
	State      error // nil, or why the backend is unusable: for example an *Error with ErrNoDriver
	Devices    int   // -1: not probed yet
	Version    string
	Driver     string
	Path       string // of the plugin; "" for the backend that is part of the library
	Priority   int    // "auto" prefers higher values
	ABIMinor   int    // minor ABI version of the plugin
	NativeCode int    // the vendor's error code for State
}

// Backends returns descriptions of the available backends. If probe is true, Backends opens the
// drivers. State, Devices and Driver then have their final values.
func Backends(probe bool) ([]BackendInfo, error) {
	var count C.uint32_t
	if err := cBackendCount(&count); err != nil {
		return nil, err
	}
	found := make([]BackendInfo, count)
	for i := range found {
		var info C.guf_backend_info
		info.struct_size = C.sizeof_guf_backend_info
		if err := cBackendGetInfo(C.uint32_t(i), truth(probe), &info); err != nil {
			return nil, err
		}
		found[i] = BackendInfo{Name: C.GoString(&info.name[0]), Devices: int(info.ndevices),
			Version: C.GoString(&info.version[0]), Driver: C.GoString(&info.driver[0]),
			Path: C.GoString(&info.path[0]), Priority: int(info.priority),
			ABIMinor: int(info.abi_minor), NativeCode: int(info.native_code)}
		if info.state != cGUF_OK {
			found[i].State = &Error{Status: Status(info.state), Argument: -1, Axis: -1,
				Message: C.GoString(&info.reason[0]), NativeCode: int(info.native_code)}
		}
	}
	return found, nil
}

// LoadBackend loads a plugin by its absolute path, in addition to the plugins of the search path.
func LoadBackend(path string) error {
	return withText(path, cBackendLoad)
}

// Device is a device: the cpu or a GPU. The zero value means that no device is specified: calls
// then run on the device of their operands, and arrays are allocated on the cpu. Two Devices are
// equal if they are the same device. Devices need no closing.
type Device struct{ c C.guf_device }

// DeviceInfo describes a [Device].
type DeviceInfo struct {
	Spec        string // "cpu", "cuda:0"
	Backend     string
	Index       int // index among the backend's devices
	Name        string
	Target      string // selects the images: "x86-64-v4", "sm_90"
	Units       int    // compute units; for the cpu, threads
	HostMemory  bool   // the host can access the device's memory
	MemoryBytes uint64
}

// FindDevice finds a device by its spec: "cpu", "cuda:0", "roc:1" or "auto". The device "auto" runs
// calls on host memory on the cpu if the cpu is faster. If the spec names a backend, FindDevice
// never returns a device of another backend: it fails with ErrNoBackend, ErrNoDriver, ErrNoDevice
// or a similar error.
func FindDevice(spec string) (Device, error) { return (*Context)(nil).FindDevice(spec) }

// FindDevice is like the function [FindDevice], for a particular context. Each context resolves
// "auto" separately.
func (c *Context) FindDevice(spec string) (Device, error) {
	defer runtime.KeepAlive(c)
	var found Device
	err := withText(spec, func(text *C.char) error { return cDeviceGet(c.handle(), text, &found.c) })
	return found, err
}

// AdoptDevice opens a device on a driver context of the program (a CUcontext). The program must
// call AdoptDevice before anything else opens that device. The program keeps ownership of the
// context.
func AdoptDevice(spec string, native uintptr) (Device, error) {
	var found Device
	err := withText(spec, func(text *C.char) error {
		return cDeviceAdopt(text, C.uint64_t(native), &found.c)
	})
	return found, err
}

// Info returns a description of the device. For "auto" it describes the device that was chosen.
func (d Device) Info() (DeviceInfo, error) {
	var info C.guf_device_info
	info.struct_size = C.sizeof_guf_device_info
	if err := cDeviceGetInfo(d.c, &info); err != nil {
		return DeviceInfo{}, err
	}
	return DeviceInfo{Spec: C.GoString(&info.spec[0]), Backend: C.GoString(&info.backend[0]),
		Index: int(info.index), Name: C.GoString(&info.name[0]),
		Target: C.GoString(&info.target[0]), Units: int(info.units),
		HostMemory: info.host_memory != 0, MemoryBytes: uint64(info.memory_bytes)}, nil
}

// String returns the spec of the device.
func (d Device) String() string {
	info, err := d.Info()
	if err != nil {
		return "no device"
	}
	return info.Spec
}

// Synchronize waits for the work on the device's default stream, which runs the calls without a
// stream. Synchronize returns the first failure since the last report. If ctx ends first,
// Synchronize returns ctx's error, and a later call still reports the failure.
func (d Device) Synchronize(ctx context.Context) error {
	return wait(ctx, func(limit C.uint64_t) error { return cDeviceSynchronize(d.c, limit) })
}

// DeviceMemory contains the memory statistics of a device. Sizes are in bytes.
type DeviceMemory struct {
	Live, Peak, Cached uint64 // in use; maximum of Live; freed, and kept for later arrays
	Limit              uint64 // limit of Live and Cached together; math.MaxUint64: none
	Allocations        uint64 // allocations so far
	DriverAllocations  uint64 // allocations that needed a call of the driver
	Free, Total        uint64 // memory of the whole device, as reported by the driver
}

// Memory returns the memory statistics of the device. Memory fails with ErrUnsupported if the
// device's backend has no memory pool (cpu).
func (d Device) Memory() (DeviceMemory, error) {
	var m C.guf_device_memory
	m.struct_size = C.sizeof_guf_device_memory
	if err := cDeviceGetMemory(d.c, &m); err != nil {
		return DeviceMemory{}, err
	}
	return DeviceMemory{uint64(m.live_bytes), uint64(m.peak_bytes), uint64(m.cached_bytes),
		uint64(m.limit_bytes), uint64(m.allocations), uint64(m.driver_allocations),
		uint64(m.free_bytes), uint64(m.total_bytes)}, nil
}

// TrimMemory returns cached memory to the driver until at most keep bytes are cached.
func (d Device) TrimMemory(keep uint64) error {
	return cDeviceTrimMemory(d.c, C.uint64_t(keep))
}

// NoLimit is the argument with which LimitMemory removes the limit.
const NoLimit = math.MaxUint64

// LimitMemory limits the memory of the device: allocations beyond limit bytes fail with
// ErrDeviceMemory.
func (d Device) LimitMemory(limit uint64) error {
	return cDeviceLimitMemory(d.c, C.uint64_t(limit))
}

// EnablePeer allows work on d to access the memory of peer, a device of the same backend.
func (d Device) EnablePeer(peer Device) error { return cDeviceEnablePeer(d.c, peer.c) }

// Registered is memory of the program that is page-locked for a device.
type Registered struct {
	memory  *registration
	closed  atomic.Bool
	cleanup runtime.Cleanup
}

// registration is separate from Registered because the cleanup of a collected Registered still
// needs the address and the pinner.
type registration struct {
	device  Device
	address C.uint64_t
	pinner  runtime.Pinner
}

// RegisterHost page-locks data for a device, so that copies between data and the device need no
// staging. The memory stays page-locked, and is kept alive, until Close is called or the garbage
// collector frees the Registered. On the cpu RegisterHost does nothing.
func RegisterHost[T Element](d Device, data []T) (*Registered, error) {
	m := &registration{device: d}
	if len(data) > 0 {
		m.pinner.Pin(&data[0])
		m.address = addressOf(unsafe.Pointer(&data[0]))
	}
	size := C.uint64_t(uintptr(len(data)) * unsafe.Sizeof(*new(T)))
	if err := cHostRegister(d.c, m.address, size); err != nil {
		m.pinner.Unpin()
		return nil, err
	}
	r := &Registered{memory: m}
	r.cleanup = runtime.AddCleanup(r, func(m *registration) { _ = m.end() }, m)
	return r, nil
}

// Close unlocks the memory. Further calls do nothing.
func (r *Registered) Close() error {
	if r == nil || r.closed.Swap(true) {
		return nil
	}
	r.cleanup.Stop()
	return r.memory.end()
}

func (m *registration) end() error {
	defer m.pinner.Unpin()
	return cHostUnregister(m.device.c, m.address)
}

func addressOf(pointer unsafe.Pointer) C.uint64_t { return C.uint64_t(uintptr(pointer)) }

func truth(value bool) C.int32_t {
	if value {
		return 1
	}
	return 0
}
