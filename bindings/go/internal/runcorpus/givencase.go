// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"unsafe"

	"example.org/gufunc"
)

// The types below follow the files of the corpus, which tests/conformance/corpus/README.md
// describes.

type group struct {
	Format int               `json:"format"`
	Group  string            `json:"group"`
	NumPy  string            `json:"numpy"`
	NBytes int               `json:"nbytes"`
	Cases  []json.RawMessage `json:"cases"`
}

type testCase struct {
	ID        string          `json:"id"`
	Ufunc     string          `json:"ufunc"`
	Method    string          `json:"method"`
	Buffers   []buffer        `json:"buffers"`
	Inputs    []operand       `json:"inputs"`
	Outputs   []*operand      `json:"outputs"`
	Where     *operand        `json:"where"`
	Indices   []operand       `json:"indices"`
	Initial   json.RawMessage `json:"initial"`
	Axis      json.RawMessage `json:"axis"`
	Axes      [][]number      `json:"axes"`
	KeepDims  bool            `json:"keepdims"`
	Dims      []dim           `json:"dims"`
	Casting   string          `json:"casting"`
	Order     string          `json:"order"`
	DType     string          `json:"dtype"`
	Signature []*string       `json:"signature"`
	FPReport  bool            `json:"fp_report"`
	FPFail    uint32          `json:"fp_fail"`
	Expect    expectation     `json:"expect"`
}

type buffer struct {
	At     int `json:"at"`
	NBytes int `json:"nbytes"`
	Shift  int `json:"shift"`
}

type operand struct {
	Kind     string          `json:"kind"`
	Buffer   int             `json:"buffer"`
	Offset   int             `json:"offset"`
	DType    string          `json:"dtype"`
	Shape    []int           `json:"shape"`
	Strides  []int           `json:"strides"`
	Swapped  bool            `json:"swapped"`
	ReadOnly bool            `json:"read_only"`
	Bytes    string          `json:"bytes"`
	Value    string          `json:"value"`
	Bits     json.RawMessage `json:"bits"`
}

type expectation struct {
	Status   string   `json:"status"`
	Message  string   `json:"message"`
	Argument int      `json:"argument"`
	Axis     int      `json:"axis"`
	Written  bool     `json:"written"`
	Results  []result `json:"results"`
	FPFlags  *uint32  `json:"fp_flags"`
	Inouts   []int    `json:"inouts"`
}

type result struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	At      int    `json:"at"`
	NBytes  int    `json:"nbytes"`
	ULP     int64  `json:"ulp"`
	Strides []int  `json:"strides"`
	Defined *int   `json:"defined"`
}

// number is an integer. Large integers are strings in the file.
type number int

func (n *number) UnmarshalJSON(text []byte) error {
	word := string(text)
	if unquoted, err := strconv.Unquote(word); err == nil {
		word = unquoted
	}
	value, err := strconv.ParseInt(word, 10, 64)
	*n = number(value)
	return err
}

func ints(numbers []number) []int {
	made := make([]int, len(numbers))
	for i, value := range numbers {
		made[i] = int(value)
	}
	return made
}

// dim is a name and a size. The file stores it as a pair.
type dim struct {
	name string
	size number
}

func (d *dim) UnmarshalJSON(text []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("%d parts of a dimension", len(pair))
	}
	if err := json.Unmarshal(pair[0], &d.name); err != nil {
		return err
	}
	return d.size.UnmarshalJSON(pair[1])
}

// given is a case with its operands.
type given struct {
	testCase
	blob     []byte
	memory   [][]byte
	inputs   []gufunc.Operand
	outputs  []gufunc.Operand // nil: not given
	indices  []gufunc.Operand
	where    gufunc.Operand
	initial  gufunc.Operand
	axis     []int // nil: not given
	allAxes  bool
	options  gufunc.CallOptions
	fpStatus *gufunc.FPStatus
	closing  []*gufunc.AnyArray
	problems error
}

func (g *given) close() {
	for _, array := range g.closing {
		array.Close()
	}
}

// bytesAt returns a part of the group's bytes, or nil if it is out of range.
func (g *given) bytesAt(at, count int) []byte {
	if at < 0 || count < 0 || at+count > len(g.blob) {
		return nil
	}
	return g.blob[at : at+count : at+count]
}

func (g *given) fillBuffers() error {
	for i, b := range g.Buffers {
		from := g.bytesAt(b.At, b.NBytes)
		if from == nil || b.Shift < 0 || b.Shift > 1 {
			return fmt.Errorf("buffer %d", i)
		}
		buffer := make([]byte, b.NBytes+32)
		start := b.Shift + int(-uintptr(unsafe.Pointer(&buffer[0]))&15)
		g.memory = append(g.memory, buffer[start:start+b.NBytes:start+b.NBytes])
		copy(g.memory[i], from)
	}
	return nil
}

func (g *given) make(o *operand) (gufunc.Operand, error) {
	switch o.Kind {
	case "array":
		dtype, err := gufunc.ParseDType(o.DType)
		if err != nil || o.Buffer >= len(g.memory) {
			return nil, fmt.Errorf("buffer %d, %w", o.Buffer, err)
		}
		array, err := gufunc.OfBytes(g.memory[o.Buffer], o.Offset, gufunc.Memory{DType: dtype,
			Shape: o.Shape, Strides: o.Strides, ReadOnly: o.ReadOnly, Swapped: o.Swapped})
		if err != nil {
			return nil, err
		}
		g.closing = append(g.closing, array)
		return array, nil
	case "scalar":
		dtype, err := gufunc.ParseDType(o.DType)
		if err != nil {
			return nil, err
		}
		bytes, err := hex.DecodeString(o.Bytes)
		if err != nil {
			return nil, err
		}
		return gufunc.ScalarOf(dtype, bytes)
	case "weak_int":
		value, ok := new(big.Int).SetString(o.Value, 10)
		if !ok {
			return nil, fmt.Errorf("weak_int %q", o.Value)
		}
		return gufunc.BigInt(value), nil
	case "weak_float":
		var word string
		err := json.Unmarshal(o.Bits, &word)
		value, failed := float(word, err)
		return gufunc.Float(value), failed
	case "weak_complex":
		var words [2]string
		err := json.Unmarshal(o.Bits, &words)
		re, err := float(words[0], err)
		im, err := float(words[1], err)
		return gufunc.Complex(complex(re, im)), err
	}
	return nil, fmt.Errorf("an operand of kind %q", o.Kind)
}

func float(word string, err error) (float64, error) {
	if err != nil {
		return 0, err
	}
	bits, err := strconv.ParseUint(word, 16, 64)
	return math.Float64frombits(bits), err
}

func (g *given) makeAll(list []operand) (made []gufunc.Operand, err error) {
	for i := range list {
		one, err := g.make(&list[i])
		if err != nil {
			return nil, err
		}
		made = append(made, one)
	}
	return made, nil
}

func (g *given) makeOperands() (err error) {
	if g.inputs, err = g.makeAll(g.Inputs); err != nil {
		return err
	}
	if g.indices, err = g.makeAll(g.Indices); err != nil {
		return err
	}
	for _, o := range g.Outputs {
		var made gufunc.Operand
		if o != nil {
			if made, err = g.make(o); err != nil {
				return err
			}
		}
		g.outputs = append(g.outputs, made)
	}
	if g.Where != nil {
		if g.where, err = g.make(g.Where); err != nil {
			return err
		}
	}
	if string(g.Initial) == `"none"` {
		g.initial = gufunc.None()
	} else if g.Initial != nil {
		var o operand
		if err := json.Unmarshal(g.Initial, &o); err != nil {
			return err
		}
		g.initial, err = g.make(&o)
	}
	return err
}

func (g *given) makeAxis() error {
	if g.Axis == nil {
		return nil
	}
	if string(g.Axis) == `"all"` {
		g.allAxes = true
		return nil
	}
	var one number
	if json.Unmarshal(g.Axis, &one) == nil {
		g.axis = []int{int(one)}
		return nil
	}
	var list []number
	err := json.Unmarshal(g.Axis, &list)
	g.axis = ints(list)
	return err
}

// place returns the index of a word in a list, whose first entry "" means "not given".
func place[T ~int32](word string, words []string) (T, error) {
	found := slices.Index(words, word)
	if found < 0 {
		return 0, fmt.Errorf("%q is none of %q", word, words)
	}
	return T(found), nil
}

func parsed(spelling string) (gufunc.DType, error) {
	if spelling == "" {
		return 0, nil
	}
	return gufunc.ParseDType(spelling)
}

func (g *given) makeOptions(d gufunc.Device) (err error) {
	o := &g.options
	o.Device, o.Out, o.Where, o.KeepDims = d, g.outputs, g.where, g.KeepDims
	castings := []string{"", "no", "equiv", "safe", "same_kind", "unsafe"}
	if o.Casting, err = place[gufunc.Casting](g.Casting, castings); err != nil {
		return err
	}
	orders := []string{"K", "C", "F", "A"}
	if g.Order != "" {
		if o.Order, err = place[gufunc.Order](g.Order, orders); err != nil {
			return err
		}
	}
	if o.DType, err = parsed(g.DType); err != nil {
		return err
	}
	for _, spelling := range g.Signature {
		dtype := gufunc.DType(0)
		if spelling != nil {
			if dtype, err = parsed(*spelling); err != nil {
				return err
			}
		}
		o.Signature = append(o.Signature, dtype)
	}
	if g.Axes != nil {
		o.Axes = [][]int{}
		for _, list := range g.Axes {
			o.Axes = append(o.Axes, ints(list))
		}
	}
	if g.axis != nil && g.Method == "call" {
		o.Axis = gufunc.Axis(g.axis[0])
	}
	for _, d := range g.Dims {
		o.Dims = append(o.Dims, gufunc.Dim{Name: d.name, Size: int(d.size)})
	}
	o.Fail = gufunc.FPFlags(g.FPFail)
	if g.FPReport {
		g.fpStatus = gufunc.NewFPStatus()
		o.FPStatus, o.Report = g.fpStatus, gufunc.AllFPFlags
	}
	return nil
}
