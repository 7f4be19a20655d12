// SPDX-License-Identifier: Apache-2.0
module example.org/gufunc

go 1.24.0
