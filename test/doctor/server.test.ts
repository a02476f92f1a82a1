// What the doctor says of a database server.
import t from 'tap';
import { judgeServer } from '../../src/doctor/server.ts';
import type { ServerFacts } from '../../src/store/server-facts.ts';

const NAME = 'postgres://db1,db2/postrider';
const MINUTE_MS = 60_000;

const GOOD: ServerFacts = {
  version: '15.5',
  host: 'db1:5432',
  outdated: [],
  clockAheadMs: 0,
  survivesCrash: true,
  synchronousCommit: 'on',
  standbyNames: 'FIRST 1 (db2)',
  standbys: [{ name: 'db2', isSynchronous: true, isStreaming: true }],
  oldestTransaction: { ageMs: MINUTE_MS, application: 'postrider-writes', user: 'postrider' },
  connections: { used: 20, most: 97 },
  transactionsUnfrozen: 50_000_000,
  nodes: [
    { node: 'a', version: '1.0.0', seenMsAgo: 2000 },
    { node: 'old', version: '0.9.0', seenMsAgo: null },
  ],
};

function findings(change: Partial<ServerFacts>) {
  const all = judgeServer(NAME, { kind: 'answer', facts: { ...GOOD, ...change } });
  return all.filter(({ health }) => health !== 'ok').map(({ check, health, message }) => [check, health, message]);
}

t.test('a server that keeps everything is praised', async (t) => {
  t.strictSame(
    judgeServer(NAME, { kind: 'answer', facts: GOOD }).map(({ check, health }) => [check, health]),
    [
      ['database', 'ok'],
      ['standby', 'ok'],
      ['clock of the database', 'ok'],
    ],
  );
});

t.test('whatever can lose what was answered 202 is a failure', async (t) => {
  t.match(findings({ survivesCrash: false }), [['commits', 'fail', /a crash of its machine may ruin the database/]]);
  for (const synchronousCommit of ['off', 'local']) {
    t.match(findings({ synchronousCommit }), [['commits', 'fail', /may be lost/]]);
  }
  t.match(findings({ standbyNames: null }), [['standby', 'fail', /has no synchronous standby/]]);
});

t.test('a primary of old that has come back is named', (t) => {
  t.match(judgeServer(NAME, { kind: 'answer', facts: GOOD })[0], { message: 'answers at db1:5432, PostgreSQL 15.5' });
  t.match(findings({ outdated: ['db2:5432'] }), [['old primary', 'fail', /accepts writes, too, .* what db1:5432 has/]]);
  t.end();
});

t.test('a standby that is not in step lets commits wait', async (t) => {
  t.match(findings({ standbys: [] }), [
    ['standby', 'fail', /no standby of FIRST 1 \(db2\) is in step.*none is connected/],
  ]);
  const catchingUp = [{ name: 'db2', isSynchronous: true, isStreaming: false }];
  t.match(findings({ standbys: catchingUp }), [['standby', 'fail', /connected: db2/]]);
  t.match(findings({ standbys: null }), [['standby', 'warn', /may not see whether the standby is connected/]]);
});

t.test('clocks, transactions, connections and freezing have limits', async (t) => {
  t.match(findings({ clockAheadMs: -600 }), [['clock of the database', 'warn', "is 0.6 s behind this machine's"]]);
  t.match(findings({ clockAheadMs: 5000 }), [
    ['clock of the database', 'fail', /5\.0 s ahead of.*daemons don't start/],
  ]);
  const long = { ageMs: 7 * MINUTE_MS, application: 'report', user: 'jo' };
  t.match(findings({ oldestTransaction: long }), [['long transaction', 'warn', /^report \(user jo\).*for 7 min/]]);
  t.match(findings({ connections: { used: 80, most: 97 } }), [['connections', 'warn', /^80 of 97 connections/]]);
  t.match(findings({ transactionsUnfrozen: 1_500_000_000 }), [['vacuum', 'fail', /^has 1500 million/]]);
});

t.test('daemons of several versions, and one that is not heard of', async (t) => {
  const nodes = [
    { node: 'a', version: '1.0.0', seenMsAgo: 2000 },
    { node: 'b', version: '1.1.0', seenMsAgo: 90_000 },
  ];
  t.match(findings({ nodes }), [
    ['versions', 'warn', /several versions/],
    ['node', 'warn', /last heard of 90 s ago: it has crashed/],
  ]);
  t.match(findings({ nodes, standbys: [] }).at(-1), ['node', 'warn', /while commits wait, no daemon can say that/]);
});

t.test('a server that does not answer', async (t) => {
  t.match(judgeServer(NAME, { kind: 'none', reason: 'the password is wrong' }), [
    { check: 'database', subject: NAME, health: 'fail', message: 'cannot be used: the password is wrong' },
  ]);
});
