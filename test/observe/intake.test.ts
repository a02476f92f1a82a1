// Whether new mail is taken in: each cause, its end, and what is said of it.
import t from 'tap';
import { Fault } from '../../src/base/errors.ts';
import { decideIntake, Intake, type IntakeFacts } from '../../src/observe/intake.ts';
import type { Facts } from '../../src/observe/log.ts';

const MIB = 1024 * 1024;
const LIMITS = { minDiskFreeShare: 0.1, maxResidentBytes: 1000 * MIB };
const FINE: IntakeFacts = { diskFreeShare: 0.5, reusableShare: 0, residentBytes: 100 * MIB, databaseFault: null };
const NOTHING = new Map();

function decide(facts: Partial<IntakeFacts>, holding: ReturnType<typeof decideIntake> = NOTHING) {
  return decideIntake({ ...FINE, ...facts }, LIMITS, holding);
}

t.test('the disk: closed under the limit, open again a fifth above it', async (t) => {
  t.same(decide({ diskFreeShare: 0.1 }).size, 0);
  const closed = decide({ diskFreeShare: 0.0999 });
  t.equal(closed.get('disk'), 'only 9.9 % of the disk is free; at least 10 % must be');
  t.equal(
    decide({ diskFreeShare: 0.119 }, closed).get('disk'),
    'only 11.9 % of the disk is free; at least 12 % must be',
  );
  t.equal(decide({ diskFreeShare: 0.12 }, closed).size, 0);
  t.equal(decide({ diskFreeShare: null }, closed).size, 0, 'a disk that cannot be looked at holds nobody up');
});

t.test('the memory: closed above the limit, open again a tenth below it', async (t) => {
  t.equal(decide({ residentBytes: 1000 * MIB }).size, 0);
  const closed = decide({ residentBytes: 1001 * MIB });
  t.equal(closed.get('memory'), 'the process uses 1001 MiB of memory; the limit is 1000 MiB');
  t.ok(decide({ residentBytes: 901 * MIB }, closed).has('memory'));
  t.equal(decide({ residentBytes: 900 * MIB }, closed).size, 0);
});

t.test('one cause does not raise the bar of another', async (t) => {
  const closed = decide({ diskFreeShare: 0.05 });
  t.same([...decide({ diskFreeShare: 0.05, residentBytes: 950 * MIB }, closed).keys()], ['disk']);
  t.equal(decide({ diskFreeShare: 0.2, residentBytes: 950 * MIB }, closed).size, 0);
});

t.test('limits of 0 and infinity look at nothing', async (t) => {
  const off = { minDiskFreeShare: 0, maxResidentBytes: Number.POSITIVE_INFINITY };
  const facts = { diskFreeShare: 0, reusableShare: 0, residentBytes: 1e15, databaseFault: null };
  t.equal(decideIntake(facts, off, NOTHING).size, 0);
});

/** An intake whose machine is the test's. */
function openIntake() {
  const machine = {
    disk: 0.5,
    reusable: 0,
    erasable: 0,
    memory: 100 * MIB,
    disks: [] as (Error | null)[],
    now: 1000,
    proofs: 0,
  };
  const lines: { facts: Facts; message: string }[] = [];
  const log = (facts: Facts, message: string) => void lines.push({ facts, message });
  const intake = new Intake({
    clock: { now: () => machine.now },
    log: { info: log, warn: log, error: log },
    limits: LIMITS,
    diskFreeShare: async () => machine.disk,
    reusableShare: async () => machine.reusable,
    async makeRoom() {
      if (machine.erasable === 0) return null;
      machine.erasable--;
      machine.reusable += 0.01;
      return 'old things';
    },
    residentBytes: () => machine.memory,
    async proveWritable() {
      machine.proofs++;
      const fault = machine.disks.shift();
      if (fault) throw fault;
    },
  });
  return { intake, machine, lines };
}

t.test('open, closed, open: the state, the refusal, and one log line per change', async (t) => {
  const { intake, machine, lines } = openIntake();
  t.same(await intake.check(), { accepting: true, reason: null, since: 1000 });
  t.equal(intake.refusal(), null);

  machine.now = 2000;
  machine.disk = 0.05;
  for (let round = 0; round < 3; round++) await intake.check();
  const reason = 'only 5 % of the disk is free; at least 12 % must be';
  t.same(intake.state, { accepting: false, reason, since: 2000 });
  t.match(intake.refusal(), { refused: 'internal_error', retryAfterSecs: 10, message: reason });

  machine.now = 3000;
  machine.memory = 2000 * MIB;
  t.match(await intake.check(), { reason: `${reason}; the process uses 2000 MiB of memory`, since: 2000 });

  machine.now = 4000;
  machine.disk = 0.5;
  machine.memory = 100 * MIB;
  t.same(await intake.check(), { accepting: true, reason: null, since: 4000 });
  t.equal(intake.refusal(), null);
  t.same(
    lines.map(({ facts }) => facts.fact),
    ['intake_closed', 'intake_closed', 'intake_opened'],
  );
});

t.test('tenants and peers do not read which server fails', async (t) => {
  const { intake, lines } = openIntake();
  intake.commitFailed(
    new Fault('the database could not be used', { detail: 'db1.internal: it refused the connection' }),
  );
  t.match(intake.refusal()!.message, /: the database cannot be written: the log says why\. Nothing was queued/);
  t.match(lines[0]!.message, /db1\.internal: it refused the connection/);
});

t.test('a failed commit closes at once; only two proofs in a row open again', async (t) => {
  const { intake, machine, lines } = openIntake();
  await intake.check();
  t.equal(machine.proofs, 0, 'a healthy database is not written to for this');
  intake.commitFailed(new Error('database or disk is full'));
  t.match(intake.state, { accepting: false, reason: 'the database cannot be written: database or disk is full' });
  machine.disks = [null, new Error('disk I/O error'), null];
  await intake.check();
  await intake.check();
  t.match(intake.state, { accepting: false, reason: /disk I\/O error/ });
  await intake.check();
  t.equal(intake.state.accepting, false);
  await intake.check();
  t.equal(intake.state.accepting, true);
  const said = lines.map(({ facts, message }) => facts.fact ?? message);
  const fault = 'the database cannot be written: database or disk is full';
  t.same(said, [fault, 'intake_closed', 'intake_opened'], 'the fault once, for the log to add what to do');
});

t.test('room within the database counts, up to half of the limit', async (t) => {
  t.same(decide({ diskFreeShare: 0.06, reusableShare: 0.04 }).size, 0);
  const closed = decide({ diskFreeShare: 0.04, reusableShare: 0.5 });
  t.equal(
    closed.get('disk'),
    'only 9 % of the disk is free (including space that the database can reuse); at least 10 % must be',
  );
});

t.test('before it closes, what may go is erased; it closes when nothing is left', async (t) => {
  const { intake, machine, lines } = openIntake();
  machine.erasable = 6;
  machine.disk = 0.13;
  await intake.check();
  t.equal(machine.erasable, 6, 'while there is room nothing goes');
  machine.disk = 0.08;
  await intake.check();
  t.equal(intake.state.accepting, true, 'the database has room for new mail now');
  t.equal(machine.erasable, 2, 'up to where it would open again');
  t.same(
    lines.map(({ facts }) => facts.fact),
    Array.from({ length: 4 }, () => 'intake_made_room'),
  );
  machine.disk = 0.04;
  await intake.check();
  t.match(intake.state, { accepting: false, reason: /only 9 % of the disk is free \(including space/ });
  t.equal(machine.erasable, 0);
  machine.disk = 0.5;
  t.equal((await intake.check()).accepting, true);
});

t.test('a database in which no room can be made does not stop the checks', async (t) => {
  const { intake, machine } = openIntake();
  machine.disk = 0.05;
  machine.erasable = Number.NaN;
  Object.defineProperty(machine, 'reusable', { get: () => assertFails() });
  t.match(await intake.check(), { accepting: false, reason: /only 5 % of the disk is free; at least/ });
});

function assertFails(): never {
  throw new Error('disk I/O error');
}
