# SPDX-License-Identifier: Apache-2.0
"""Tests traces of complete programs: each trace is valid JSON, and its slices match the program's
work.

    trace_test.py TRACE_PROGRAM FOLDER_OF_THE_NULL_PLUGIN

GUFUNC_TEST_DEVICES lists the devices; the default is the cpu."""

import collections
import fcntl
import json
import os
import pathlib
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

PROGRAM, NULL_FOLDER = pathlib.Path(), pathlib.Path()
DEVICES = os.environ.get('GUFUNC_TEST_DEVICES', 'cpu').split(',')
GPUS = [device for device in DEVICES if device != 'cpu']
DEVICE_TRACKS = 1 << 24  # track numbers from here on are devices and their streams


class Trace:
    def __init__(self, path):
        self.events = json.loads(path.read_text(encoding='utf-8'))
        self.slices = [event for event in self.events if event['ph'] == 'X']
        self.host = [event for event in self.slices if event['pid'] < DEVICE_TRACKS]
        self.streams = [event for event in self.slices if event['pid'] >= DEVICE_TRACKS]

    def names(self, kind):
        return [event['args']['name'] for event in self.events if event['name'] == kind]

    def tracks(self, slices):
        tracks = collections.defaultdict(list)
        for event in slices:
            tracks[event['pid'], event['tid']].append(event)
        for events in tracks.values():
            events.sort(key=lambda event: (event['ts'], -event['dur']))
        return tracks


def end_of(event):
    return event['ts'] + event['dur']


def overlap(a, b):
    return a['ts'] < end_of(b) and b['ts'] < end_of(a)


class Traces(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.here = pathlib.Path(self.folder.name)
        self.path = self.here / 'trace.json'

    def tearDown(self):
        self.folder.cleanup()

    def run_program(self, *arguments, trace=None, program=None, limit=None, **variables):
        """Runs the program and returns its exit status and the library's log."""
        variables['GUFUNC_TRACE'] = str(self.path if trace is None else trace)
        done = subprocess.run(
            [program or PROGRAM, *map(str, arguments)],
            capture_output=True,
            text=True,
            env=os.environ | variables,
            preexec_fn=limit,
            timeout=250,
        )
        return done.returncode, done.stdout, done.stderr

    def traced(self, *arguments, **variables):
        self.assertEqual(self.run_program(*arguments, **variables), (0, '', ''))
        return self.checked()

    def checked(self):
        """Returns the trace. Calls of a thread must be nested, and work of a stream must not
        overlap."""
        trace = Trace(self.path)
        for events in trace.tracks(trace.streams).values():
            for before, after in zip(events, events[1:]):
                self.assertLessEqual(end_of(before), after['ts'] + 0.002, (before, after))
        for events in trace.tracks(trace.host).values():
            open_ends = []
            for event in events:
                while open_ends and open_ends[-1] <= event['ts']:
                    open_ends.pop()
                if open_ends:
                    self.assertLessEqual(end_of(event), open_ends[-1] + 0.002, event)
                open_ends.append(end_of(event))
        return trace

    def find(self, slices, **expected):
        """Returns the slice with the given members and arguments. There must be exactly one."""
        found = [
            event
            for event in slices
            if all((event | event['args']).get(name) == value for name, value in expected.items())
        ]
        self.assertEqual(len(found), 1, f'{expected}: {found}')
        return found[0]

    def test_work_of_every_kind(self):
        for device in DEVICES:
            with self.subTest(device):
                trace = self.traced(device, 'all')
                types = '(float64,float64->float64)'
                for slices in (trace.host, trace.streams):
                    for name, items, size in (
                        (f'add {types}', 1000, 24000),
                        (f'multiply {types}', 1000, 24000),
                        (f'vecdot {types}', 10, 16080),
                    ):
                        event = self.find(slices, cat='launch', name=name)
                        self.assertEqual(event['args']['items'], items)
                        self.assertEqual(event['args']['bytes'], size)
                        self.assertEqual(event['args']['device'], device)
                    event = self.find(slices, name=f'reduce: add {types}')
                    self.assertEqual(event['args']['items'], 1000)
                    self.assertEqual(event['args']['bytes'], 8080)
                waits = [event for event in trace.host if event['name'] == 'stream_synchronize']
                self.assertGreaterEqual(len(waits), 2)
                self.assertIn(device, trace.names('process_name'))
                self.assertIn('trace_program', trace.names('process_name'))
                self.arrows_lead_forward(trace)

    def arrows_lead_forward(self, trace):
        ends = collections.defaultdict(dict)
        for event in trace.events:
            if event['ph'] in 'sf':
                ends[event['id']][event['ph']] = event
        self.assertEqual(len(ends), len([e for e in trace.streams if e['args']['call'] != 0]))
        for pair in ends.values():
            self.assertLessEqual(pair['s']['ts'], pair['f']['ts'])
            self.assertLess(pair['s']['pid'], DEVICE_TRACKS)
            self.assertGreaterEqual(pair['f']['pid'], DEVICE_TRACKS)

    def test_devices_report_their_times_and_launches(self):
        for device in GPUS:
            with self.subTest(device):
                trace = self.traced(device, 'all')
                for direction in ('H2D', 'D2H'):
                    event = self.find(trace.streams, cat='copy', direction=direction)
                    self.assertEqual(event['args']['bytes'], 8000)
                launches = [event['args'] for event in trace.streams if 'kernel' in event['args']]
                self.assertGreaterEqual(len(launches), 4)
                for arguments in launches:
                    self.assertGreater(arguments['registers'], 0)
                    self.assertGreaterEqual(arguments['shared_bytes'], 0)
                    self.assertGreaterEqual(arguments['local_bytes'], 0)
                    self.assertGreater(arguments['block'][0], 1)
                    self.assertEqual(arguments['grid'][1:] + arguments['block'][1:], [1] * 4)
                    self.assertEqual(arguments['time'], 'device')
                self.find(trace.streams, kernel='guf_ew_add_dd_d_row', grid=[1, 1, 1])
                block = self.find(trace.streams, kernel='guf_gu_vecdot_dd_d_block')
                self.assertEqual(block['args']['grid'], [10, 1, 1])

    def test_raw_kernels(self):
        slow = {'GUFUNC_SIM_ORDER': 'eager', 'GUFUNC_SIM_DELAY_US': '4000'}
        for device in DEVICES:
            with self.subTest(device):
                trace = self.traced(device, 'kernels', **slow)
                shapes = {'places': ([2, 4, 6], [1, 2, 3], 288), 'sums': ([1] * 3, [64, 1, 1], 64)}
                shared = {'places': 96, 'sums': 512}
                for name, (grid, block, items) in shapes.items():
                    call = self.find(trace.host, cat='launch', name=name)
                    work = self.find(trace.streams, cat='launch', name=name)
                    for event in (call, work):
                        expected = {'device': device, 'items': items, 'grid': grid, 'block': block}
                        self.assertLessEqual(expected.items(), event['args'].items())
                        self.assertGreater(event['dur'], 0)
                        self.assertEqual(event['args']['call'], call['args']['call'])
                    self.assertEqual(call['args']['shared_bytes'], shared[name])
                    self.assertGreaterEqual(work['args']['shared_bytes'], shared[name])
                    self.assertGreaterEqual(work['ts'], call['ts'])
                    if device != 'cpu':
                        self.assertEqual(work['args']['kernel'], name)
                        self.assertGreater(work['args']['registers'], 0)
                        self.assertEqual(work['args']['time'], 'device')
                if device != 'cpu':
                    lasted = sum(event['dur'] for event in trace.streams)
                    self.assertGreater(lasted, 500, 'the driver delays each launch')

    def test_queued_work_has_the_time_it_ran(self):
        for device in GPUS:
            trace = self.traced(device, 'all', GUFUNC_SIM_ORDER='eager', GUFUNC_SIM_DELAY_US='3000')
            for event in trace.streams:
                call = self.find(trace.host, call=event['args']['call'])
                self.assertGreaterEqual(event['ts'], call['ts'])
            waited = sum(e['dur'] for e in trace.host if e['name'] == 'stream_synchronize')
            self.assertGreater(waited, 2000, 'the program waits for what is delayed')

    def test_graphs(self):
        for device in GPUS:
            with self.subTest(device):
                trace = self.traced(device, 'graph', 3)
                graphs = [event for event in trace.streams if event['cat'] == 'graph']
                self.assertEqual(len(graphs), 3)
                self.assertEqual(len([e for e in trace.host if e['cat'] == 'graph']), 3)
                # The captured calls ran only in graphs. The call before the capture ran directly.
                launches = [event for event in trace.streams if event['cat'] == 'launch']
                self.assertEqual(len(launches), 1)
                self.assertEqual(len([e for e in trace.host if e['cat'] == 'launch']), 3)

    def test_chunks_overlap(self):
        for device in GPUS:
            with self.subTest(device):
                trace = self.traced(
                    device, 'chunks', 8, GUFUNC_SIM_ORDER='eager', GUFUNC_SIM_DELAY_US='1500'
                )
                found = collections.defaultdict(lambda: collections.defaultdict(list))
                tracks = collections.defaultdict(set)
                for event in trace.streams:
                    kind = event['args'].get('direction', event['cat'])
                    found[kind][event['args'].get('chunk')].append(event)
                    tracks[kind].add(event['tid'])
                chunks = set(range(1, 9))
                sizes = (('H2D', 2, 65536), ('launch', 1, 196608), ('D2H', 1, 65536))
                for kind, count, size in sizes:
                    self.assertEqual(set(found[kind]), chunks, kind)
                    self.assertEqual(len(tracks[kind]), 1, kind)
                    for events in found[kind].values():
                        self.assertEqual([e['args']['bytes'] for e in events], [size] * count)
                self.assertEqual(len(set.union(*tracks.values())), 3)
                pairs = [
                    (copied, computed)
                    for copied in chunks
                    for computed in chunks - {copied}
                    for copy in found['H2D'][copied] + found['D2H'][copied]
                    for launch in found['launch'][computed]
                    if overlap(copy, launch)
                ]
                self.assertGreaterEqual(len(pairs), 3)
                for chunk in chunks:
                    launch = found['launch'][chunk][0]
                    self.assertTrue(all(end_of(e) <= launch['ts'] for e in found['H2D'][chunk]))
                    self.assertTrue(all(end_of(launch) <= e['ts'] for e in found['D2H'][chunk]))
                    queued = f'chunk {chunk}: queue [{8192 * (chunk - 1)}, {8192 * chunk})'
                    self.find(trace.host, name=queued, chunk=chunk)
                    self.find(trace.host, name=queued.replace('queue', 'finish'), chunk=chunk)

    def test_a_plugin_that_does_not_trace_its_streams(self):
        variables = {'GUFUNC_BACKEND_PATH_ADD': str(NULL_FOLDER), 'GUFUNC_NULL': 'host_memory=0'}
        trace = self.traced('null', 'copies', 5, **variables)
        for direction in ('H2D', 'D2H'):
            calls = [e for e in trace.host if e['args'].get('direction') == direction]
            self.assertEqual(len(calls), 5)
            for event in calls:
                self.assertEqual(event['args']['device'], 'null:0')
                self.assertEqual(event['args']['bytes'], 8000)
        self.assertEqual(trace.streams, [])

    def test_chunks_on_the_cpu(self):
        trace = self.traced('cpu', 'chunks', 4)
        for chunk in range(1, 5):
            items = f'[{8192 * (chunk - 1)}, {8192 * chunk})'
            whole = self.find(trace.host, name=f'chunk {chunk}: run {items}')
            launch = self.find(trace.host, cat='launch', chunk=chunk)
            self.assertTrue(whole['ts'] <= launch['ts'] and end_of(launch) <= end_of(whole))

    @unittest.skipUnless('cuda:0' in DEVICES, 'no simulated devices')
    def test_device_auto_reports_where_and_why(self):
        trace = self.traced('auto', 'chunks', 4)
        why = 'device auto is cuda:0: not used, as the host is faster'
        self.assertEqual(self.find(trace.host, name=why)['dur'], 0)
        self.assertEqual({e['args']['device'] for e in trace.host if e['cat'] == 'launch'}, {'cpu'})
        trace = self.traced('auto', 'copies', 1)
        self.assertTrue(trace.streams)

    def test_threads(self):
        for device in DEVICES:
            with self.subTest(device):
                trace = self.traced(device, 'threads', 64)
                launches = [event for event in trace.host if event['cat'] == 'launch']
                self.assertEqual(len(launches), 8 * 64)
                self.assertEqual(len({event['tid'] for event in launches}), 8)
                work = [event for event in trace.streams if event['cat'] == 'launch']
                self.assertEqual(len(work), 8 * 64)
                self.assertEqual(len({event['tid'] for event in work}), 8)
                self.assertEqual(len({event['args']['call'] for event in work}), 8 * 64)

    def test_what_does_not_fit_is_counted(self):
        calls = 60000
        trace = self.traced('cpu', 'calls', calls)
        launches = [event for event in trace.host if event['cat'] == 'launch']
        lost = [event['args']['lost'] for event in trace.events if event['ph'] == 'i']
        self.assertEqual(len(launches) + max(lost, default=0), calls)

    def test_work_without_memory_is_counted(self):
        slow = {'GUFUNC_SIM_ORDER': 'eager', 'GUFUNC_SIM_DELAY_US': '3000'}
        for device in GPUS:
            with self.subTest(device):
                trace = self.traced(device, 'flood', 900, **slow)
                report = [event for event in trace.streams if event['cat'] == 'launch']
                counts = [e['args'] for e in trace.events if e['name'] == 'unreported work']
                self.assertTrue(counts)
                self.assertEqual({count['device'] for count in counts}, {device})
                unreported = [count['unreported'] for count in counts]
                self.assertEqual(unreported, sorted(unreported))
                self.assertEqual(len(report) + unreported[-1], 900)
                self.assertGreaterEqual(len(report), 512)
                self.assertEqual([e for e in trace.events if e['name'] == 'records lost'], [])

    def test_contexts(self):
        trace = self.traced('cpu', 'contexts', 3)
        self.assertEqual(len([e for e in trace.host if e['cat'] == 'launch']), 3)

    def test_a_released_context_has_work_collected(self):
        for device in DEVICES:
            code, _, _ = self.run_program(device, 'released')
            self.assertEqual(code, -9)
            trace = self.checked()
            self.assertEqual([e['cat'] for e in trace.streams], ['launch'], device)

    def test_killed(self):
        code, _, _ = self.run_program('cpu', 'killed', 3)
        self.assertEqual(code, -9)
        self.assertEqual(len([e for e in self.checked().host if e['cat'] == 'launch']), 3)

    def test_a_forked_child_writes_nothing(self):
        trace = self.traced('cpu', 'fork')
        self.assertEqual(len([e for e in trace.host if e['cat'] == 'launch']), 2)
        self.assertEqual(len({event['pid'] for event in trace.slices}), 1)

    def test_names_are_escaped(self):
        program = self.here / 'we"ird\\\n\x01π'
        shutil.copy(PROGRAM, program)
        code, out, err = self.run_program('cpu', 'calls', 1, program=program)
        self.assertEqual((code, out, err), (0, '', ''))
        self.assertIn('we"ird\\\n\x01π', self.checked().names('process_name'))
        broken = os.fsencode(self.here) + b'/\xff\xc3'
        shutil.copy(PROGRAM, broken)
        code, out, err = self.run_program('cpu', 'calls', 1, program=broken)
        self.assertEqual((code, out, err), (0, '', ''))
        self.assertIn('\ufffd\ufffd', self.checked().names('process_name'))

    def test_path(self):
        self.assertEqual(self.run_program('cpu', 'calls', 1, trace=self.here / 'p%p.json')[0], 0)
        (made,) = self.here.iterdir()
        self.assertRegex(made.name, r'^p\d+\.json$')
        self.assertEqual(stat.S_IMODE(made.stat().st_mode), 0o600)
        self.path.write_text('x' * 100_000)
        self.traced('cpu', 'calls', 1)
        self.assertLess(self.path.stat().st_size, 2000)

    def test_no_trace(self):
        code, out, _ = self.run_program('cpu', 'calls', 1, trace='')
        self.assertEqual((code, out), (0, ''))
        self.assertEqual(list(self.here.iterdir()), [])

    def refused(self, trace, text):
        """Expects that the library reports once that it cannot write the trace, and that the
        program completes its work."""
        code, out, err = self.run_program('cpu', 'calls', 200, trace=trace)
        self.assertEqual((code, err), (0, ''))
        self.assertEqual(len(out.splitlines()), 1, out)
        self.assertTrue(out.startswith('GUFUNC_TRACE: '), out)
        self.assertIn(text, out)

    def test_unwritable(self):
        self.refused(self.here / 'no' / 'such.json', 'No such file or directory')
        self.refused(self.here, 'Is a directory')
        self.refused('/dev/full', 'No space left on device')
        target, link = self.here / 'target', self.here / 'link'
        target.write_text('mine')
        link.symlink_to(target)
        self.refused(link, 'Too many levels of symbolic links')
        self.assertEqual(target.read_text(), 'mine')
        os.mkfifo(self.here / 'pipe')
        self.refused(self.here / 'pipe', 'No such device or address')
        self.refused('x' * 5000, 'too long')

    def test_one_process_at_a_time(self):
        with self.path.open('w') as taken:
            taken.write('mine')
            taken.flush()
            fcntl.flock(taken, fcntl.LOCK_EX)
            self.refused(self.path, "is in use as the trace of another process; %p in the name")
            self.assertEqual(self.path.read_text(), 'mine')
        self.traced('cpu', 'calls', 1)

    def test_full_disk(self):
        """Checks that the part of a trace that was written before the disk was full is valid. A
        limit of the file size, which also causes a signal, simulates the full disk."""

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

        code, out, err = self.run_program('cpu', 'calls', 5000, limit=limit)
        self.assertEqual((code, err), (0, ''))
        self.assertIn('File too large; the trace ends here', out)
        self.assertEqual(len(out.splitlines()), 1, out)
        self.assertGreater(len(self.checked().slices), 50)
        self.assertLessEqual(self.path.stat().st_size, 100_000)


if __name__ == '__main__':
    PROGRAM, NULL_FOLDER = (pathlib.Path(sys.argv.pop(1)).absolute() for _ in range(2))
    unittest.main()
