// SPDX-License-Identifier: Apache-2.0

// Package tensors plays the role of another library in tests: it makes DLPack tensors over memory
// of the test and counts the calls of their deleters.
package tensors

/*
#cgo !gufunc_dlopen pkg-config: gufunc
#cgo gufunc_dlopen CFLAGS: -I${SRCDIR}/../../../../abi/include
#include <gufunc/dlpack.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct {
  guf_dlpack versioned;
  guf_dlpack_unversioned plain;
  int64_t shape[2];
  atomic_int deleted;
} produced;

static void delete_versioned(guf_dlpack *managed) {
  atomic_fetch_add(&((produced *)managed->manager_context)->deleted, 1);
}

static void delete_plain(guf_dlpack_unversioned *managed) {
  atomic_fetch_add(&((produced *)managed->manager_context)->deleted, 1);
}

static produced *produce(uint64_t address, guf_dlpack_tensor tensor, uint32_t major,
                         uint64_t flags) {
  produced *made = calloc(1, sizeof *made);
  if (made == NULL) abort();
  made->shape[0] = 2;
  made->shape[1] = 3;
  tensor.data = (void *)(uintptr_t)address;
  tensor.ndim = 2;
  tensor.shape = made->shape;
  made->versioned = (guf_dlpack){major, 0, made, delete_versioned, flags, tensor};
  made->plain = (guf_dlpack_unversioned){tensor, made, delete_plain};
  return made;
}

static int deletions(produced *made) { return atomic_load(&made->deleted); }
static guf_dlpack_tensor *tensor_of(void *managed, int unversioned) {
  return unversioned ? &((guf_dlpack_unversioned *)managed)->tensor
                     : &((guf_dlpack *)managed)->tensor;
}
*/
import "C"

import "unsafe"

// Tensor contains the fields of a tensor that tests compare.
type Tensor struct {
	Address        uintptr
	DeviceType     int
	Device         int
	DType          uint32
	Shape, Strides []int64
	Flags          uint64 // 0 for an unversioned tensor
}

// Flags of a tensor.
const (
	ReadOnly = C.GUF_DLPACK_READ_ONLY
	IsCopied = C.GUF_DLPACK_IS_COPIED
	CPU      = C.GUF_DLPACK_CPU
)

// Producer owns one tensor of shape (2, 3), which is available in both DLPack structures.
type Producer struct{ c *C.produced }

// New makes a tensor. The tensor's structures are never freed, so that a late call of the deleter
// is counted.
func New(t Tensor, major uint32) Producer {
	return Producer{C.produce(C.uint64_t(t.Address), C.guf_dlpack_tensor{
		device_type: C.int32_t(t.DeviceType), device_id: C.int32_t(t.Device),
		dtype: C.guf_dtype(t.DType)}, C.uint32_t(major), C.uint64_t(t.Flags))}
}

// Managed returns the pointer that libraries exchange.
func (p Producer) Managed(unversioned bool) unsafe.Pointer {
	if unversioned {
		return unsafe.Pointer(&p.c.plain)
	}
	return unsafe.Pointer(&p.c.versioned)
}

// Deleted returns how often the deleters were called.
func (p Producer) Deleted() int { return int(C.deletions(p.c)) }

// Look reads the fields of a tensor.
func Look(managed unsafe.Pointer, unversioned bool) Tensor {
	old, flags := C.int(0), uint64(0)
	if unversioned {
		old = 1
	} else {
		flags = uint64((*C.guf_dlpack)(managed).flags)
	}
	t := C.tensor_of(managed, old)
	numbers := func(first *C.int64_t) []int64 {
		return append([]int64{}, unsafe.Slice((*int64)(unsafe.Pointer(first)), t.ndim)...)
	}
	return Tensor{uintptr(t.data), int(t.device_type), int(t.device_id), uint32(t.dtype),
		numbers(t.shape), numbers(t.strides), flags}
}
