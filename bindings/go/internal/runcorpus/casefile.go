// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"strconv"
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
