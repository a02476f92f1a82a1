// A courier session against a scripted server: a batch goes out with each message announced behind
// the one before, and a server that cannot bear that gets them in turn.
import t, { type Test } from 'tap';
import { Fault } from '../../../src/base/errors.ts';
import { LeaseEnd } from '../../../src/base/lease-end.ts';
import { Announcements } from '../../../src/delivery/courier/mail-connection.ts';
import type { CourierReport, HostNote } from '../../../src/delivery/courier/messages.ts';
import type { Prepared } from '../../../src/delivery/courier/prepare.ts';
import { runCourierSession } from '../../../src/delivery/courier/session.ts';
import { OrderInbox, StageTimes } from '../../../src/delivery/courier/session-port.ts';
import { openSession, type SmtpSession } from '../../../src/protocol/smtp/session.ts';
import type { SmtpTimeouts } from '../../../src/protocol/smtp/timeouts.ts';
import type { MessagePieces } from '../../../src/protocol/smtp/transaction.ts';
import type { TlsPolicy } from '../../../src/store/transport-security.ts';
import { patience } from '../../support/patience.ts';
import { type PeerConnection, type PeerScript, startPeer } from '../../support/smtp-peer.ts';

const MX = 'mx.peer.test';

interface Setting {
  announcements?: Announcements;
  timeouts?: Partial<SmtpTimeouts>;
  policyOf?(domain: string): Promise<TlsPolicy | null>;
  onReport?(report: CourierReport, inbox: OrderInbox): void;
  onOpen?(session: SmtpSession): void;
  /** The body of a message that is read while it is sent. */
  piecesOf?(id: string): MessagePieces | undefined;
  /** Of these nothing can be read now. */
  unavailable?: string[];
  stages?: StageTimes;
  lease?: LeaseEnd;
  onInbox?(inbox: OrderInbox): void;
}

async function deliver(t: Test, ids: string[], scripts: PeerScript[], setting: Setting = {}) {
  const peer = await startPeer(scripts);
  t.teardown(() => peer.close());
  const withdrawn = (messageIds: string[]) => void reports.push({ kind: 'withdrawn', messageIds });
  const inbox = new OrderInbox({ taken() {}, withdrawn });
  const reports: CourierReport[] = [];
  const prepared: string[] = [];
  const notes: HostNote[] = [];
  setting.onInbox?.(inbox);
  inbox.receive({ kind: 'batch', messageIds: ids });
  inbox.receive({ kind: 'end' });
  await runCourierSession({
    inbox,
    stages: setting.stages ?? null,
    fence: () => setting.lease?.begin(),
    report(report) {
      reports.push(report);
      setting.onReport?.(report, inbox);
    },
    prepare: async (batch, index): Promise<Prepared> => {
      const id = batch.messageIds[index]!;
      prepared.push(id);
      if (setting.unavailable?.includes(id)) return { kind: 'unavailable', reason: 'the database is away' };
      const pieces = setting.piecesOf?.(id);
      return {
        kind: 'ready',
        mailFrom: 'b@postrider.test',
        rcptTo: id.includes('@') ? id : `${id}@peer.test`,
        message: Buffer.from(`Subject: ${id}\r\n\r\nhello\r\n`),
        ...(pieces && { pieces }),
        needs: { smtputf8: false, eightBit: false },
      };
    },
    hosts: [{ name: MX, addresses: [{ ip: '127.0.0.1', family: 4 }] }] as never,
    connector: {
      port: peer.port,
      async open({ mx, ip, tls }) {
        const { timeouts = {}, onOpen, stages } = setting;
        const options = { mx, ip, port: peer.port, ehloName: 'out.test', tls, timeouts };
        const opened = await openSession({ ...options, ...(stages && { onStage: stages.note }) });
        if (opened.kind === 'open') onOpen?.(opened.session);
        return opened;
      },
    },
    security: { policyOf: setting.policyOf ?? (async () => null), brokenTls: async () => null },
    usualTls: 'none',
    announcements: setting.announcements ?? new Announcements(Date.now),
    signal: inbox.signal,
    onConnected: () => {},
    onHostNote: (note) => void notes.push(note),
    now: Date.now,
  });
  return { peer, reports, prepared, notes };
}

function resultsOf(reports: CourierReport[]): string[] {
  return reports.flatMap((report) => {
    if (report.kind === 'withdrawn') return [`withdrawn ${report.messageIds}`];
    if (report.kind !== 'result') return report.kind === 'untried' ? [`untried ${report.messageIds}`] : [];
    const { messageId, result } = report;
    return [`${messageId} ${result.kind} ${'peer' in result ? result.peer.response : ''}`.trim()];
  });
}

/** So many messages one by one, nothing said early. */
const inTurn =
  (messages: number): PeerScript =>
  async (c) => {
    await c.welcome('PIPELINING');
    for (let taken = 0; taken < messages; taken++) {
      await c.takeMessage();
      c.assertQuiet();
      c.say('250 in turn');
    }
    await c.answer('QUIT', '221 bye');
  };

t.test('a batch: each message is announced behind the one before', async (t) => {
  const ids = ['m1', 'm2', 'm3', 'm4', 'm5'];
  const { peer, reports, prepared } = await deliver(t, ids, [
    async (c) => {
      await c.welcome('PIPELINING');
      await c.takeMessage();
      for (const id of ids.slice(0, -1)) {
        await c.hearCommands();
        c.say(`250 took ${id}`, '250 ok', '250 ok', '354 go');
        await c.takeBody();
      }
      c.say('250 took m5');
      await c.answer('QUIT', '221 bye');
    },
  ]);
  t.same(
    resultsOf(reports),
    ids.map((id) => `${id} accepted took ${id}`),
  );
  t.same(prepared, ids, 'each once, in their order');
  t.equal(peer.connections, 1);
});

t.test(
  'a server that loses what is said early hears it again, on another connection and from then on in turn',
  async (t) => {
    const silenceMs = patience(200);
    const losing: { how: string; script(c: PeerConnection): Promise<void>; reason: string }[] = [
      { how: 'says nothing', script: (c) => c.closed(), reason: `no reply within ${silenceMs / 1000} s` },
      {
        how: 'has heard a part of it',
        async script(c) {
          c.say('503 5.5.1 MAIL first', '503 5.5.1 RCPT first');
          await c.closed();
        },
        reason: '503 5.5.1 MAIL first',
      },
      {
        how: 'takes it for nonsense',
        script: async (c) => c.say('500 5.5.2 what?', '500 5.5.2 what?', '500 what?'),
        reason: '500 5.5.2 what?',
      },
    ];
    for (const { how, script, reason } of losing) {
      await t.test(how, async (t) => {
        const announcements = new Announcements(Date.now);
        const { peer, reports, notes } = await deliver(
          t,
          ['m1', 'm2', 'm3'],
          [
            async (c) => {
              await c.hearFirstAndCommands();
              c.say('250 took it');
              await script(c);
            },
            inTurn(2),
          ],
          { announcements, timeouts: { mailMs: silenceMs, dataMs: silenceMs } },
        );
        t.same(resultsOf(reports), ['m1 accepted took it', 'm2 accepted in turn', 'm3 accepted in turn']);
        t.equal(peer.connections, 2);
        t.equal(announcements.worksWith(MX), false);
        t.same(notes, [{ kind: 'announcement_lost', host: MX, reason }], 'the operator is told once');
      });
    }
  },
);

t.test('a refusal that is meant is told, and says nothing about the server', async (t) => {
  const announcements = new Announcements(Date.now);
  const { peer, reports } = await deliver(
    t,
    ['m1', 'm2'],
    [
      async (c) => {
        await c.hearFirstAndCommands();
        c.say('250 took it', '250 ok', '550 5.1.1 no such user', '503 5.5.1 RCPT first');
        await c.answer('QUIT', '221 bye').catch(() => {});
      },
    ],
    { announcements },
  );
  t.same(resultsOf(reports), ['m1 accepted took it', 'm2 refused no such user']);
  t.equal(peer.connections, 1);
  t.equal(announcements.worksWith(MX), true);
});

t.test('who stops between two messages finishes the announced one, and announces no other', async (t) => {
  const { peer, reports, prepared } = await deliver(
    t,
    ['m1', 'm2', 'm3', 'm4', 'm5'],
    [
      async (c) => {
        await c.hearFirstAndCommands();
        c.say('250 took it', '250 ok', '250 ok', '354 go');
        await c.takeBody();
        c.assertQuiet();
        c.say('250 took it, too');
        await c.answer('QUIT', '221 bye');
      },
    ],
    { onReport: ({ kind }, inbox) => kind === 'result' && inbox.receive({ kind: 'stop' }) },
  );
  t.same(resultsOf(reports), ['m1 accepted took it', 'm2 accepted took it, too', 'untried m3,m4,m5']);
  t.same(prepared, ['m1', 'm2', 'm3'], 'nothing is prepared for later');
  t.equal(peer.bodies.length, 2);
});

t.test('what is asked back is given back until its first command is sent', async (t) => {
  let receive: ((asked: string[]) => void) | null = null;
  const { reports, prepared } = await deliver(
    t,
    ['m1', 'm2', 'm3', 'm4'],
    [
      async (c) => {
        await c.hearFirstAndCommands();
        receive!(['m1', 'm2', 'm3']);
        c.say('250 took it', '250 ok', '250 ok', '354 go');
        await c.takeBody();
        c.say('250 took it, too');
        await c.takeMessage();
        c.say('250 took the last');
        await c.answer('QUIT', '221 bye');
      },
    ],
    {
      onInbox: (inbox) => {
        receive = (messageIds) => inbox.receive({ kind: 'withdraw', messageIds });
      },
    },
  );
  t.same(resultsOf(reports), [
    'withdrawn m3',
    'm1 accepted took it',
    'm2 accepted took it, too',
    'm4 accepted took the last',
  ]);
  t.same(prepared, ['m1', 'm2', 'm3', 'm4'], 'each once');
});

t.test('who is cut off calls nobody again for the announced one', async (t) => {
  let cutOff = () => {};
  const { peer, reports } = await deliver(
    t,
    ['m1', 'm2', 'm3'],
    [
      async (c) => {
        await c.hearFirstAndCommands();
        c.say('250 took it');
        await c.closed();
      },
    ],
    {
      onReport({ kind }, inbox) {
        if (kind !== 'result') return;
        inbox.receive({ kind: 'abort', reason: 'nothing moves' });
        cutOff();
      },
      onOpen: (session) => {
        cutOff = () => session.destroy();
      },
    },
  );
  t.same(resultsOf(reports), ['m1 accepted took it', 'untried m2,m3']);
  t.equal(peer.connections, 1);
});

t.test('what our own side cuts off says nothing about the server', async (t) => {
  const announcements = new Announcements(Date.now);
  let cutOff = () => {};
  const { reports, notes } = await deliver(
    t,
    ['m1', 'm2', 'm3'],
    [
      async (c) => {
        await c.hearFirstAndCommands();
        c.say('250 took it');
        await c.closed();
      },
      (c) => c.hangUp(),
    ],
    {
      announcements,
      // As the watchdog does it, once m2 waits for its first answer.
      onReport: (_report, inbox) =>
        void setImmediate(() => {
          inbox.receive({ kind: 'abort', reason: 'nothing moves' });
          cutOff();
        }),
      onOpen: (session) => {
        cutOff = () => session.destroy();
      },
    },
  );
  t.match(resultsOf(reports), ['m1 accepted took it', /^m2 no_connection/, /^m3 no_connection/]);
  t.same(notes, []);
  t.equal(announcements.worksWith(MX), true);
});

t.test('a message is not announced over a connection that its TLS policy forbids', async (t) => {
  const enforced = { policyId: '1', mode: 'enforce', mx: [MX], fetchedAt: 0, expiresAt: 1 } as const;
  const policyOf = async (domain: string) => (domain === 'strict.test' ? { domain, ...enforced, mx: [MX] } : null);
  const { reports } = await deliver(t, ['m1', 'm2@strict.test'], [inTurn(1), (c) => c.welcome('PIPELINING')], {
    policyOf,
  });
  const [first, second] = resultsOf(reports);
  t.equal(first, 'm1 accepted in turn');
  t.match(second, /^m2@strict\.test insecure .*MTA-STS policy of strict\.test/);
});

t.test('a message whose TLS policy cannot be read is not announced and waits, and the next one leaves', async (t) => {
  const policyOf = async (domain: string) => {
    if (domain === 'unread.test') throw new Error('the disk is gone');
    return null;
  };
  const { reports } = await deliver(t, ['m1', 'm2@unread.test', 'm3'], [inTurn(2)], { policyOf });
  const why = "the TLS policy of the recipient's domain cannot be read: the disk is gone";
  t.same(resultsOf(reports), ['m1 accepted in turn', `m2@unread.test insecure ${why}`, 'm3 accepted in turn']);
});

t.test('a server gets another chance after a day, and only so many are remembered', async (t) => {
  let now = 1_000_000;
  const announcements = new Announcements(() => now);
  announcements.lostBy('first.test');
  t.equal(announcements.worksWith('first.test'), false);
  t.equal(announcements.worksWith('other.test'), true);
  now += 24 * 3_600_000;
  t.equal(announcements.worksWith('first.test'), true);
  announcements.lostBy('first.test');
  announcements.lostBy('second.test');
  for (let count = 0; count < 999; count++) announcements.lostBy(`host${count}.test`);
  t.equal(announcements.worksWith('first.test'), true, 'the oldest is forgotten');
  t.equal(announcements.worksWith('second.test'), false);
});

t.test(
  'a mail whose pieces are not all there is never finished, and the next ones leave on a new connection',
  async (t) => {
    for (const permanence of ['permanent', 'temporary'] as const) {
      const piecesOf = (id: string): MessagePieces | undefined => {
        if (id !== 'm2') return undefined;
        async function* read() {
          yield Buffer.from('one\r\n');
          throw new Fault('piece 1 of the mail is missing', { permanence });
        }
        return { sizeBytes: 10, read };
      };
      const cutOff: PeerScript = async (c) => {
        await c.welcome('PIPELINING');
        await c.takeMessage();
        await c.hearCommands();
        c.say('250 in turn', '250 ok', '250 ok', '354 go');
        await c.closed();
      };
      const { peer, reports } = await deliver(t, ['m1', 'm2', 'm3'], [cutOff, inTurn(1)], { piecesOf });
      const [parked, lost] = ['the message cannot be sent', 'the rest of the message cannot be read'];
      t.same(resultsOf(reports), [
        'm1 accepted in turn',
        permanence === 'permanent' ? 'm2 unreadable' : `m2 lost ${lost}: piece 1 of the mail is missing`,
        'm3 accepted in turn',
      ]);
      const [, second] = reports.flatMap((report) => (report.kind === 'result' ? report.result : []));
      if (permanence === 'permanent') t.match(second, { reason: `${parked}: piece 1 of the mail is missing` });
      t.equal(peer.bodies.length, 2, 'the server has seen no end of it');
    }
  },
);

t.test('what cannot be read now goes back to the queue and says why, and all that follows goes with it', async (t) => {
  const { reports } = await deliver(t, ['m1', 'm2', 'm3'], [inTurn(1)], { unavailable: ['m2'] });
  t.same(resultsOf(reports), ['m1 accepted in turn', 'untried m2', 'untried m3']);
  t.strictSame(
    reports.filter(({ kind }) => kind === 'untried'),
    [
      { kind: 'untried', messageIds: ['m2'], reason: 'the database is away' },
      { kind: 'untried', messageIds: ['m3'] },
    ],
  );
});

t.test('with traces, a result has the times of its stages, and without them nothing more', async (t) => {
  const script: PeerScript = async (c) => {
    await c.welcome('PIPELINING');
    await c.takeMessage();
    await c.hearCommands();
    c.say('250 took m1', '250 ok', '550 no such user', '554 no valid recipients');
    await c.answer('QUIT', '221 bye');
  };
  let now = 0;
  const traced = await deliver(t, ['m1', 'm2'], [script], { stages: new StageTimes(() => ++now) });
  const results = traced.reports.filter((report) => report.kind === 'result');
  t.same(
    results.map(({ stages }) => stages),
    [
      [
        ['connect', 1],
        ['greeting', 2],
        ['ehlo', 3],
        ['mail', 4],
        ['rcpt', 5],
        ['data', 6],
        ['dot', 7],
      ],
      [
        ['mail', 8],
        ['rcpt', 9],
        ['data', 10],
      ],
    ],
    'those of the connection belong to its first message',
  );
  const plain = await deliver(t, ['m1', 'm2'], [script]);
  for (const report of plain.reports) t.notOk('stages' in report);
});

t.test(
  'what another daemon may have is not completed, even if it was announced before and begins only now',
  async (t) => {
    let moment = 0;
    const lease = new LeaseEnd(() => moment++);
    const ids = ['m1', 'm2', 'm3'];
    const script: PeerScript = async (c) => {
      await c.welcome('PIPELINING');
      await c.takeMessage();
      await c.hearCommands();
      lease.noteLoss();
      c.say('250 took m1', '250 ok', '250 ok', '354 go');
      await c.closed();
      c.assertQuiet();
    };
    const onReport = (_: CourierReport, inbox: OrderInbox) => inbox.receive({ kind: 'stop' });
    const { peer, reports } = await deliver(t, ids, [script], { lease, onReport });
    t.match(resultsOf(reports), ['m1 accepted took m1', /^m2 lost it was broken off/, 'untried m3']);
    t.equal(peer.bodies.length, 1);
  },
);
