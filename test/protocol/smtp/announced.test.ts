// The commands of the next message behind the final dot of the one before (RFC 2920 section 3.1).
import t, { type Test } from 'tap';
import { type OutgoingMessage, openSession } from '../../../src/protocol/smtp/session.ts';
import { type PeerConnection, type PeerScript, startPeer } from '../../support/smtp-peer.ts';

const letter = (name: string): OutgoingMessage => ({
  mailFrom: 'a@postrider.test',
  rcptTo: `${name}@peer.test`,
  message: Buffer.from(`Subject: ${name}\r\n\r\nhello\r\n`),
  needs: { smtputf8: false, eightBit: false },
});

async function open(t: Test, script: PeerScript) {
  const peer = await startPeer([script]);
  t.teardown(() => peer.close());
  const options = { mx: 'mx.peer.test', ip: '127.0.0.1', port: peer.port, ehloName: 'out.test', tls: 'none' } as const;
  const result = await openSession(options);
  if (result.kind !== 'open') throw new Error(result.peer.response);
  t.teardown(() => result.session.destroy());
  return { peer, session: result.session };
}

t.test('the server hears of the next message before it has answered to this one', async (t) => {
  const [first, second, third] = [letter('first'), letter('second'), letter('third')];
  const { peer, session } = await open(t, async (c) => {
    await c.hearFirstAndCommands();
    c.say('250 2.0.0 one', '250 ok', '250 ok', '354 go');
    await c.takeBody();
    await c.hearCommands();
    c.say('250 2.0.0 two', '250 ok', '250 ok', '354 go');
    await c.takeBody();
    c.say('250 2.0.0 three');
    await c.answer('QUIT', '221 bye');
  });
  t.match(await session.send(first, () => second), { kind: 'accepted', peer: { response: 'one' } });
  t.equal(session.awaits(second), true);
  t.equal(session.usable, false, 'for another one');
  t.match(await session.send(second, () => third), { kind: 'accepted', peer: { response: 'two' } });
  t.match(await session.send(third), { kind: 'accepted', peer: { response: 'three' } });
  t.equal(session.usable, true);
  await session.close();
  t.same(
    peer.heard.filter((line) => line.startsWith('RCPT')),
    ['first', 'second', 'third'].map((name) => `RCPT TO:<${name}@peer.test>`),
  );
  t.same(
    peer.bodies.map((body) => /Subject: (\w+)/.exec(body.toString())![1]),
    ['first', 'second', 'third'],
  );
});

t.test('behind a message of many blocks, too', async (t) => {
  const second = letter('second');
  const large = { ...letter('first'), message: Buffer.from('0123456789 abcdefghij\r\n'.repeat(30_000)) };
  const { peer, session } = await open(t, async (c) => {
    await c.hearFirstAndCommands();
    c.say('250 2.0.0 one', '250 ok', '250 ok', '354 go');
    await c.takeBody();
    c.say('250 2.0.0 two');
    await c.closed();
  });
  t.match(await session.send(large, () => second), { kind: 'accepted', peer: { response: 'one' } });
  t.match(await session.send(second), { kind: 'accepted', peer: { response: 'two' } });
  t.equal(peer.bodies[0]!.equals(large.message), true);
});

t.test('nothing is announced behind a body that the server interrupts', async (t) => {
  let asked = 0;
  const { session } = await open(t, async (c) => {
    await c.welcome('PIPELINING');
    await c.hearCommands();
    c.say('250 ok', '250 ok', '354 go', '421 4.3.2 shutting down');
    await c.closed();
    c.assertQuiet();
  });
  const next = () => {
    asked++;
    return letter('second');
  };
  t.match(await session.send(letter('first'), next), { kind: 'refused', peer: { stage: 'data', smtpCode: 421 } });
  t.equal(asked, 0);
});

t.test('answers may come in any packets', async (t) => {
  const second = letter('second');
  const { session } = await open(t, async (c) => {
    await c.hearFirstAndCommands();
    await c.saySlowly('250-2.0.0 one\r\n250 2.0.0 is here\r\n250 2.1.0 ok\r\n250 ok\r\n354 go\r\n');
    await c.takeBody();
    await c.saySlowly('250 2.0.0 two\r\n');
    await c.closed();
  });
  t.match(await session.send(letter('first'), () => second), { peer: { response: 'one is here' } });
  t.match(await session.send(second), { kind: 'accepted', peer: { response: 'two' } });
});

t.test('not told of before its turn is', async (t) => {
  const quietThenTwo: (...keywords: string[]) => PeerScript =
    (...keywords) =>
    async (c) => {
      await c.welcome(...keywords);
      for (let messages = 0; messages < 2; messages++) {
        await c.takeMessage();
        c.assertQuiet();
        c.say('250 ok');
      }
      await c.closed();
    };
  const small = letter('second');
  const large = { ...small, message: Buffer.alloc(101, 'a') };
  const unsafe = { ...small, rcptTo: 'b@peer.test>\r\nRCPT TO:<c@peer.test' };
  const cases = [
    { why: 'a message to a server without PIPELINING', keywords: [], next: () => small },
    { why: 'a message that is not known by then', keywords: ['PIPELINING'], next: () => null },
    { why: 'a message that is too large for this server', keywords: ['PIPELINING', 'SIZE 100'], next: () => large },
    { why: 'an address that would be a command', keywords: ['PIPELINING'], next: () => unsafe },
  ];
  for (const { why, keywords, next } of cases) {
    await t.test(why, async (t) => {
      const { session } = await open(t, quietThenTwo(...keywords));
      t.equal((await session.send(letter('first'), next)).kind, 'accepted');
      t.equal(session.usable, true);
      t.equal((await session.send(letter('third'))).kind, 'accepted');
    });
  }
});

t.test('nor is one behind a message that is refused before its body', async (t) => {
  const second = letter('second');
  const { session } = await open(t, async (c) => {
    await c.welcome('PIPELINING');
    await c.hearCommands();
    c.say('250 ok', '550 5.1.1 no', '503 no');
    await c.expect('RSET');
    await c.hearCommands();
    c.say('250 ok', '250 ok', '250 ok', '354 go');
    await c.takeBody();
    c.say('250 2.0.0 two');
    await c.closed();
  });
  t.match(await session.send(letter('first'), () => second), { kind: 'refused', peer: { stage: 'rcpt' } });
  t.equal(session.awaits(second), false);
  t.match(await session.send(second), { kind: 'accepted', peer: { response: 'two' } });
});

t.test('a message that is refused at its dot takes the next one nowhere', async (t) => {
  const [second, third] = [letter('second'), letter('third')];
  const { peer, session } = await open(t, async (c) => {
    await c.hearFirstAndCommands();
    c.say('554 5.7.1 spam', '250 ok', '550 5.1.1 no such user', '354 go');
    // The recipient was refused and the server waits for a message all the same: an empty one ends it.
    await c.takeBody();
    c.say('554 no valid recipients');
    await c.expect('RSET');
    await c.hearCommands();
    c.say('250 flushed', '250 ok', '250 ok', '354 go');
    await c.takeBody();
    c.say('250 2.0.0 three');
    await c.closed();
  });
  t.match(await session.send(letter('first'), () => second), {
    kind: 'refused',
    peer: { stage: 'dot', smtpCode: 554 },
  });
  t.match(await session.send(second), { kind: 'refused', peer: { stage: 'rcpt', smtpCode: 550 } });
  t.match(await session.send(third), { kind: 'accepted', peer: { response: 'three' } });
  t.same(
    peer.bodies.map(({ length }) => length > 0),
    [true, false, true],
    'the second one was never sent',
  );
});

t.test('whatever ends the session behind the verdict is no verdict about the next message', async (t) => {
  const endings: { name: string; script(c: PeerConnection): void; result: object }[] = [
    { name: 'closed', script: (c) => c.hangUp(), result: { kind: 'lost', afterDot: false, peer: { stage: 'mail' } } },
    {
      name: 'closed by 421',
      script: (c) => c.say('421 4.7.0 enough for today'),
      result: { kind: 'refused', peer: { stage: 'mail', smtpCode: 421 } },
    },
  ];
  for (const { name, script, result } of endings) {
    await t.test(name, async (t) => {
      const second = letter('second');
      const { session } = await open(t, async (c) => {
        await c.hearFirstAndCommands();
        c.say('250 2.0.0 one');
        script(c);
        await c.closed();
      });
      t.equal((await session.send(letter('first'), () => second)).kind, 'accepted');
      t.match(await session.send(second), result);
      t.equal(session.usable, false);
    });
  }
});

t.test('one whose own verdict never comes leaves the next one untouched', async (t) => {
  const second = letter('second');
  const { session } = await open(t, async (c) => {
    await c.hearFirstAndCommands();
    c.reset();
  });
  t.match(await session.send(letter('first'), () => second), { kind: 'lost', afterDot: true });
  t.match(await session.send(second), { kind: 'lost', afterDot: false, peer: { stage: 'mail' } });
});

t.test('no other message is sent in its place, and nothing empty when none comes', async (t) => {
  for (const end of ['another', 'close'] as const) {
    await t.test(end, async (t) => {
      const second = letter('second');
      const { peer, session } = await open(t, async (c) => {
        await c.hearFirstAndCommands();
        c.say('250 one', '250 ok', '250 ok', '354 go');
        await c.closed();
        c.assertQuiet();
      });
      await session.send(letter('first'), () => second);
      if (end === 'close') await session.close();
      else t.match(await session.send(letter('third')), { kind: 'lost', afterDot: false });
      t.equal(session.usable, false);
      t.equal(peer.bodies.length, 1);
    });
  }
});
