// What the operator's overview asks a person to do.
import t from 'tap';
import { type TaskFacts, tasksOf } from '../../src/portal/operator/overview-page.ts';

const NOTHING: TaskFacts = {
  ...{ tenants: [], doubts: [], pauses: [], held: 0, unsendable: 0, timers: [], human: [], silent: [] },
  ...{ doctor: { kind: 'never' }, unstored: null, own: null },
};

t.test('results that cannot be stored come first, once that is an alarm', async (t) => {
  const unstored = { messages: 7, since: Date.UTC(2026, 10, 24), reason: 'disk full', isAlarm: false };
  const findings = [{ check: 'disk', subject: '/data', message: 'is full', health: 'fail' as const, remedy: null }];
  const doctor = { kind: 'done' as const, since: 0, until: 1, findings };
  t.match(tasksOf({ ...NOTHING, doctor, unstored }), [{ kind: 'Doctor' }]);
  const [first, second] = tasksOf({ ...NOTHING, doctor, unstored: { ...unstored, isAlarm: true } });
  t.match(first, { kind: 'Database', tone: 'bad', what: 'Results of 7 messages cannot be stored' });
  t.match(String(first!.why), /disk full/);
  t.match(second, { kind: 'Doctor' });
});

t.test('a daemon of which nobody hears is told, and who does its work', async (t) => {
  const silent = [
    { node: 'mail-2', version: '1.0.0', startedAt: 0, seenAt: Date.UTC(2026, 10, 24), isDraining: false },
  ];
  const [task] = tasksOf({ ...NOTHING, silent });
  t.match(task, { kind: 'Daemon', tone: 'bad' });
  t.match(String(task!.what), /operator\/nodes">mail-2/);
  t.match(String(task!.why), /The other daemons take its mail over/);
  t.match(String(task!.why), /gone for good: <code>postrider nodes forget mail-2</, 'and how to be rid of it');
});

t.test("trouble with the service's own mail is told, with its reason", async (t) => {
  const own = { tenantId: '019a9b70-4d10-7000-8b1e-5a2f7c9d3e11', reason: '14 complaints in the last 900 messages' };
  const [task] = tasksOf({ ...NOTHING, own });
  t.match(String(task!.what), /tenants\/019a9b70-4d10-7000-8b1e-5a2f7c9d3e11">The service’s own mail/);
  t.match(String(task!.why), /14 complaints/);
});

t.test('mail that cannot be sent as it is waits for a person', async (t) => {
  const [task] = tasksOf({ ...NOTHING, unsendable: 2 });
  t.match(task, { kind: 'Parked', tone: 'bad' });
  t.match(String(task!.what), /operator\/queue">2 messages can’t be sent/);
});

t.test('mail that a restore has held waits for a person', async (t) => {
  t.match(tasksOf({ ...NOTHING, held: 1 }), [{ kind: 'Restore', tone: 'warn', what: { toString: Function } }]);
  t.match(String(tasksOf({ ...NOTHING, held: 1200 })[0]!.what), /1,200 messages held since a restore/);
  t.match(String(tasksOf({ ...NOTHING, held: 1001 })[0]!.what), /More than 1,000 messages/);
});
