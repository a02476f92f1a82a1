// The receiving MTA of the sandbox, spoken to over real SMTP: what each magic recipient gets,
// and what is kept of what was accepted.
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import t from 'tap';
import { findNamedDelay } from '../../src/protocol/smtp/named-delay.ts';
import { patience } from '../support/patience.ts';
import { SENDER, sendTo, startCapture, verdictOf } from './capture-kit.ts';

t.test('each magic recipient, with or without +anything, in any case', async (t) => {
  const { connect, folder } = await startCapture(t, { slowMs: 1 });
  const session = await connect();
  const expected: [string, string][] = [
    ['jo@example.com', 'accepted'],
    ['bounce@example.com', '550 5.1.1 at rcpt'],
    ['bounce+42@example.org', '550 5.1.1 at rcpt'],
    ['BOUNCE+x+y@example.org', '550 5.1.1 at rcpt'],
    ['block@example.com', '550 5.7.1 at rcpt'],
    ['full@example.com', '452 4.2.2 at rcpt'],
    ['full@example.com', '452 4.2.2 at rcpt'],
    ['slow+1@example.com', 'accepted'],
    ['later-bounce@example.com', 'accepted'],
    ['complain@example.com', 'accepted'],
    ['bouncer@example.com', 'accepted'],
    ['no+bounce@example.com', 'accepted'],
    ['constructor@example.com', 'accepted'],
    ['"a b"@example.com', 'accepted'],
    ['"a <b> c"@example.com', 'accepted'],
  ];
  for (const [recipient, verdict] of expected) {
    t.equal(verdictOf(await sendTo(session, recipient)), verdict, recipient);
  }
  const kept = folder.list(null, 100).flatMap(({ rcptTo }) => rcptTo);
  t.same(
    kept,
    expected.filter(([, verdict]) => verdict === 'accepted').map(([recipient]) => recipient),
    'what was accepted is kept, in order, and nothing else',
  );
});

t.test('defer puts off the first try of each message and recipient, and says for how long', async (t) => {
  const { connect } = await startCapture(t);
  const session = await connect();
  const first = await sendTo(session, 'defer@example.com');
  t.equal(verdictOf(first), '451 4.7.1 at rcpt');
  t.equal(findNamedDelay(first.peer.response), 5000);
  t.equal(verdictOf(await sendTo(session, 'defer@example.com')), 'accepted');
  t.equal(verdictOf(await sendTo(session, 'defer+2@example.com')), '451 4.7.1 at rcpt', 'another recipient');
  const other = await sendTo(session, 'defer@example.com', { mailFrom: 'bmessage2@bounces.postrider.test' });
  t.equal(verdictOf(other), '451 4.7.1 at rcpt', 'another message');
});

t.test('slow answers after its pause, and holds up nobody else', async (t) => {
  const slowMs = patience(400);
  const { connect, folder } = await startCapture(t, { slowMs });
  const [slow, quick] = await Promise.all([connect(), connect()]);
  const startedAt = performance.now();
  let isOver = false;
  const pausing = sendTo(slow, 'slow@example.com').finally(() => {
    isOver = true;
  });
  t.equal(verdictOf(await sendTo(quick, 'jo@example.com')), 'accepted');
  t.equal(isOver, false, 'the other one did not wait');
  t.equal(verdictOf(await pausing), 'accepted');
  t.ok(performance.now() - startedAt >= slowMs);
  t.same(
    folder.list(null, 9).map(({ rcptTo }) => rcptTo[0]),
    ['jo@example.com', 'slow@example.com'],
    'listed in the order in which they were taken in',
  );
});

t.test('what is kept is what came, with its envelope and its TLS', async (t) => {
  const { connect, folder } = await startCapture(t);
  const message = 'From: Jürgen <j@example.com>\r\nSubject: Grüße\r\n\r\n.dot\r\n..dots\r\n\r\nEnde\r\n';
  const before = Date.now();
  const secure = await connect('opportunistic');
  t.match(secure.tlsUnverified, /self.signed/i, 'a certificate that nobody vouches for');
  t.equal(verdictOf(await sendTo(secure, 'günther@example.com', { message, smtputf8: true })), 'accepted');
  t.equal(verdictOf(await sendTo(await connect('none'), 'jo@example.com', { mailFrom: '' })), 'accepted');

  const [first, second, ...more] = folder.list(null, 100);
  t.same(more, []);
  t.match(first, {
    mailFrom: SENDER,
    rcptTo: ['günther@example.com'],
    sizeBytes: Buffer.byteLength(message),
    remoteIp: '127.0.0.1',
    ehloName: 'client.test',
    tls: { version: 'TLSv1.3', cipher: /^TLS_/ },
  });
  t.ok(first!.receivedAt >= before && first!.receivedAt <= Date.now());
  t.match(second, { mailFrom: '', tls: null });
  t.equal((await folder.get(first!.id))!.raw.toString(), message, 'to the byte');
  t.same(folder.list(first!.id, 1), [second], 'the ones after an id');
});

t.test('one message to several recipients', async (t) => {
  const { port, folder } = await startCapture(t);
  const rcpt = ['a@example.com', 'bounce@example.com', 'b@example.com'].map((address) => `RCPT TO:<${address}>`);
  const answers = await dialog(port, ['EHLO x', `MAIL FROM:<${SENDER}>`, ...rcpt, 'DATA', 'Subject: x\r\n\r\nx\r\n.']);
  t.match(answers.slice(2), [/^250/, /^550 5\.1\.1/, /^250/, /^354/, /^250 2\.0\.0/]);
  t.same(
    folder.list(null, 9).map(({ rcptTo }) => rcptTo),
    [['a@example.com', 'b@example.com']],
  );
});

t.test('what it offers', async (t) => {
  const { port } = await startCapture(t);
  const [greeting] = await dialog(port, ['EHLO x']);
  t.match(greeting, /^250-mx\.capture\.test/);
  for (const keyword of ['PIPELINING', '8BITMIME', 'SMTPUTF8', 'STARTTLS', 'SIZE 26214400']) {
    t.match(greeting, new RegExp(`^250[- ]${keyword}$`, 'm'), keyword);
  }
  t.notMatch(greeting, /AUTH/);
  const [, refused] = await dialog(port, ['EHLO x', `MAIL FROM:<${SENDER}> SIZE=26214401`]);
  t.match(refused, /^552/, 'too large by its own word');
});

t.test('more than was announced is refused, and the session goes on', async (t) => {
  const { connect, folder } = await startCapture(t);
  const session = await connect();
  // The client would not even begin: this is what it thinks the server has said.
  Object.assign(session.capabilities, { maxSizeBytes: null, size: false });
  const message = Buffer.alloc(26_214_401, 'x\r\n');
  t.equal(verdictOf(await sendTo(session, 'jo@example.com', { message })), '552 5.3.4 at dot');
  t.same(folder.list(null, 9), []);
  t.equal(verdictOf(await sendTo(session, 'jo@example.com')), 'accepted');
});

t.test('a folder that takes nothing makes it a temporary refusal', async (t) => {
  const { folder } = await startCapture(t);
  const add = () => Promise.reject(new Error('disk full'));
  const { connect } = await startCapture(t, { folder: { ...folder, add } });
  t.equal(verdictOf(await sendTo(await connect(), 'jo@example.com')), '451 4.3.0 at dot');
});

t.test('it closes at once, whoever is still there', async (t) => {
  const { connect, close, folder } = await startCapture(t);
  const session = await connect();
  const sending = sendTo(session, 'slow@example.com');
  await sendTo(await connect(), 'jo@example.com');
  await close();
  t.equal(verdictOf(await sending), '451 4.3.0 at dot', 'what had to wait is not lost: its sender hears so');
  t.equal(folder.list(null, 9).length, 1);
});

/** Says each line and waits for its answer; the answers without the greeting, lines joined by LF. */
async function dialog(port: number, commands: string[]): Promise<string[]> {
  const socket = connect(port, '127.0.0.1');
  const answers: string[] = [];
  let lines: string[] = [];
  try {
    for await (const line of createInterface(socket)) {
      lines.push(line);
      if (line[3] === '-') continue;
      answers.push(lines.join('\n'));
      lines = [];
      const next = commands[answers.length - 1];
      if (next === undefined) break;
      socket.write(`${next}\r\n`);
    }
  } finally {
    socket.destroy();
  }
  return answers.slice(1);
}
