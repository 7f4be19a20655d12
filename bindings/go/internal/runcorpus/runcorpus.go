// SPDX-License-Identifier: Apache-2.0

// Runcorpus runs the corpus that all bindings share (tests/conformance/corpus):
//
//	runcorpus CORPUS_FOLDER DEVICE MODULE.so...
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.org/gufunc"
)

// run makes the call of the case and returns its outputs.
func (g *given) run() (results []*gufunc.AnyArray, err error) {
	u, err := gufunc.Find(g.Ufunc)
	if err != nil {
		return nil, err
	}
	defer u.Close()
	o := &g.options
	switch g.Method {
	case "call":
		return u.Call(o, g.inputs...)
	case "outer":
		return u.Outer(o, g.inputs...)
	case "reduce":
		return one(u.Reduce(&gufunc.ReduceOptions{Out: g.output(), Axes: g.axis, AllAxes: g.allAxes,
			Initial: g.initial, Where: g.where, DType: o.DType, Order: o.Order,
			KeepDims: o.KeepDims, Device: o.Device, FPStatus: g.fpStatus, Report: o.Report,
			Fail: o.Fail}, g.inputs[0]))
	case "accumulate", "reduceat":
		options := &gufunc.AccumulateOptions{Out: g.output(), DType: o.DType, Order: o.Order,
			Device: o.Device, FPStatus: g.fpStatus, Report: o.Report, Fail: o.Fail}
		if g.axis != nil {
			options.Axis = g.axis[0]
		}
		if g.Method == "accumulate" {
			return one(u.Accumulate(options, g.inputs[0]))
		}
		return one(u.Reduceat(options, g.inputs[0], g.indices[0]))
	case "at":
		array, ok := g.inputs[0].(gufunc.AnyOperand)
		if !ok {
			return nil, fmt.Errorf("at of no array")
		}
		var second gufunc.Operand
		if len(g.inputs) > 1 {
			second = g.inputs[1]
		}
		return nil, u.At(&gufunc.AtOptions{Device: o.Device, FPStatus: g.fpStatus, Report: o.Report,
			Fail: o.Fail}, array, g.indices, second)
	}
	return nil, fmt.Errorf("method %q", g.Method)
}

func one(made *gufunc.AnyArray, err error) ([]*gufunc.AnyArray, error) {
	return []*gufunc.AnyArray{made}, err
}

func (g *given) output() gufunc.AnyOperand {
	if len(g.outputs) == 0 || g.outputs[0] == nil {
		return nil
	}
	return g.outputs[0].(gufunc.AnyOperand)
}

// runCase runs a case and returns an error if its outcome is wrong.
func runCase(text json.RawMessage, blob []byte, d gufunc.Device) (id string, err error) {
	g := &given{blob: blob}
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.DisallowUnknownFields()
	err = reader.Decode(&g.testCase)
	id = g.ID
	defer g.close()
	steps := []func() error{g.fillBuffers, g.makeOperands, g.makeAxis,
		func() error { return g.makeOptions(d) }}
	for _, step := range steps {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		return id, err
	}
	results, failed := g.run()
	if failed == nil {
		failed = d.Synchronize(context.Background())
	}
	err = g.judge(results, failed)
	for i, made := range results {
		if made != nil && (i >= len(g.outputs) || g.outputs[i] == nil) {
			made.Close()
		}
	}
	return id, err
}

func runGroup(path string, d gufunc.Device) (count, failed int) {
	text, err := os.ReadFile(path)
	var read group
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	var blob []byte
	if err == nil {
		blob, err = os.ReadFile(strings.TrimSuffix(path, ".json") + ".bin")
	}
	if err != nil || read.Format != 1 {
		fmt.Printf("%s: cannot be read: %v\n", path, err)
		return 1, 1
	}
	judged := fnv.New64a()
	for _, text := range read.Cases {
		id, err := runCase(text, blob, d)
		count++
		fmt.Fprintln(judged, id)
		if err != nil {
			failed++
			fmt.Printf("%s: %v\n", id, err)
		}
	}
	name := strings.TrimSuffix(filepath.Base(path), ".json")
	fmt.Printf("%s: %d judged, fnv1a %016x\n", name, count, judged.Sum64())
	return count, failed
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "runcorpus CORPUS_FOLDER DEVICE MODULE.so...")
		os.Exit(2)
	}
	d, err := gufunc.FindDevice(os.Args[2])
	for _, path := range os.Args[3:] {
		if err == nil {
			_, err = gufunc.LoadModule(path)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	paths, _ := filepath.Glob(filepath.Join(os.Args[1], "*.json"))
	slices.Sort(paths)
	count, failed := 0, 0
	for _, path := range paths {
		cases, wrong := runGroup(path, d)
		count, failed = count+cases, failed+wrong
	}
	fmt.Printf("%d cases, %d passed, %d failed\n", count, count-failed, failed)
	if failed > 0 || count == 0 {
		os.Exit(1)
	}
}
