// SPDX-License-Identifier: Apache-2.0

package gufunc_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"example.org/gufunc"
)

// bytesOf returns an array over memory that is larger than the array, so that a launch that skips
// the checks does not corrupt other memory.
func bytesOf(t *testing.T, m gufunc.Memory) *gufunc.AnyArray {
	t.Helper()
	return must(gufunc.OfBytes(make([]byte, 4096), 1024, m))(t)
}

// Operands whose layout differs from the plan's are rejected, and nothing is written.
func TestPlansRefuseOtherLayouts(t *testing.T) {
	float64s := func(shape ...int) gufunc.Memory {
		return gufunc.Memory{DType: gufunc.Float64, Shape: shape}
	}
	changed := func(change func(*gufunc.Memory)) *gufunc.AnyArray {
		m := float64s(10, 1)
		change(&m)
		return bytesOf(t, m)
	}
	plain := func() *gufunc.AnyArray { return bytesOf(t, float64s(10, 1)) }
	ones, out := plain(), plain()
	check(t, ones.Fill(gufunc.Int(1), nil))
	p := must(gufunc.MustFind("add").NewPlan(&gufunc.CallOptions{Out: []gufunc.Operand{out}},
		ones, gufunc.Float(1)))(t)
	again := must(p.Clone())(t)
	expectMismatch := func(place int, text string, operands ...gufunc.AnyOperand) {
		t.Helper()
		for _, p := range []*gufunc.Plan{p, again} {
			failed := wantStatus(t, p.Launch(nil, operands...), gufunc.ErrPlanMismatch)
			if failed.Argument != place || !strings.Contains(failed.Message, text) {
				t.Errorf("%v, argument %d", failed, failed.Argument)
			}
		}
	}
	for _, refused := range []struct {
		text  string
		array *gufunc.AnyArray
	}{
		{"is of float32", changed(func(m *gufunc.Memory) { m.DType = gufunc.Float32 })},
		{"shape [8 1]", changed(func(m *gufunc.Memory) { m.Shape = []int{8, 1} })},
		{"shape [10]", changed(func(m *gufunc.Memory) { m.Shape = []int{10} })},
		{"strides [16 8]", changed(func(m *gufunc.Memory) { m.Strides = []int{16, 8} })},
		{"byte order", changed(func(m *gufunc.Memory) { m.Swapped = true })},
	} {
		expectMismatch(0, refused.text, refused.array, nil, out)
		expectMismatch(2, refused.text, ones, nil, refused.array)
	}
	expectMismatch(0, "is not an array", nil, nil, out)
	expectMismatch(1, "is an array", ones, ones, out)
	expectMismatch(2, "is not an array", ones, nil, nil)
	readOnly := changed(func(m *gufunc.Memory) { m.ReadOnly = true })
	failed := wantStatus(t, p.Launch(nil, ones, nil, readOnly), gufunc.ErrReadOnly)
	if failed.Argument != 2 {
		t.Fatal(failed.Argument)
	}
	closed := plain()
	check(t, closed.Close())
	wantStatus(t, p.Launch(nil, closed, nil, out), gufunc.ErrHandle)
	wantStatus(t, (*gufunc.Plan)(nil).Launch(nil, ones, nil, out), gufunc.ErrHandle)

	// The stride of an axis with one element does not matter, and an input may be read-only.
	alike := changed(func(m *gufunc.Memory) { m.Strides = []int{8, 800} })
	check(t, p.Launch(nil, readOnly, nil, alike))
	got := must(must(gufunc.As[float64](alike))(t).Values())(t)
	equal(t, got, slices.Repeat([]float64{1}, 10))
}

// A launch rejects a read-only array for an operand that the ufunc reads and writes.
func TestPlansLookAtWhatIsWritten(t *testing.T) {
	own := must(gufunc.NewContext())(t)
	u := must(own.Create(gufunc.UfuncDesc{Name: "scaled", Signature: "(n)",
		Roles: []gufunc.Role{gufunc.InOut}}))(t)
	check(t, u.AddLoop([]gufunc.DType{gufunc.Float64}, gufunc.AnyThread,
		func(l *gufunc.LoopArgs) error {
			for i := range l.Items() {
				for k := range l.Dim(1) {
					*gufunc.Item[float64](l, 0, i, k*l.Step(1)) *= 2
				}
			}
			return nil
		}))
	data, kept := []float64{1, 2}, []float64{7, 7}
	p := must(u.NewPlan(nil, must(gufunc.Of(data))(t)))(t)
	check(t, p.Launch(nil, must(gufunc.Of(data))(t)))
	equal(t, data, []float64{2, 4})
	wantStatus(t, p.Launch(nil, must(gufunc.ReadOnly(kept))(t)), gufunc.ErrReadOnly)
	equal(t, kept, []float64{7, 7})

	// The mask is the last operand. It may be read-only.
	mask := must(gufunc.ReadOnly([]bool{true, false}))(t)
	out := must(gufunc.Of(kept))(t)
	options := gufunc.CallOptions{Where: mask, Out: []gufunc.Operand{out}}
	masked := must(gufunc.MustFind("negative").NewPlan(&options, must(gufunc.Of(data))(t)))(t)
	check(t, masked.Launch(nil, must(gufunc.Of(data))(t), out, mask))
	equal(t, kept, []float64{-2, 7})
	longer := must(gufunc.Of([]bool{true, true, true}))(t)
	wantStatus(t, masked.Launch(nil, must(gufunc.Of(data))(t), out, longer),
		gufunc.ErrPlanMismatch)
}

// A plan of one device cannot be launched on memory of another device.
func TestPlansCheckTheDevice(t *testing.T) {
	plain := must(gufunc.Alloc[float64](gufunc.Device{}, 16))(t)
	negative := gufunc.MustFind("negative")
	for _, d := range devices(t) {
		a, out := must(gufunc.Full(d, 1.0, 16))(t), must(gufunc.Full(d, 0.0, 16))(t)
		p := must(negative.NewPlan(&gufunc.CallOptions{Out: []gufunc.Operand{out}}, a))(t)
		check(t, p.Launch(nil, a, out))
		check(t, d.Synchronize(context.Background()))
		equal(t, must(out.Values())(t)[15:], []float64{-1})
		if must(d.Info())(t).HostMemory {
			continue
		}
		wantStatus(t, p.Launch(nil, plain, out), gufunc.ErrPlanMismatch)
		wantStatus(t, p.Launch(nil, a, plain), gufunc.ErrPlanMismatch)

		// Host memory that the device uses in place: only the plan's array is accepted.
		here, err1 := gufunc.AllocHost[float64](d, gufunc.Mapped, 16)
		there, err2 := gufunc.AllocHost[float64](d, gufunc.Mapped, 16)
		if err := errors.Join(err1, err2); errors.Is(err, gufunc.ErrUnsupported) {
			continue
		}
		check(t, here.Fill(gufunc.Int(3), nil))
		options := gufunc.CallOptions{Device: d, Out: []gufunc.Operand{there}}
		p = must(negative.NewPlan(&options, here))(t)
		check(t, p.Launch(nil, here, there))
		check(t, d.Synchronize(context.Background()))
		equal(t, must(there.Values())(t)[15:], []float64{-3})
		wantStatus(t, p.Launch(nil, plain, there), gufunc.ErrPlanMismatch)
		wantStatus(t, p.Launch(nil, here, plain), gufunc.ErrPlanMismatch)
	}
}

// A launch rejects a workspace that is too small or on another device.
func TestPlansLookAtTheWorkspace(t *testing.T) {
	data := must(gufunc.Of(count(400)))(t)
	from, to := must(data.Slice(gufunc.Until(399)))(t), must(data.Slice(gufunc.From(1)))(t)
	p := must(gufunc.MustFind("negative").NewPlan(
		&gufunc.CallOptions{Out: []gufunc.Operand{to}}, from))(t)
	bytes, alignment, err := p.Workspace()
	check(t, err)
	if bytes < 399*8 {
		t.Fatal(bytes)
	}
	whole := make([]byte, 3*bytes+alignment)
	with := func(m gufunc.Memory) *gufunc.LaunchOptions {
		m.DType = gufunc.Uint8
		probe := must(gufunc.OfBytes(whole, 0, gufunc.Memory{DType: gufunc.Uint8, Shape: []int{1}}))
		misplaced := int(must(probe(t).Info())(t).Address) % alignment
		offset := (alignment - misplaced) % alignment
		return &gufunc.LaunchOptions{Workspace: must(gufunc.OfBytes(whole, offset, m))(t)}
	}
	for _, refused := range []*gufunc.LaunchOptions{with(gufunc.Memory{Shape: []int{bytes - 1}}),
		with(gufunc.Memory{Shape: []int{bytes}, ReadOnly: true}),
		with(gufunc.Memory{Shape: []int{bytes}, Strides: []int{2}})} {
		wantStatus(t, p.Launch(refused, from, to), gufunc.ErrArg)
	}
	for _, d := range devices(t) {
		if !must(d.Info())(t).HostMemory {
			there := must(gufunc.Alloc[uint8](d, bytes))(t)
			elsewhere := &gufunc.LaunchOptions{Workspace: there.Any()}
			wantStatus(t, p.Launch(elsewhere, from, to), gufunc.ErrArg)
		}
	}
	if slices.ContainsFunc(whole, func(b byte) bool { return b != 0 }) {
		t.Fatal("a refused workspace was written")
	}
	check(t, p.Launch(with(gufunc.Memory{Shape: []int{bytes}}), from, to))
	equal(t, must(data.Values())(t)[:4], []float64{0, 0, -1, -2})
}
