// SPDX-License-Identifier: Apache-2.0

package gufunc_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/gufunc"
)

// residentMiB returns the resident memory of the process.
func residentMiB(t *testing.T) float64 {
	text := must(os.ReadFile("/proc/self/statm"))(t)
	var all, resident int
	if _, err := fmt.Fscan(bytes.NewReader(text), &all, &resident); err != nil {
		t.Fatal(err)
	}
	return float64(resident*os.Getpagesize()) / (1 << 20)
}

// flat checks that repeated calls of cycle do not leak memory: after a warm-up, one of at most
// three rounds of 10^6 calls (20 000 in short mode) must leave the resident memory almost
// unchanged. A leak increases it in every round. A single round may increase it without a leak,
// because the allocator of the C library does not return all freed memory to the system.
func flat(t *testing.T, cycle func()) {
	cycles := 1_000_000
	if testing.Short() {
		cycles = 20_000
	}
	const limitMiB = 24
	run := func(count int) {
		for range count {
			cycle()
		}
		for range 5 { // close dropped objects and return their memory to the system
			debug.FreeOSMemory()
			time.Sleep(2 * time.Millisecond)
			must(gufunc.Poll(0))(t)
		}
	}
	run(cycles / 5)
	for round := range 3 {
		before := residentMiB(t)
		run(cycles)
		grown := residentMiB(t) - before
		// The garbage collector runs cleanups on a separate goroutine, which a busy machine may delay.
		for end := time.Now().Add(3 * time.Second); grown > limitMiB && time.Now().Before(end); {
			run(0)
			grown = residentMiB(t) - before
		}
		t.Logf("round %d: %.1f MiB more after %d cycles", round, grown, cycles)
		if grown <= limitMiB {
			return
		}
	}
	t.Fatal("every round increased the resident memory")
}

func TestClosedArraysLeaveNothing(t *testing.T) {
	cpu := must(gufunc.FindDevice("cpu"))(t)
	flat(t, func() {
		a, err := gufunc.Alloc[float64](cpu, 64)
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
	})
}

func TestDroppedArraysLeaveNothing(t *testing.T) {
	cpu := must(gufunc.FindDevice("cpu"))(t)
	flat(t, func() {
		if _, err := gufunc.Alloc[float64](cpu, 64); err != nil {
			t.Fatal(err)
		}
	})
}

func TestOtherObjectsLeaveNothing(t *testing.T) {
	cpu := must(gufunc.FindDevice("cpu"))(t)
	data := make([]float64, 8)
	add := gufunc.MustFind("add")
	whole := must(gufunc.Of(data))(t)
	round := 0
	flat(t, func() {
		wrapped, err := gufunc.Of(data)
		if err != nil {
			t.Fatal(err)
		}
		view, err := wrapped.Slice(gufunc.From(2))
		if err != nil {
			t.Fatal(err)
		}
		view.Close()
		wrapped.Close()
		if round++; round%64 != 0 {
			return
		}
		event, err1 := cpu.NewEvent()
		plan, err2 := add.NewPlan(&gufunc.CallOptions{Out: []gufunc.Operand{whole}}, whole, whole)
		own, err3 := gufunc.NewContext()
		found, err4 := own.Find("add")
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Fatal(err)
		}
		_, failed := add.Call(&gufunc.CallOptions{Axis: gufunc.Axis(0)}, whole, whole)
		if failed == nil {
			t.Fatal("axis without core dimensions")
		}
		event.Close()
		plan.Close()
		found.Close()
		own.Close()
	})
}

// waysToUseMemory returns functions that make arrays of 4 MiB, and functions that need 4 MiB of
// temporary memory.
func waysToUseMemory(t *testing.T, d gufunc.Device) map[string]func() error {
	const count = 1 << 20
	host := must(gufunc.Full[float32](gufunc.Device{}, 1, count))(t)
	result := must(gufunc.Alloc[float32](gufunc.Device{}, count))(t)
	a := must(host.ToDevice(d, nil))(t)
	side := must(must(a.Slice(gufunc.Until(1<<10)))(t).Copy(gufunc.COrder, nil))(t)
	work := must(a.Copy(gufunc.COrder, nil))(t)
	behind := must(work.Slice(gufunc.From(1)))(t)
	before := must(work.Slice(gufunc.Until(-1)))(t)
	add := gufunc.MustFind("add")
	made := func(_ any, err error) error { return err }
	fill := func() error { return made(gufunc.Alloc[float32](d, count)) }
	return map[string]func() error{
		"Alloc":    fill,
		"Copy":     func() error { return made(a.Copy(gufunc.COrder, nil)) },
		"AsType":   func() error { return made(a.AsType(gufunc.Int32, gufunc.Unsafe, 0, nil)) },
		"ToDevice": func() error { return made(host.ToDevice(d, nil)) },
		"Call":     func() error { return made(add.Call(nil, a, a)) },
		"Outer":    func() error { return made(add.Outer(nil, side, side)) },
		"Accumulate": func() error {
			return made(add.Accumulate(nil, a))
		},
		"CallInto, in place": func() error {
			return errors.Join(fill(), add.CallInto(behind, before, gufunc.Int(0)))
		},
		"Assign, in place": func() error {
			return errors.Join(fill(), behind.Assign(before, gufunc.SameKind, nil))
		},
		"Call on the host's": func() error {
			options := gufunc.CallOptions{Device: d, Out: []gufunc.Operand{result}}
			return errors.Join(fill(), made(add.Call(&options, host, host)))
		},
	}
}

// The test does not close its arrays: only the garbage collector frees them, on its own goroutine,
// during the calls. The device has memory for a few of them at a time.
func TestCollectorReleasesDeviceMemory(t *testing.T) {
	for _, d := range devices(t) {
		if _, err := d.Memory(); errors.Is(err, gufunc.ErrUnsupported) {
			continue
		}
		check(t, d.LimitMemory(64<<20))
		for what, step := range waysToUseMemory(t, d) {
			for range 24 {
				if err := step(); err != nil {
					t.Fatalf("%v: %v", what, err)
				}
			}
		}
		check(t, d.LimitMemory(gufunc.NoLimit))
		if memory := must(d.Memory())(t); memory.Live > 64<<20 {
			t.Fatalf("%v holds %d bytes", d, memory.Live)
		}
	}
}

func TestReleaseFromAnyGoroutine(t *testing.T) {
	add := gufunc.MustFind("add")
	var group sync.WaitGroup
	arrays := make(chan *gufunc.Array[float64], 64)
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			for a := range arrays {
				a.Close()
			}
		}()
	}
	ones := must(gufunc.Of([]float64{1, 1, 1, 1}))(t)
	for i := range 5000 {
		sum := must(gufunc.Call[float64](add, nil, ones, ones))(t)
		if i%2 == 0 {
			arrays <- sum // leave the other arrays to the garbage collector
		}
		if i%500 == 0 {
			runtime.GC()
		}
	}
	close(arrays)
	group.Wait()
}

// Each goroutine makes calls that fail in their own way, so that the message of another goroutine's
// call is detected.
func TestMessagesBelongToTheirCalls(t *testing.T) {
	const goroutines, calls = 8, 12_500
	add := gufunc.MustFind("add")
	var wrong atomic.Int64
	var group sync.WaitGroup
	for g := range goroutines {
		mine := must(gufunc.Alloc[float64](gufunc.Device{}, 100+g))(t)
		other := must(gufunc.Alloc[float64](gufunc.Device{}, 200+g))(t)
		want := fmt.Sprintf("(%d,) (%d,)", 100+g, 200+g)
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range calls {
				_, err := add.Call(nil, mine, other)
				if !errors.Is(err, gufunc.ErrShape) || !strings.Contains(err.Error(), want) {
					wrong.Add(1)
				}
				if i%64 == g {
					runtime.Gosched()
				}
			}
		}()
	}
	group.Wait()
	if wrong.Load() != 0 {
		t.Fatalf("%d of %d messages are wrong", wrong.Load(), goroutines*calls)
	}
}

// A slice is kept alive while an array uses it, and can be collected after the last array is
// closed.
func TestWrappedSlicesAreKeptAndLetGo(t *testing.T) {
	var collected atomic.Bool
	view := func() *gufunc.Array[float64] {
		data := make([]float64, 1000)
		data[999] = 7
		runtime.AddCleanup(&data[0], func(int) { collected.Store(true) }, 0)
		whole := must(gufunc.Of(data))(t)
		view := must(whole.Slice(gufunc.From(999)))(t)
		check(t, whole.Close())
		return view
	}()
	for range 3 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if collected.Load() {
		t.Fatal("the slice was collected under an array")
	}
	equal(t, must(view.Values())(t), []float64{7})
	check(t, view.Close())
	for range 100 {
		must(gufunc.Poll(0))(t)
		runtime.GC()
		time.Sleep(time.Millisecond)
		if collected.Load() {
			return
		}
	}
	t.Fatal("the slice is never collected")
}

func TestForeignMemoryIsReleasedOnce(t *testing.T) {
	var released atomic.Int64
	data := must(gufunc.Alloc[int32](gufunc.Device{}, 4))(t)
	info := must(data.Info())(t)
	a := must(gufunc.OfAddress(info.Address, gufunc.Memory{DType: gufunc.Int32, Shape: []int{4}},
		func() { released.Add(1) }))(t)
	check(t, a.Fill(gufunc.Int(3), nil))
	equal(t, must(data.Values())(t), []int32{3, 3, 3, 3})
	check(t, a.Close())
	check(t, a.Close())
	for range 100 {
		must(gufunc.Poll(0))(t)
		time.Sleep(time.Millisecond)
	}
	if released.Load() != 1 {
		t.Fatalf("released %d times", released.Load())
	}
	data.Close()
}

// The test does not close its registrations, so the garbage collector must unregister and unpin
// their memory.
func TestDroppedRegistrationsEnd(t *testing.T) {
	for _, d := range devices(t) {
		var collected atomic.Int64
		again := make([]float64, 4096)
		for range 3 {
			data := make([]float64, 4096)
			runtime.AddCleanup(&data[0], func(int) { collected.Add(1) }, 0)
			must(gufunc.RegisterHost(d, data))(t)
		}
		must(gufunc.RegisterHost(d, again))(t)
		var err error
		for range 500 {
			runtime.GC()
			time.Sleep(time.Millisecond)
			var r *gufunc.Registered
			if r, err = gufunc.RegisterHost(d, again); err == nil {
				err = r.Close()
			}
			if err == nil && collected.Load() == 3 {
				break
			}
		}
		if err != nil || collected.Load() != 3 {
			t.Fatalf("%d of 3 slices are collected; %v", collected.Load(), err)
		}
	}
}
