// One line per fault and minute for what the machine denies; everything else passes as it is.
import t from 'tap';
import { MINUTE_MS } from '../../src/base/clock.ts';
import { Fault } from '../../src/base/errors.ts';
import { gateFaults, resourceFaultOf } from '../../src/observe/fault-gate.ts';
import { createLogger } from '../../src/observe/log.ts';

const full = () => new Fault('the database could not be used', { detail: 'database or disk is full' });

function gated() {
  const lines: Record<string, unknown>[] = [];
  const time = { now: 1_000_000 };
  const clock = { now: () => time.now };
  const sink = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { lines, time, log: gateFaults(createLogger({ level: 'info', to: sink, clock }), clock) };
}

t.test('a fault is told once a minute, with what to do and what was held back', async (t) => {
  const { lines, time, log } = gated();
  for (let count = 0; count < 300; count++) log.error({ error: full() }, `the queue could not be claimed: ${count}`);
  log.with({ area: 'x' }).warn({ error: full() }, 'results wait');
  t.match(lines, [{ msg: /claimed: 0\. The disk of data\.dir is full: free space/, fault: 'disk_full', held_back: 0 }]);
  t.equal(lines.length, 1);
  log.error({ error: Object.assign(new Error('open'), { code: 'EMFILE' }) }, 'a thread died');
  t.match(lines[1], { fault: 'descriptors', msg: /LimitNOFILE/ });
  time.now += MINUTE_MS;
  log.error({ error: full() }, 'again');
  t.match(lines[2], { fault: 'disk_full', held_back: 300 });
  t.equal(lines.length, 3);
});

t.test('events and other errors pass', async (t) => {
  const { lines, log } = gated();
  for (let count = 0; count < 3; count++) {
    log.warn({ fact: 'intake_closed' }, 'does not accept new mail: database or disk is full');
    log.error({ error: new Error('a bug') }, 'HTTP handler failed');
    log.info({}, 'the disk is full');
  }
  t.equal(lines.length, 9);
});

t.test('what is wanted is found in codes, causes and words', async (t) => {
  const coded = (code: string) => Object.assign(new Error('x'), { code });
  t.equal(resourceFaultOf(coded('ENOSPC'), ''), 'disk_full');
  t.equal(resourceFaultOf(new Fault('y', { cause: coded('SQLITE_IOERR_FSYNC') }), ''), 'disk_failing');
  t.equal(resourceFaultOf(undefined, 'attempt to write a readonly database'), 'disk_read_only');
  t.equal(resourceFaultOf(coded('SQLITE_CANTOPEN'), ''), 'descriptors');
  t.equal(resourceFaultOf(coded('ECONNREFUSED'), 'no route'), null);
  const ofServer = Object.assign(new Error('could not extend file: No space left on device'), { code: '53100' });
  t.equal(resourceFaultOf(ofServer, ''), 'database_disk_full', 'not that of data.dir');
});
