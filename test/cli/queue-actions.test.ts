// The operator's hand on the queue from outside, without a daemon: what holds mail back is said,
// kept, recorded and ended; what makes no sense is refused with a sentence.
import path from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import { IdSource } from '../../src/base/ids.ts';
import { claimOf } from '../../src/store/queue.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { takeFirstSlot, untried } from '../support/first-slot.ts';
import { newProgram, runInThisProcess } from '../support/program.ts';
import { addWaitingMessage } from './waiting-message.ts';

const STRANGER = '01a1fa75-69d8-7000-b301-908cb7826839';
const GROUP = 'mx.receiver.example';

async function setUp(t: Test) {
  const program = newProgram();
  t.teardown(program.remove);
  await program.json('tenant', 'create', '--name', 'First'); // makes the folder and its database
  const withStore = async <T>(work: (store: Store) => Promise<T>): Promise<T> => {
    const store = await openSqliteStore({ file: path.join(program.dataDir, 'postrider.db') });
    return work(store).finally(() => store.close());
  };
  const waiting = await withStore(async (store) => {
    const at = systemClock.now();
    await store.shaping.noteDomains([{ domain: 'receiver.example', mxGroup: GROUP, at }], at);
    return addWaitingMessage({ store, clock: systemClock, ids: new IdSource() } as never);
  });
  const codes = async () => {
    const { waits_for } = await program.json('queue', 'show', waiting.messageId);
    return (waits_for as { code: string }[]).map(({ code }) => code);
  };
  return { program, withStore, codes, ...waiting };
}

t.test('pause and resume: each kind, shown, recorded, kept', async (t) => {
  const { program, withStore, codes, tenantId, messageId } = await setUp(t);
  const { json, runHere } = program;
  t.same(await codes(), ['not_running']);
  const kinds: [string[], string, string][] = [
    [['--tenant', tenantId], 'tenant_paused', `the tenant ${tenantId}`],
    [['--group', GROUP], 'group_paused', `the group ${GROUP}`],
    [['--domain', 'receiver.example'], 'domain_paused', 'the domain receiver.example'],
    [[messageId], 'message_paused', 'this message'],
  ];
  for (const [target, code, name] of kinds) {
    const word = ['--reason', 'they asked us to stop', '--by', 'jo'];
    t.match(await json('queue', 'pause', ...target, ...word), { complete: true, ended: [] });
    t.same(
      (await codes()).filter((each) => each !== 'not_running'),
      [code],
    );
    const shown = await runHere('queue', 'show', messageId);
    t.match(
      shown.stdout,
      new RegExp(`It is waiting because[\\s\\S]*- ${name} was paused by jo at .*: they asked us to stop`),
    );
    const again = await runHere('queue', 'pause', ...target, ...word);
    t.match(again, { code: 1, stdout: '', stderr: /is paused already, by jo: they asked us to stop/ });
    t.match(await json('queue', 'resume', ...target, '--by', 'ann'), {
      ended: ['the pause by jo: they asked us to stop'],
    });
    t.same(await codes(), ['not_running']);
    t.match(await runHere('queue', 'resume', ...target), {
      code: 1,
      stderr: /nothing holds the .*: it is not paused/,
    });
  }
  const notes = await withStore((store) => store.shaping.listOperatorNotes({ limit: 100 }));
  t.equal(notes.length, 8);
  t.match(notes.at(-1), {
    action: 'pause',
    kind: 'tenant',
    key: tenantId,
    by: 'jo',
    note: 'they asked us to stop',
    at: Number,
  });
  t.match(await json('queue', 'show', messageId), {
    notes: [
      { action: 'resume', by: 'ann' },
      { action: 'pause', by: 'jo' },
    ],
  });
});

t.test('a paused message is called so, with who and why', async (t) => {
  const { program, messageId } = await setUp(t);
  const { json, runHere } = program;
  await json('queue', 'pause', messageId, '--reason', 'a wrong price in it', '--by', 'jo');
  const listed = await runHere('queue', 'list');
  t.match(listed.stdout, new RegExp(`^${messageId} +paused .* paused by jo at \\S+: a wrong price in it$`, 'm'));
  t.notMatch(listed.stdout.replace('paused or parked', ''), /parked/);
  t.match(await json('queue', 'list'), {
    messages: [{ parked: false, paused: { by: 'jo', at: String, reason: 'a wrong price in it' } }],
  });
  t.match(await json('queue', 'list', '--group', GROUP), { lanes: [], messages: [{ id: messageId }] });
  const shown = await runHere('queue', 'show', messageId);
  t.match(shown.stdout, /^tenant: +Sender$/m);
  t.match(shown.stdout, /^parked: +no$/m);
  t.match(shown.stdout, /^paused: +by jo at \S+: a wrong price in it$/m);
  await json('queue', 'resume', messageId);
  t.match(await json('queue', 'show', messageId), { parked: false, paused: null });
});

t.test('a tenant that is not there is no quiet night, and neither is a group that nobody knows', async (t) => {
  const { program } = await setUp(t);
  const { json, runHere } = program;
  t.match(await runHere('queue', 'list', '--tenant', STRANGER), {
    code: 1,
    stdout: '',
    stderr: `postrider queue list: there is no tenant ${STRANGER}\n`,
  });
  const unknown = 'mx.nowhere.example';
  t.match(await runHere('queue', 'list', '--group', unknown), {
    code: 0,
    stdout: `No mail is waiting for ${unknown}, and no MX group of that name is known. postrider queue list shows the groups.\n`,
  });
  t.match(await json('queue', 'list', '--group', unknown), { group_known: false, groups: [], messages: [] });
  t.match(await json('queue', 'list', '--group', 'google'), { group_known: true, groups: [{ group: 'google' }] });
  t.match(await json('queue', 'list'), { group_known: null });
});

t.test('who does it is known without being told', async (t) => {
  const { program, withStore, tenantId } = await setUp(t);
  await program.json('queue', 'pause', '--tenant', tenantId, '--reason', 'x');
  const [note] = await withStore((store) => store.shaping.listOperatorNotes({ limit: 1 }));
  t.ok(note!.by.length > 0 && note!.by !== 'an operator', note!.by);
});

t.test('why it waits: a suspension by a reply, and the last reply with its rule', async (t) => {
  const { program, withStore, tenantId, messageId } = await setUp(t);
  const until = Date.now() + 600_000;
  await withStore(async (store) => {
    const owner = await takeFirstSlot(store);
    const [lane] = await store.queue.dueLanes([1]);
    const now = Date.now();
    const { messages } = await store.queue.claim(lane!.lane, 1, { owner, now, dueAgainAt: [now + 1] });
    const { id, attempt } = messages[0]!;
    const peer = {
      ...{
        mx: GROUP,
        remoteIp: '192.0.2.1',
        stage: 'rcpt' as const,
        smtpCode: 450,
        enhancedCode: '4.7.0',
        elapsedMs: 5,
      },
      ...{
        response: 'Too many messages, slow down',
        tls: null,
        tlsPolicy: { mode: 'none' as const, failure: null },
      },
    };
    const record = { messageId: id, tenantId, attempt, startedAt: now, outcome: 'temporary' as const, peer };
    const transition = {
      to: 'deferred' as const,
      dueAt: now + 300_000,
      reason: 'they said: slow down',
      ambiguous: false,
    };
    const claim = claimOf({ owner, attempt });
    await store.queue.record([
      { messageId: id, tenantId, at: now, claim, attempt: record as never, transition, event: null },
    ]);
    const suspension = { mxGroup: GROUP, scope: 'group' as const, tenantId: null, subject: '', since: now, until };
    await store.shaping.saveShaping({ suspensions: [{ ...suspension, rule: 'some-rule', reply: '450 slow down' }] });
  });
  const shown = await program.json('queue', 'show', messageId);
  t.match(shown, {
    group: GROUP,
    waits_for: [
      { code: 'not_running', until: null },
      { code: 'not_due', reason: /they said: slow down/ },
      {
        code: 'group_suspended',
        until: new Date(until).toISOString(),
        reason: /as rule some-rule asks: 450 slow down/,
      },
    ],
    last_reply: {
      smtp_code: 450,
      enhanced_code: '4.7.0',
      response: 'Too many messages, slow down',
      rule: String,
      label: 'rate_limited',
      meaning: /more slowly/,
    },
  });
  t.match(await program.run('queue', 'show', messageId), {
    stdout: /last reply: +450 4\.7\.0 Too many[\s\S]*\(rate_limited, rule [a-z-]+\)[\s\S]* 450 4\.7\.0 Too many/,
  });
  const listed = await program.json('queue', 'list', '--group', GROUP);
  t.match(listed, {
    groups: [
      {
        group: GROUP,
        connections: 0,
        connections_allowed: 10,
        reasons: [{ code: 'group_suspended' }],
        suspensions: [{ scope: 'group', rule: 'some-rule' }],
      },
    ],
    lanes: [
      {
        group: GROUP,
        waiting: 1,
        reasons: [{ code: 'not_running' }, { code: 'not_due' }, { code: 'group_suspended' }],
      },
    ],
    messages: [{ id: messageId }],
  });
  t.match(await program.json('queue', 'list', '--group', 'mx.other.example'), { lanes: [], messages: [] });
  t.match(await program.runHere('queue', 'list'), {
    code: 0,
    stdout: /mx\.receiver\.example - all mail to mx\.receiver\.example is paused until/,
  });
  const ended = await program.json('queue', 'resume', '--group', GROUP);
  t.match(ended, { ended: [/all mail to mx\.receiver\.example.*rule some-rule/] });
});

t.test('an attempt that fell back to clear text, and one that no host let in, are told whole', async (t) => {
  const { program, withStore, tenantId, messageId } = await setUp(t);
  const common = { remoteIp: '192.0.2.1', enhancedCode: null, tls: null, elapsedMs: 5 };
  const failure = 'the TLS handshake failed: wrong version number';
  const busy = { mx: 'mx1.receiver.example', ip: '192.0.2.1', port: 25, stage: 'greeting' as const, smtpCode: 421 };
  const gone = { mx: 'mx2.receiver.example', ip: '2001:db8::2', port: 25, stage: 'connect' as const, smtpCode: null };
  const tried = [
    { ...busy, enhancedCode: null, response: 'Busy' },
    { ...gone, enhancedCode: null, response: 'connect: ETIMEDOUT' },
  ];
  const peers = [
    {
      ...{ ...common, mx: GROUP, stage: 'rcpt' as const, smtpCode: 451, response: 'Later' },
      tlsPolicy: { mode: 'none' as const, failure },
    },
    {
      ...{ ...common, mx: gone.mx, stage: 'connect' as const, smtpCode: null, response: 'connect: ETIMEDOUT', tried },
      tlsPolicy: { mode: 'none' as const, failure: null },
    },
  ];
  await withStore(async (store) => {
    const owner = await takeFirstSlot(store);
    const [lane] = await store.queue.dueLanes([1]);
    const at = Date.now();
    for (const peer of peers) {
      const { messages } = await store.queue.claim(lane!.lane, 1, { owner, now: at, dueAgainAt: [at] });
      const { id, attempt } = messages[0]!;
      const record = { messageId: id, tenantId, attempt, startedAt: at, outcome: 'temporary' as const, peer };
      const transition = { to: 'deferred' as const, dueAt: at, reason: 'later', ambiguous: false };
      const claim = claimOf({ owner, attempt });
      await store.queue.record([{ messageId: id, tenantId, at, claim, attempt: record, transition, event: null }]);
    }
  });
  const { stdout } = await program.runHere('queue', 'show', messageId);
  t.match(stdout, /^Attempt 1 fell back to clear text: the TLS handshake failed: wrong version number$/m);
  t.match(
    stdout,
    `Attempt 2 tried these servers; none opened a session:
- mx1.receiver.example 192.0.2.1:25 greeting: 421 Busy
- mx2.receiver.example [2001:db8::2]:25 connect: connect: ETIMEDOUT
`,
  );
  t.match(await program.json('queue', 'show', messageId), {
    attempt_list: [
      { tls: null, tls_policy: { failure }, tried: [] },
      {
        tried: [
          { mx: busy.mx, remote_ip: '192.0.2.1', port: 25, stage: 'greeting', smtp_code: 421, response: 'Busy' },
          { mx: gone.mx, remote_ip: '2001:db8::2', port: 25, smtp_code: null, response: 'connect: ETIMEDOUT' },
        ],
      },
    ],
  });
});

t.test('retry and cancel of many', async (t) => {
  const { program, withStore, tenantId, messageId } = await setUp(t);
  await withStore(async (store) => {
    const owner = await takeFirstSlot(store);
    const [lane] = await store.queue.dueLanes([1]);
    const { messages } = await store.queue.claim(lane!.lane, 1, { owner, now: Date.now(), dueAgainAt: [0] });
    await store.queue.release([untried(messages[0]!)], Date.now() + 600_000);
  });
  t.match(await program.json('queue', 'retry', '--group', GROUP), {
    messages: 1,
    complete: true,
    kind: 'group',
    target: GROUP,
  });
  t.match(await program.json('queue', 'retry', '--tenant', tenantId), { messages: 0 });
  t.match(await program.runHere('queue', 'cancel', '--domain', 'receiver.example', '--reason', 'a mistake'), {
    code: 0,
    stdout: '1 message canceled.\n',
  });
  t.match(await program.json('queue', 'show', messageId), {
    state: 'canceled',
    last_reason: 'a mistake',
    waits_for: [],
  });
});

t.test('mail for later: said so, moved, retried at once, canceled', async (t) => {
  const { program, messageId, withStore } = await setUp(t);
  const { json, runHere } = program;
  const at = (ms: number) => new Date(ms).toISOString();
  const soon = systemClock.now() + 3_600_000;
  const parts = (store: Store) => ({ store, clock: systemClock, ids: new IdSource() }) as never;
  const add = () => withStore(async (store) => (await addWaitingMessage(parts(store), { sendAt: soon })).messageId);
  const [first, second] = [await add(), await add()];
  const shown = await json('queue', 'show', first);
  t.match(shown, { state: 'scheduled', waits_for: [{ code: 'not_running' }, { code: 'scheduled', until: at(soon) }] });
  const said = await runHere('queue', 'show', first);
  t.match(said.stdout, `its sender scheduled it for ${at(soon)}`);
  await json('queue', 'cancel', messageId, '--reason', 'not the one');
  const list = await runHere('queue', 'list');
  t.match(list.stdout, /^Nothing is waiting: these messages are scheduled for later,/m);
  for (const narrowed of [
    ['--domain', 'receiver.example'],
    ['--group', GROUP],
  ]) {
    t.match(await json('queue', 'list', ...narrowed), { lanes: [], messages: [{ id: first }, { id: second }] });
  }
  t.match(await runHere('queue', 'pause', first, '--reason', 'wait'), {
    stderr: new RegExp(`is not waiting yet: it is scheduled for ${at(soon)}`),
  });

  const later = at(soon + 60_000);
  t.match(await json('queue', 'move', first, '--to', later), { id: first, send_at: later });
  t.match(await json('queue', 'show', first), { state: 'scheduled', next_attempt_at: later });
  for (const [to, problem] of [
    ['2020-01-01', /--to: is more than 5 minutes in the past/],
    [at(soon + 31 * 86_400_000), /--to: must be at most 30 days ahead/],
  ] as const) {
    t.match(await runHere('queue', 'move', first, '--to', to), { code: 1, stdout: '', stderr: problem });
  }
  t.match(await runHere('queue', 'move', STRANGER, '--to', later), { code: 1, stderr: /there is no message/ });

  t.match(await runHere('queue', 'retry', first), { code: 0, stdout: /is due now/ });
  const due = await json('queue', 'show', first);
  t.equal(due.state, 'scheduled', 'the daemon looks at the suppression lists once more');
  t.ok(Date.parse(String(due.next_attempt_at)) <= Date.now());
  for (const id of [first, second]) {
    t.match(await runHere('queue', 'cancel', id, '--reason', 'a mistake'), { code: 0 });
    t.match(await json('queue', 'show', id), { state: 'canceled', last_reason: 'a mistake' });
  }
  t.match(await runHere('queue', 'move', first, '--to', later), { code: 1, stderr: /its messages are canceled/ });
});

t.test('what is due now and kept back all the same is told of', async (t) => {
  const { program, tenantId, messageId } = await setUp(t);
  const { json, runHere } = program;
  const pauses = [
    ['--tenant', tenantId],
    ['--group', GROUP],
    ['--domain', 'receiver.example'],
  ];
  for (const target of pauses) {
    await json('queue', 'pause', ...target, '--reason', 'they asked us to stop', '--by', 'jo');
    const command = `postrider queue resume ${target.join(' ')}`;
    // The message was due before, so that of the many none is moved.
    const outcomes = [
      { which: target, said: 'No other message became due\\. The waiting mail' },
      { which: [messageId], said: `Message ${messageId} is due now\\. But it` },
    ];
    for (const { which, said } of outcomes) {
      const { code, stdout } = await runHere('queue', 'retry', ...which);
      t.equal(code, 0);
      const because = 'is held because\\n- the \\w+ \\S+ was paused by jo at .*: they asked us';
      t.match(stdout, new RegExp(`^${said} ${because}`));
      t.match(stdout, `\n  To resume: ${command}\n`);
    }
    t.match(await json('queue', 'retry', ...target), { held_by: [{ command }] });
    await json('queue', 'resume', ...target);
  }
  await json('tenant', 'set', tenantId, '--status', 'suspended');
  t.match(await json('queue', 'retry', '--tenant', tenantId), {
    held_by: [{ reason: 'the tenant is suspended', command: `postrider tenant set ${tenantId} --status active` }],
  });
  await json('tenant', 'set', tenantId, '--status', 'active');
  t.match(await runHere('queue', 'retry', messageId), { stdout: `Message ${messageId} is due now.\n` });
  await json('queue', 'pause', messageId, '--reason', 'x', '--by', 'jo');
  t.match(await runHere('queue', 'retry', messageId), { code: 1, stderr: /is paused by jo \(x\): resume it first/ });
});

t.test('mail of a tenant towards a paused group is due, and the group is named', async (t) => {
  const { program, withStore, tenantId } = await setUp(t);
  await program.json('queue', 'pause', '--group', GROUP, '--reason', 'x', '--by', 'jo');
  await withStore(async (store) => {
    const owner = await takeFirstSlot(store);
    const [lane] = await store.queue.dueLanes([1]);
    const { messages } = await store.queue.claim(lane!.lane, 1, { owner, now: Date.now(), dueAgainAt: [0] });
    await store.queue.release([untried(messages[0]!)], Date.now() + 600_000);
  });
  const command = `postrider queue resume --group ${GROUP}`;
  t.match(await program.json('queue', 'retry', '--tenant', tenantId), { messages: 1, held_by: [{ command }] });
  t.match(
    await program.json('queue', 'retry', '--tenant', tenantId),
    { messages: 0, held_by: [{ command }] },
    'also of what was due already',
  );
  t.match(await program.runHere('queue', 'retry', '--tenant', tenantId), {
    stdout: /^No other message became due\. The waiting mail is held because\n- the group /,
  });
});

t.test('what makes no sense is refused with a sentence', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  const reason = ['--reason', 'x'];
  const wrong: [string[], RegExp][] = [
    [['queue', 'pause', ...reason], /ID is missing: give one message ID, or one of --tenant, --group, --domain/],
    [['queue', 'pause', STRANGER], /--reason is missing/],
    [['queue', 'pause', STRANGER, '--group', GROUP, ...reason], /give exactly one of these/],
    [['queue', 'retry', '--tenant', STRANGER, '--domain', 'a.example'], /give exactly one of these/],
    [['queue', 'resume', 'seven'], /ID: "seven" is not a valid ID/],
    [['queue', 'pause', '--tenant', ' ', ...reason], /--tenant: must not be empty/],
    [['queue', 'pause', '--domain', 'a..b', ...reason], /--domain: "a\.\.b" is not a domain name/],
    [['queue', 'pause', '--group', 'a\tb', ...reason], /--group: ".*" is not a valid name/],
    [['queue', 'list', '--group', ' '], /--group: " " is not a valid name/],
    [['queue', 'pause', STRANGER, '--reason', ' '], /--reason: must not be empty/],
    [['queue', 'pause', STRANGER, '--reason', 'a\u001b[2Jb'], /--reason: must be one line without control characters/],
    [['queue', 'cancel', STRANGER, '--reason', 'one\ntwo'], /--reason: must be one line/],
    [['queue', 'retry', STRANGER, '--reason', 'x'.repeat(501)], /--reason: must have at most 500 characters/],
    [['queue', 'resume', STRANGER, '--by', 'jo\t'], /--by: must be one line without control characters/],
  ];
  for (const [args, says] of wrong) {
    const { code, stdout, stderr } = await runInThisProcess(args);
    t.same([code, stdout], [2, ''], args.join(' '));
    t.match(stderr, says);
  }
  await program.json('tenant', 'create', '--name', 'Acme');
  const unknown: [string[], RegExp][] = [
    [['queue', 'pause', STRANGER, ...reason], /there is no message/],
    [['queue', 'pause', '--tenant', STRANGER, ...reason], /there is no tenant/],
    [['queue', 'pause', '--group', 'mx.nowhere.example', ...reason], /there is no MX group "mx\.nowhere\.example"/],
    [['queue', 'resume', '--group', 'google'], /nothing holds the group google/],
    [['queue', 'cancel', '--tenant', STRANGER], /there is no tenant/],
  ];
  for (const [args, says] of unknown) t.match(await program.runHere(...args), { code: 1, stdout: '', stderr: says });
  t.match(
    await program.json('queue', 'pause', '--group', 'google', ...reason),
    { kind: 'group' },
    'known before its first mail',
  );
});
