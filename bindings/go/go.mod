// SPDX-License-Identifier: Apache-2.0
module gufunc

go 1.24.0
