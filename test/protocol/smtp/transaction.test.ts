// One message: every way in which it can be taken or refused; how it gets lost is in transaction-loss.test.ts.
import t, { type Test } from 'tap';
import { type OutgoingMessage, openSession } from '../../../src/protocol/smtp/session.ts';
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

t.test('accepted, step by step', async (t) => {
  const script: PeerScript = async (c) => {
    await c.welcome('SIZE 1000');
    await c.takeMessage();
    await c.saySlowly('250-2.0.0 ok\r\n250 2.0.0 queued as 4711\r\n');
    await c.answer('QUIT', '221 bye');
  };
  const { peer, session } = await open(t, script);
  t.match(await session.send(letter), {
    kind: 'accepted',
    peer: {
      mx: 'mx.peer.test',
      remoteIp: '127.0.0.1',
      stage: 'dot',
      smtpCode: 250,
      enhancedCode: '2.0.0',
      response: 'ok queued as 4711',
      tls: null,
    },
  });
  t.equal(session.usable, true);
  await session.close();
  t.same(peer.heard, [
    'EHLO out.test',
    'MAIL FROM:<a@postrider.test> SIZE=24',
    'RCPT TO:<b@peer.test>',
    'DATA',
    'QUIT',
  ]);
  t.equal(peer.bodies.join(), 'Subject: hello\r\n\r\n..dot\r\n');
});

t.test('without PIPELINING nothing is said before the answer', async (t) => {
  const { session } = await open(t, async (c) => {
    await c.welcome();
    for (const [command, reply] of [
      ['MAIL', '250 ok'],
      ['RCPT', '250 ok'],
      ['DATA', '354 go'],
    ] as const) {
      await c.expect(command);
      c.assertQuiet();
      c.say(reply);
    }
    await c.takeBody();
    c.say('250 ok');
    await c.closed();
  });
  t.equal((await session.send(letter)).kind, 'accepted');
});

t.test('with PIPELINING all commands come before the first answer', async (t) => {
  const { session } = await open(t, async (c) => {
    await c.welcome('PIPELINING');
    for (let messages = 0; messages < 2; messages++) {
      await c.expect('MAIL');
      await c.expect('RCPT');
      await c.expect('DATA');
      c.assertQuiet();
      c.say('250 ok', '250 ok', '354 go');
      await c.takeBody();
      c.say('250 ok');
    }
    await c.closed();
  });
  t.equal((await session.send(letter)).kind, 'accepted');
  t.equal((await session.send(letter)).kind, 'accepted');
});

t.test('what is needed is asked for', async (t) => {
  const { peer, session } = await open(t, async (c) => {
    await c.welcome('8BITMIME', 'SMTPUTF8');
    await c.takeMessage();
    c.say('250 ok');
    await c.closed();
  });
  const sent = await session.send({ ...letter, rcptTo: 'ü@peer.test', needs: { smtputf8: true, eightBit: true } });
  t.equal(sent.kind, 'accepted');
  t.same(peer.heard.slice(1, 3), ['MAIL FROM:<a@postrider.test> BODY=8BITMIME SMTPUTF8', 'RCPT TO:<ü@peer.test>']);
});

t.test('what the server does not offer is not tried', async (t) => {
  const { peer, session } = await open(t, async (c) => {
    await c.welcome('SIZE 30');
    await c.takeMessage();
    c.say('250 ok');
    await c.closed();
  });
  const unsupported = (need: string) => ({ kind: 'unsupported', need, peer: { stage: 'mail', smtpCode: null } });
  t.match(await session.send({ ...letter, message: Buffer.alloc(31, 'a') }), unsupported('size'));
  t.match(await session.send({ ...letter, needs: { ...needs, smtputf8: true } }), unsupported('smtputf8'));
  t.match(await session.send({ ...letter, mailFrom: 'ü@postrider.test' }), unsupported('smtputf8'));
  t.match(await session.send({ ...letter, needs: { ...needs, eightBit: true } }), unsupported('eightbit'));
  t.equal(peer.heard.length, 1, 'nothing was sent');
  t.equal((await session.send(letter)).kind, 'accepted', 'another message can go');
});

t.test('addresses that would be commands are thrown out before anything is written', async (t) => {
  const { peer, session } = await open(t, (c) => c.welcome());
  await t.rejects(session.send({ ...letter, rcptTo: 'b@peer.test>\r\nRCPT TO:<c@peer.test' }), { name: 'Fault' });
  await t.rejects(session.send({ ...letter, mailFrom: 'a\0@postrider.test' }), { name: 'Fault' });
  t.equal(peer.heard.length, 1);
  t.equal(session.usable, true);
});

interface Refusal {
  name: string;
  script: (c: PeerConnection) => Promise<unknown>;
  peer: { stage: string; smtpCode: number; enhancedCode?: string };
}

const refusals: Refusal[] = [
  {
    name: 'MAIL 450',
    async script(c) {
      await c.answer('MAIL', '450 4.1.8 unknown sender domain');
    },
    peer: { stage: 'mail', smtpCode: 450, enhancedCode: '4.1.8' },
  },
  {
    name: 'RCPT 550',
    async script(c) {
      await c.answer('MAIL', '250 ok');
      await c.answer('RCPT', '550 5.1.1 no such user');
    },
    peer: { stage: 'rcpt', smtpCode: 550, enhancedCode: '5.1.1' },
  },
  {
    name: 'DATA 451',
    async script(c) {
      await c.answer('MAIL', '250 ok');
      await c.answer('RCPT', '250 ok');
      await c.answer('DATA', '451 4.3.0 not now');
    },
    peer: { stage: 'data', smtpCode: 451 },
  },
  {
    name: 'dot 554',
    async script(c) {
      await c.takeMessage();
      c.say('554 5.7.1 spam');
    },
    peer: { stage: 'dot', smtpCode: 554, enhancedCode: '5.7.1' },
  },
];

for (const { name, script, peer: expected } of refusals) {
  t.test(`refused: ${name}; the next message goes through after RSET`, async (t) => {
    const { peer, session } = await open(t, async (c) => {
      await c.welcome();
      await script(c);
      await c.answer('RSET', '250 flushed');
      await c.takeMessage();
      c.say('250 ok');
      await c.closed();
    });
    t.match(await session.send(letter), { kind: 'refused', peer: expected });
    t.equal(session.usable, true);
    t.equal((await session.send(letter)).kind, 'accepted');
    t.equal(peer.heard.filter((line) => line === 'RSET').length, 1);
  });
}

t.test('refused, pipelined', async (t) => {
  const replies: { name: string; says: string[]; emptyDot: boolean; peer: object }[] = [
    {
      name: 'MAIL',
      says: ['451 no', '503 MAIL first', '503 MAIL first'],
      emptyDot: false,
      peer: { stage: 'mail', smtpCode: 451 },
    },
    {
      name: 'RCPT',
      says: ['250 ok', '550 5.1.1 no', '554 no valid recipients'],
      emptyDot: false,
      peer: { stage: 'rcpt', smtpCode: 550 },
    },
    { name: 'DATA', says: ['250 ok', '250 ok', '452 full'], emptyDot: false, peer: { stage: 'data', smtpCode: 452 } },
    {
      name: 'RCPT, but DATA 354',
      says: ['250 ok', '550 no', '354 go'],
      emptyDot: true,
      peer: { stage: 'rcpt', smtpCode: 550 },
    },
  ];
  for (const { name, says, emptyDot, peer: expected } of replies) {
    await t.test(name, async (t) => {
      const { peer, session } = await open(t, async (c) => {
        await c.welcome('PIPELINING');
        await c.expect('MAIL');
        await c.expect('RCPT');
        await c.expect('DATA');
        c.say(...says);
        // RFC 2920 section 3.1; the answer must not be taken for one to the next message.
        if (emptyDot) {
          await c.takeBody();
          c.say('554 no valid recipients');
        }
        await c.expect('RSET');
        await c.expect('MAIL');
        await c.expect('RCPT');
        await c.expect('DATA');
        c.say('250 flushed', '250 ok', '250 ok', '354 go');
        await c.takeBody();
        c.say('250 2.6.0 second');
        await c.closed();
      });
      t.match(await session.send(letter), { kind: 'refused', peer: expected });
      t.match(await session.send(letter), { kind: 'accepted', peer: { response: 'second' } });
      if (emptyDot) t.equal(peer.bodies[0]?.length, 0, 'the body was not sent');
    });
  }
});

t.test('421 is a refusal that ends the session', async (t) => {
  for (const keywords of [[], ['PIPELINING']]) {
    const { session } = await open(t, async (c) => {
      await c.welcome(...keywords);
      await c.answer('MAIL', '250 ok');
      await c.answer('RCPT', '421 4.7.0 too fast');
      c.hangUp();
    });
    t.match(await session.send(letter), {
      kind: 'refused',
      peer: { stage: 'rcpt', smtpCode: 421, enhancedCode: '4.7.0' },
    });
    t.equal(session.usable, false);
    t.match(await session.send(letter), { kind: 'lost', afterDot: false });
  }
});

t.test('a message whose rest is apart arrives in one piece', async (t) => {
  const { peer, session } = await open(t, async (c) => {
    await c.welcome('SIZE');
    for (let n = 0; n < 3; n++) {
      await c.takeMessage();
      c.say('250 ok');
    }
  });
  const [head, tail] = [Buffer.from('Subject: two\r\n\r\n'), Buffer.from('.first\r\n..\r\n')];
  const long = Buffer.from('0123456789 abcdefghijklmnopqrstuvwxyz\r\n'.repeat(10_000));
  t.match(await session.send({ ...letter, message: head, tail }), { kind: 'accepted' });
  t.match(await session.send({ ...letter, message: head, tail: long }), { kind: 'accepted' });
  t.match(await session.send({ ...letter, message: Buffer.concat([head, long]), tail }), { kind: 'accepted' });
  t.same(peer.bodies.map(String), [`${head}..first\r\n...\r\n`, `${head}${long}`, `${head}${long}..first\r\n...\r\n`]);
  const sizes = peer.heard.filter((line) => line.startsWith('MAIL')).map((line) => line.split('SIZE=')[1]);
  t.same(
    sizes.map(Number),
    [tail.length, long.length, long.length + tail.length].map((bytes) => head.length + bytes),
    'the size of the whole is announced',
  );
});

t.test('a refusal in the rest of a message stops it', async (t) => {
  const { session } = await open(t, async (c) => {
    await c.welcome();
    await c.answer('MAIL', '250 ok');
    await c.answer('RCPT', '250 ok');
    await c.answer('DATA', '354 go');
    c.stopReading();
    c.say('552 5.3.4 that is enough');
    await c.closed();
  });
  const sent = await session.send({ ...letter, message: Buffer.from('Subject: x\r\n\r\n'), tail: huge });
  t.match(sent, { kind: 'refused', peer: { stage: 'data', smtpCode: 552 } });
  t.equal(session.usable, false);
});

t.test('a refusal right behind 354 keeps the body from being sent', async (t) => {
  const { peer, session } = await open(t, async (c) => {
    await c.welcome();
    await c.answer('MAIL', '250 ok');
    await c.answer('RCPT', '250 ok');
    await c.answer('DATA', '354 go', '451 4.3.0 no, wait');
    await c.closed();
    c.assertQuiet();
  });
  t.match(await session.send(letter), { kind: 'refused', peer: { stage: 'data', smtpCode: 451 } });
  t.equal(session.usable, false);
  t.equal(peer.bodies.length, 0);
});

t.test('a refusal in the middle of the body stops it', async (t) => {
  const { session } = await open(t, async (c) => {
    await c.welcome('PIPELINING');
    await c.answer('MAIL', '250 ok');
    await c.answer('RCPT', '250 ok');
    await c.answer('DATA', '354 go');
    c.stopReading();
    c.say('552 5.3.4 that is enough');
    await c.closed();
  });
  const sent = await session.send({ ...letter, message: huge });
  t.match(sent, { kind: 'refused', peer: { stage: 'data', smtpCode: 552, enhancedCode: '5.3.4' } });
  t.equal(session.usable, false, 'half a body cannot be taken back');
});
