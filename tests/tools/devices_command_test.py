# SPDX-License-Identifier: Apache-2.0
"""Tests `gufunc devices`, and `run --device` on every device, with simulated drivers.

    devices_command_test.py GUFUNC"""

import json
import os
import re
import unittest
import unittest.mock

import command_fixture
import numpy as np

SIMULATED = 'GUFUNC_SIM_EMULATION' in os.environ
DEVICES = ['cpu', 'cuda:0', 'roc:0', 'auto'] if SIMULATED else ['cpu', 'auto']
ROW = ['backend', 'version', 'state', 'reason', 'driver', 'path', 'devices']
DEVICE = ['spec', 'state', 'reason', 'name', 'target', 'units', 'memory_bytes', 'memory_free_bytes']


def machine(**variables):
    return unittest.mock.patch.dict(os.environ, variables)


class Devices(command_fixture.CommandTest):
    def rows(self):
        rows = {row['backend']: row for row in json.loads(self.ok('devices', '--json'))}
        for row in rows.values():
            self.assertEqual(list(row), ROW)
            self.assertEqual(row['state'] == 'GUF_OK', row['reason'] == '', row)
        return rows

    def lines(self):
        """Returns each backend's line and the lines of its devices."""
        found = {}
        for line in self.ok('devices').splitlines():
            if line.startswith('  '):
                found[name].append(line.strip())
            else:
                name = line.split()[0]
                found[name] = [line]
        return found

    def unusable(self, backend, state, reason):
        row = self.rows()[backend]
        self.assertEqual((row['state'], row['devices']), (state, []))
        self.assertIn(reason, row['reason'])
        (line,) = self.lines()[backend]
        self.assertTrue(line.endswith(f'({state}: {row["reason"]})'), line)
        self.assertEqual(self.rows()['cpu']['state'], 'GUF_OK')
        return row

    def test_cpu(self):
        row = self.rows()['cpu']
        (device,) = row['devices']
        self.assertEqual(list(device), DEVICE)
        self.assertEqual((device['spec'], device['state'], device['reason']), ('cpu', 'GUF_OK', ''))
        self.assertRegex(device['target'], 'x86-64|armv8')
        self.assertGreater(device['memory_bytes'], 1 << 20)
        self.assertIsNone(device['memory_free_bytes'], 'the backend does not report it')
        line, output = self.lines()['cpu']
        self.assertRegex(line, r'^cpu [\d.]+, Linux [^ ]+ \(usable\)$')
        self.assertRegex(output, r'^cpu +.*, \d+ units, [\d.]+ GiB, usable$')

    @unittest.skipUnless(SIMULATED, 'no simulated devices')
    def test_memory_driver_and_names(self):
        with machine(GUFUNC_SIM_MEMORY=str(3 << 30)):
            rows, lines = self.rows(), self.lines()
        for backend, driver in (('cuda', r'CUDA \d+\.\d+'), ('roc', r'HIP \d+\.\d+')):
            self.assertRegex(rows[backend]['driver'], f'^{driver}$')
            (device,) = rows[backend]['devices']
            self.assertEqual(list(device), DEVICE)
            self.assertEqual(device['memory_bytes'], 3 << 30)
            self.assertEqual(device['memory_free_bytes'], 3 << 30)
            self.assertEqual(device['name'], 'Simulated ' + device['target'])
            line, output = lines[backend]
            self.assertRegex(line, rf'^{backend} [\d.]+, {driver} \(usable\)$')
            self.assertRegex(output, rf'^{backend}:0 +Simulated {re.escape(device["target"])}, ')
            self.assertTrue(output.endswith(', 3.0 GiB (3.0 GiB free), usable'), output)

    @unittest.skipUnless(SIMULATED, 'no simulated devices')
    def test_many_devices(self):
        for count in (1, 2, 8, 20):
            with machine(GUFUNC_SIM_DEVICES=str(count)):
                rows, lines = self.rows(), self.lines()
            for backend in ('cuda', 'roc'):
                devices = rows[backend]['devices']
                specs = [f'{backend}:{i}' for i in range(count)]
                self.assertEqual([device['spec'] for device in devices], specs)
                self.assertEqual(len(lines[backend]), 1 + count)
            all_devices = [d for row in rows.values() for d in row['devices']]
            usable = [device for device in all_devices if device['state'] == 'GUF_OK']
            # A process can open 16 devices besides the cpu. With 20 devices per vendor, all further
            # devices report this limit.
            self.assertEqual(len(usable), min(2 * count, 16) + 1)
            self.assertEqual(rows['cpu']['devices'][0]['state'], 'GUF_OK')
            for device in all_devices:
                if device not in usable:
                    self.assertEqual(list(device), ['spec', 'state', 'reason'])
                    self.assertIn('cannot be opened', device['reason'])

    @unittest.skipUnless(SIMULATED, 'no simulated devices')
    def test_no_device(self):
        with machine(GUFUNC_SIM_DEVICES='0'):
            for backend, cause in (
                ('cuda', 'no device: cuInit failed with CUDA_ERROR_NO_DEVICE (100)'),
                ('roc', 'no device: hipInit failed with hipErrorNoDevice (100)'),
            ):
                reason = f'backend {backend} found no device'
                row = self.unusable(backend, 'GUF_E_NO_DEVICE', reason)
                self.assertIn(cause, row['reason'])
                self.assertIn(cause, self.lines()[backend][0])

    @unittest.skipUnless(SIMULATED, 'no simulated devices')
    def test_driver_too_old(self):
        with machine(GUFUNC_SIM_MISSING='cuLaunchKernel,hipModuleLaunchKernel'):
            self.unusable('cuda', 'GUF_E_DRIVER_OLD', 'libcuda.so.1 has no cuLaunchKernel')
            self.unusable('roc', 'GUF_E_DRIVER_OLD', 'has no hipModuleLaunchKernel')

    @unittest.skipUnless(SIMULATED, 'no simulated devices')
    def test_a_device_that_does_not_open(self):
        with machine(GUFUNC_SIM_FAULT='hipGetDevicePropertiesR0600:0:801'):
            (device,) = self.rows()['roc']['devices']
            self.assertEqual(list(device), ['spec', 'state', 'reason'])
            self.assertEqual((device['spec'], device['state']), ('roc:0', 'GUF_E_UNSUPPORTED'))
            line = self.lines()['roc'][1]
        self.assertRegex(line, r'^roc:0 +GUF_E_UNSUPPORTED: ')
        self.assertTrue(line.endswith(device['reason']))

    @unittest.skipUnless(SIMULATED, 'no simulated devices')
    def test_a_device_that_no_kernel_runs_on(self):
        with machine(GUFUNC_SIM_ARCH='sm_70', GUFUNC_BACKENDS='cuda,cpu'):
            (device,) = self.rows()['cuda']['devices']
            self.assertEqual((device['spec'], device['state']), ('cuda:0', 'GUF_E_NO_IMAGE'))
            self.assertRegex(device['reason'],
                             'has the target sm_70, but the plugin has code for .*_75')
            self.assertIn(device['reason'], self.lines()['cuda'][1])
            output = self.ok('run', 'matmul', *self.square(), '-o', self.out, '--device', 'auto')
            self.assertNotIn('NO_IMAGE', output)
        with machine(GUFUNC_SIM_ARCH='gfx803', GUFUNC_BACKENDS='roc'):
            (device,) = self.rows()['roc']['devices']
            self.assertEqual(device['state'], 'GUF_E_NO_IMAGE')
            self.assertIn('has the target gfx803, but', device['reason'])

    def square(self):
        return [self.save('square.npy', np.ones((8, 8)))] * 2

    @unittest.skipUnless(SIMULATED, 'no simulated devices')
    def test_a_device_that_is_lost(self):
        with machine(GUFUNC_SIM_FAULT='cuMemGetInfo_v2:1:700,hipMemGetInfo:1:700'):
            for backend, name in ('cuda', 'CUDA_ERROR_ILLEGAL_ADDRESS'), ('roc', 'hipErrorIllegal'):
                device = self.rows()[backend]['devices'][0]
                self.assertEqual(device['state'], 'GUF_E_DEVICE_LOST')
                self.assertIn(name, device['reason'])
                self.assertIsNone(device['memory_free_bytes'])
                self.assertIn('GUF_E_DEVICE_LOST: ', self.lines()[backend][1])

    @unittest.skipUnless(SIMULATED, 'no simulated devices')
    def test_no_driver(self):
        with machine(LD_LIBRARY_PATH=''):
            self.unusable('cuda', 'GUF_E_NO_DRIVER', 'libcuda.so.1')
            self.unusable('roc', 'GUF_E_NO_DRIVER', 'libamdhip64.so.7')

    def test_switched_off(self):
        if not SIMULATED:
            self.skipTest('no other backend')
        with machine(GUFUNC_BACKENDS='cpu'):
            self.unusable('cuda', 'GUF_E_NO_BACKEND', 'disabled by GUFUNC_BACKENDS')

    @unittest.skipUnless(SIMULATED, 'no simulated devices')
    def test_nothing_else_calls_a_driver(self):
        report = self.here / 'report'
        with machine(GUFUNC_SIM_REPORT=str(report)):
            self.ok('list')
            self.ok('describe', 'add')
            self.ok('run', 'add', '2', '3')
            self.ok('run', 'add', '2', '3', '--device', 'cpu')
            self.assertFalse(report.exists(), 'a driver that is opened writes one')
            self.ok('devices')
            self.assertIn('MemGetInfo', report.read_text())


class RunOnDevices(command_fixture.CommandTest):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(5)
        self.a, self.b = rng.uniform(1, 2, (2, 50_000))
        self.inputs = [self.save('a.npy', self.a), self.save('b.npy', self.b)]

    def test_files(self):
        for device in DEVICES:
            self.ok('run', 'add', *self.inputs, '-o', self.out, '--device', device)
            np.testing.assert_array_equal(np.load(self.out), self.a + self.b)
            self.out.unlink()

    def test_json(self):
        for device in DEVICES:
            output = json.loads(self.ok('run', 'add', '1.5', '2', '--json', '--device', device))
            self.assertGreater(output.pop('seconds'), 0)
            values = [{'dtype': 'float64', 'shape': [], 'values': 3.5}]
            self.assertEqual(output, {'ufunc': 'add', 'outputs': values})
            options = ('-o', self.out, '--json', '--device', device)
            row = json.loads(self.ok('run', 'multiply', *self.inputs, *options))
            self.assertIn(str(self.out), json.dumps(row))
            np.testing.assert_array_equal(np.load(self.out), self.a * self.b)
            self.out.unlink()

    def test_chunks(self):
        for device in DEVICES:
            for chunk in ('4K', '65536', '1M'):
                options = ('--chunk', chunk, '--device', device)
                self.ok('run', 'add', *self.inputs, '-o', self.out, *options)
                np.testing.assert_array_equal(np.load(self.out), self.a + self.b)
                into = self.save('into.npy', np.zeros_like(self.a))
                self.ok('run', 'subtract', *self.inputs, '--into', into, *options)
                np.testing.assert_array_equal(np.load(into), self.a - self.b)
                self.out.unlink()

    def test_chunks_and_json(self):
        for device in DEVICES:
            options = ('-o', self.out, '--chunk', '32K', '--json', '--device', device)
            row = json.loads(self.ok('run', 'add', *self.inputs, *options))
            self.assertIn(str(self.out), json.dumps(row))
            self.out.unlink()

    def test_what_is_queued_is_waited_for(self):
        """A call with literals only is queued, because it has no operand in host memory."""
        huge = self.ok('run', 'add', 'f4:3e38', 'f4:3e38', '--device', 'cpu')
        self.assertEqual(huge, 'inf\n')
        text = 'Integers to negative integer powers are not allowed.'
        powers = [self.save(f'{name}.npy', np.asfortranarray(np.full((20, 30), value)))
                  for name, value in (('base', 2), ('exponent', -1))]
        for device in DEVICES:
            options = ('--device', device)
            fp_flags = ('--fp-flags=report', *options)
            code, out, err = self.run_tool('run', 'add', 'f4:3e38', 'f4:3e38', *fp_flags)
            self.assertEqual((code, out), (0, 'inf\n'))
            self.assertIn('overflow encountered in add', err, device)
            for inputs in (('i8:2', 'i8:-1'), powers):
                code, out, err = self.run_tool('run', 'power', *inputs, *options)
                self.assertEqual((code, err), (4, f'gufunc: {text} [GUF_E_VALUE]\n'), device)

    def test_methods(self):
        for device in DEVICES:
            self.ok('reduce', 'add', self.inputs[0], '-o', self.out, '--device', device)
            if device == 'cpu':
                expected = np.load(self.out)
                np.testing.assert_allclose(expected, self.a.sum())
            np.testing.assert_array_equal(np.load(self.out), expected)
            self.out.unlink()

    @unittest.skipUnless(SIMULATED, 'no simulated devices')
    def test_auto_reports_where_it_ran(self):
        # There are as many products as the device has compute units. The data of the sparse file is
        # never read.
        large = self.here / 'large.npy'
        np.lib.format.open_memmap(large, 'w+', np.float32, (132, 2048, 2048))
        for spec, *words in (
            ('cpu', 'explain', 'add', *self.inputs),
            ('cuda:0', 'explain', 'matmul', large, large),
            ('cpu', 'reduce', 'add', self.inputs[0], '--explain'),
        ):
            with machine(GUFUNC_SIM_UNITS='132', GUFUNC_SIM_MEMORY=str(16 << 30)):
                first, second = self.ok(*words, '--device', 'auto').splitlines()[:2]
            self.assertIn(f' on {spec}: loop', first)
            self.assertTrue(second.startswith('device auto is cuda:0: '), second)
        for words in (('run', 'add', *self.inputs), ('reduce', 'add', self.inputs[0])):
            for device, spec in (('auto', 'cpu'), ('cuda:0', 'cuda:0')):
                options = ('-o', self.out, '--time', '--device', device)
                code, _, err = self.run_tool(*words, *options)
                self.assertEqual(code, 0, err)
                self.assertIn(f' on {spec} (', err)
                self.out.unlink()
        with machine(GUFUNC_BACKENDS='cpu'):
            output = self.ok('explain', 'add', '1', '2', '--device', 'auto')
            self.assertIn('device auto is cpu: the host itself', output)

    @unittest.skipUnless(SIMULATED, 'no simulated devices')
    def test_refusals(self):
        with machine(GUFUNC_SIM_DEVICES='2'):
            self.fails(5, 'cuda:2', 'run', 'add', '1', '2', '--device', 'cuda:2')
            self.assertEqual(self.ok('run', 'add', '1', '2', '--device', 'roc:1'), '3\n')
        with machine(GUFUNC_SIM_DEVICES='0'):
            self.fails(5, 'found no device', 'run', 'add', '1', '2', '--device', 'cuda:0')
        with machine(GUFUNC_SIM_MEMORY=str(64 << 10)):
            options = ('-o', self.out, '--device', 'cuda:0')
            self.fails(6, 'GUF_E_DEVICE_MEMORY', 'run', 'add', *self.inputs, *options)


if __name__ == '__main__':
    command_fixture.main()
