// Real servers take the commands of the next message behind the final dot of the one before
// (RFC 2920 section 3.1): each message gets its own answer, over one connection.
import t, { type Test } from 'tap';
import { type OutgoingMessage, openSession } from '../../../src/protocol/smtp/session.ts';
import { noExim, startExim } from '../../support/exim-server.ts';
import { findFreePort } from '../../support/free-port.ts';
import { noPostfix, startPostfix } from '../../support/postfix-server.ts';
import { noSmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';

const MESSAGES = 20;

const letterTo = (rcptTo: string, count: number): OutgoingMessage => ({
  mailFrom: 'a@postrider.test',
  rcptTo,
  message: Buffer.from(`Subject: message ${count}\r\n\r\n${'one\r\n.\r\n..two\r\n'.repeat(count * 100)}`),
  needs: { smtputf8: false, eightBit: false },
});

async function sendAnnounced(t: Test, { ip, port, rcptTo }: { ip: string; port: number; rcptTo: string }) {
  const opened = await openSession({ mx: 'mx.peer.test', ip, port, ehloName: 'out.test', tls: 'none' });
  if (opened.kind !== 'open') throw new Error(opened.peer.response);
  const { session } = opened;
  t.teardown(() => session.destroy());
  t.equal(session.capabilities.pipelining, true);
  const letters = Array.from({ length: MESSAGES }, (_, count) => letterTo(rcptTo, count));
  const answers = new Set<string>();
  for (const [index, letter] of letters.entries()) {
    t.equal(session.awaits(letter), index > 0, index > 0 ? 'announced' : 'the first');
    const sent = await session.send(letter, () => letters[index + 1] ?? null);
    t.match(sent, { kind: 'accepted', peer: { stage: 'dot', smtpCode: 250 } });
    answers.add(sent.peer.response);
  }
  t.equal(session.usable, true, 'the connection is as good as before');
  await session.close();
  return answers;
}

t.test('Postfix', { skip: noPostfix }, async (t) => {
  const ip = '127.0.0.2';
  const port = await findFreePort([ip]);
  const postfix = await startPostfix({ port, settings: {}, listeners: { [ip]: {} } });
  t.teardown(() => postfix.close());
  const answers = await sendAnnounced(t, { ip, port, rcptTo: 'ann@tls.test' });
  t.equal(answers.size, MESSAGES, 'each has a queue id of its own');
});

t.test('Exim', { skip: noExim }, async (t) => {
  const ip = '127.0.0.8';
  const port = await findFreePort([ip]);
  const exim = await startExim({ address: ip, port });
  t.teardown(() => exim.close());
  const answers = await sendAnnounced(t, { ip, port, rcptTo: 'ann@rcpt.test' });
  t.equal(answers.size, MESSAGES, 'each has a queue id of its own');
  t.equal((await exim.bodies()).length, MESSAGES);
});

t.test('smtp-sink', { skip: noSmtpSink }, async (t) => {
  const ip = '127.0.0.9';
  const port = await findFreePort([ip]);
  const sink = await startSmtpSink(ip, port);
  t.teardown(() => sink.stop());
  await sendAnnounced(t, { ip, port, rcptTo: 'ann@rcpt.test' });
});
