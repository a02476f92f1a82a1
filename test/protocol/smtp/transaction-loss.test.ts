// One message: every way in which it can get lost, at which stage, and whether it may have arrived.
import t, { type Test } from 'tap';
import { type OutgoingMessage, openSession, type SmtpSession } from '../../../src/protocol/smtp/session.ts';
import type { SmtpTimeouts } from '../../../src/protocol/smtp/timeouts.ts';
import { type PeerConnection, type PeerScript, startPeer } from '../../support/smtp-peer.ts';

const needs = { smtputf8: false, eightBit: false };
const letter: OutgoingMessage = {
  mailFrom: 'a@postrider.test',
  rcptTo: 'b@peer.test',
  message: Buffer.from('Subject: hello\r\n\r\n.dot\r\n'),
  needs,
};
const huge = Buffer.from(`Subject: huge\r\n\r\n${'0123456789 abcdefghijklmnopqrstuvwxyz\r\n'.repeat(850_000)}`);

async function open(t: Test, script: PeerScript, timeouts: Partial<SmtpTimeouts> = {}) {
  const peer = await startPeer([script]);
  t.teardown(() => peer.close());
  const { port } = peer;
  const result = await openSession({
    mx: 'mx.peer.test',
    ip: '127.0.0.1',
    port,
    ehloName: 'out.test',
    tls: 'none',
    timeouts,
  });
  if (result.kind !== 'open') throw new Error(result.peer.response);
  t.teardown(() => result.session.destroy());
  return { peer, session: result.session };
}

interface Losing {
  name: string;
  script: (c: PeerConnection) => Promise<unknown>;
  stage: string;
  afterDot?: boolean;
  response?: RegExp;
  message?: Buffer;
  /** Only the wait that the script provokes is short: no other may fire on a busy machine. */
  timeouts?: Partial<SmtpTimeouts>;
}

const upToData = async (c: PeerConnection) => {
  await c.answer('MAIL', '250 ok');
  await c.answer('RCPT', '250 ok');
  await c.answer('DATA', '354 go');
};

const losses: Losing[] = [
  {
    name: 'hangs up at MAIL',
    stage: 'mail',
    script: async (c) => {
      await c.expect('MAIL');
      c.hangUp();
    },
  },
  {
    name: 'resets at MAIL',
    stage: 'mail',
    script: async (c) => {
      await c.expect('MAIL');
      c.reset();
    },
    response: /ECONNRESET/,
  },
  {
    name: 'stalls at MAIL',
    timeouts: { mailMs: 50 },
    stage: 'mail',
    script: (c) => c.expect('MAIL').then(() => c.closed()),
    response: /no reply within 0.05 s/,
  },
  {
    name: 'hangs up at RCPT',
    stage: 'rcpt',
    script: async (c) => {
      await c.answer('MAIL', '250 ok');
      await c.expect('RCPT');
      c.hangUp();
    },
  },
  {
    name: 'stalls at RCPT',
    timeouts: { rcptMs: 50 },
    stage: 'rcpt',
    script: async (c) => {
      await c.answer('MAIL', '250 ok');
      await c.expect('RCPT');
      await c.closed();
    },
  },
  {
    name: 'hangs up at DATA',
    stage: 'data',
    script: async (c) => {
      await c.answer('MAIL', '250 ok');
      await c.answer('RCPT', '250 ok');
      await c.expect('DATA');
      c.hangUp();
    },
  },
  {
    name: 'stalls at DATA',
    timeouts: { dataMs: 50 },
    stage: 'data',
    script: async (c) => {
      await c.answer('MAIL', '250 ok');
      await c.answer('RCPT', '250 ok');
      await c.expect('DATA');
      await c.closed();
    },
  },
  {
    name: 'answers DATA with 250',
    stage: 'data',
    script: async (c) => {
      await c.answer('MAIL', '250 ok');
      await c.answer('RCPT', '250 ok');
      await c.answer('DATA', '250 fine');
    },
    response: /unexpected reply 250 fine/,
  },
  {
    name: 'resets in the body',
    stage: 'data',
    message: huge,
    script: async (c) => {
      await upToData(c);
      c.socket.once('data', () => c.reset());
      await c.closed();
    },
  },
  {
    name: 'takes no body',
    timeouts: { dataBlockMs: 50 },
    stage: 'data',
    message: huge,
    script: async (c) => {
      await upToData(c);
      c.stopReading();
      await c.closed();
    },
    response: /no data taken within 0.05 s/,
  },
  {
    name: 'says 250 in the body',
    stage: 'data',
    message: huge,
    script: async (c) => {
      await upToData(c);
      c.stopReading();
      c.say('250 thanks');
      await c.closed();
    },
    response: /unexpected reply 250/,
  },
  {
    name: 'hangs up after the dot',
    stage: 'dot',
    afterDot: true,
    script: async (c) => {
      await c.takeMessage();
      c.hangUp();
    },
  },
  {
    name: 'resets after the dot',
    stage: 'dot',
    afterDot: true,
    script: async (c) => {
      await c.takeMessage();
      c.reset();
    },
  },
  {
    name: 'stalls after the dot',
    timeouts: { dotMs: 50 },
    stage: 'dot',
    afterDot: true,
    script: async (c) => {
      await c.takeMessage();
      await c.closed();
    },
    response: /no reply within 0.05 s/,
  },
  {
    name: 'hangs up within the last reply',
    stage: 'dot',
    afterDot: true,
    script: async (c) => {
      await c.takeMessage();
      c.sayRaw('250 o');
      c.hangUp();
    },
  },
  {
    name: 'talks nonsense after the dot',
    stage: 'dot',
    afterDot: true,
    script: async (c) => {
      await c.takeMessage();
      c.say('thank you');
    },
    response: /not an SMTP reply: thank you/,
  },
  {
    name: 'says 354 after the dot',
    stage: 'dot',
    afterDot: true,
    script: async (c) => {
      await c.takeMessage();
      c.say('354 more');
    },
    response: /unexpected reply 354/,
  },
];

for (const { name, script, stage, afterDot = false, ...losing } of losses) {
  const { response = /./, message = letter.message, timeouts = {} } = losing;
  for (const keywords of [[], ['PIPELINING']]) {
    t.test(`lost: ${name} ${keywords}`, async (t) => {
      const scene: PeerScript = async (c) => {
        await c.welcome(...keywords);
        await script(c);
      };
      const { session } = await open(t, scene, timeouts);
      const sent = await session.send({ ...letter, message });
      t.match(sent, { kind: 'lost', afterDot, peer: { stage, smtpCode: null, response } });
      t.equal(session.usable, false);
    });
  }
}

t.test('abort', async (t) => {
  const sendAndAbort = async (t: Test, script: (c: PeerConnection, abort: () => void) => Promise<unknown>) => {
    const controller = new AbortController();
    const { session } = await open(t, async (c) => {
      await c.welcome();
      await script(c, () => controller.abort());
      await c.closed();
    });
    return session.send({ ...letter, signal: controller.signal });
  };

  await t.test('before the dot', async (t) => {
    const sent = await sendAndAbort(t, (c, abort) => c.expect('MAIL').then(abort));
    t.match(sent, { kind: 'lost', afterDot: false, peer: { stage: 'mail', response: 'aborted' } });
  });

  await t.test('after the dot', async (t) => {
    const sent = await sendAndAbort(t, (c, abort) => c.takeMessage().then(abort));
    t.match(sent, { kind: 'lost', afterDot: true, peer: { stage: 'dot', response: 'aborted' } });
  });

  await t.test('before anything', async (t) => {
    const { peer, session } = await open(t, (c) => c.welcome());
    const sent = await session.send({ ...letter, signal: AbortSignal.abort() });
    t.match(sent, { kind: 'lost', afterDot: false, peer: { response: 'aborted' } });
    t.equal(peer.heard.length, 1);
  });

  await t.test('by destroy', async (t) => {
    let session: SmtpSession | null = null;
    const opened = await open(t, async (c) => {
      await c.welcome();
      await c.expect('MAIL');
      session?.destroy();
      await c.closed();
    });
    session = opened.session;
    t.match(await session.send(letter), { kind: 'lost', afterDot: false, peer: { response: 'session destroyed' } });
  });
});
