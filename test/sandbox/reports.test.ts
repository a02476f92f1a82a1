// later-bounce and complain: the mail that comes back, as an inbound listener gets it, and what
// happens while there is none.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { simpleParser } from 'mailparser';
import t, { type Test } from 'tap';
import { createLogger, silentLogger } from '../../src/observe/log.ts';
import { createReportSender, type ReportSender } from '../../src/sandbox/report-sender.ts';
import { findFreePort } from '../support/free-port.ts';
import { type MailSink, type SinkOptions, startMailSink } from '../support/mail-sink.ts';
import { within } from '../support/patience.ts';
import { until } from '../support/until.ts';
import { SENDER, type Sending, sendTo, startCapture, verdictOf } from './capture-kit.ts';

const ORIGINAL = [
  'From: Shop <shop@hello.verified.test>',
  'To: complain@example.com',
  'Subject: Your order',
  'CFBL-Address:',
  '\tfbl@bounces.postrider.test; report=arf',
  'CFBL-Feedback-ID: 01a1fa87-a86a-7001-9a58-3a87f2a7fac4:aproof',
  '',
  'Thank you for your order.',
  '',
].join('\r\n');

async function startInbound(t: Test, options: SinkOptions = {}): Promise<MailSink> {
  const inbound = await startMailSink(options);
  t.teardown(() => inbound.close());
  return inbound;
}

interface Lines {
  sender: ReportSender;
  lines: string[];
}

function startSender(t: Test, port: number, pausesMs = [1, 1, 1]): Lines {
  const lines: string[] = [];
  const log = createLogger({ level: 'info', to: { write: (line) => void lines.push(JSON.parse(line).msg) } });
  const sender = createReportSender({ port, ehloName: 'mx.capture.test', log, pausesMs });
  t.teardown(() => sender.close());
  return { sender, lines };
}

async function sendThrough(t: Test, inbound: MailSink, recipient: string, sending: Sending = {}): Promise<void> {
  const { sender } = startSender(t, inbound.port);
  const { connect } = await startCapture(t, { reports: sender });
  const sent = await sendTo(await connect(), recipient, { message: ORIGINAL, ...sending });
  t.equal(verdictOf(sent), 'accepted', 'first it is accepted');
}

t.test('later-bounce: a delivery report comes back to the return path', async (t) => {
  const inbound = await startInbound(t);
  await sendThrough(t, inbound, 'later-bounce+7@example.com');
  const [report] = await inbound.received(1);
  t.match(report, { from: '', to: SENDER });
  const raw = report!.raw.toString();
  t.match(raw, /^Content-Type: multipart\/report; report-type=delivery-status;/m);
  t.match(raw, /^Reporting-MTA: dns; mx\.capture\.test\r$/m);
  t.match(raw, /^Final-Recipient: rfc822; later-bounce\+7@example\.com\r\nAction: failed\r\nStatus: 5\.1\.1\r$/m);
  t.match(raw, /^Diagnostic-Code: smtp; 550 5\.1\.1 /m);
  const mail = await simpleParser(report!.raw, { keepDeliveryStatus: true });
  t.same(
    mail.attachments.map((part) => part.contentType),
    ['message/delivery-status', 'text/rfc822-headers'],
  );
  const headers = mail.attachments[1]!.content.toString();
  t.match(headers, /^Subject: Your order\r?$/m);
  t.notMatch(headers, 'Thank you', 'the header, without the body');
});

t.test('complain: a complaint comes back to the address in CFBL-Address', async (t) => {
  const inbound = await startInbound(t);
  await sendThrough(t, inbound, 'complain@example.com');
  const [report] = await inbound.received(1);
  t.match(report, { from: '', to: 'fbl@bounces.postrider.test' });
  const raw = report!.raw.toString();
  t.match(raw, /^Content-Type: multipart\/report; report-type=feedback-report;/m);
  t.match(raw, /^Feedback-Type: abuse\r\nUser-Agent: \S+\r\nVersion: 1\r$/m);
  t.match(raw, /^Source-IP: 127\.0\.0\.1\r$/m);
  t.match(raw, /^Reported-Domain: hello\.verified\.test\r$/m);
  t.match(raw, `Original-Mail-From: <${SENDER}>\r\nOriginal-Rcpt-To: <complain@example.com>\r\n`);
  t.ok(raw.includes(`\r\n\r\n${ORIGINAL}`), 'the original, to the byte');
});

t.test('nobody to tell: no report', async (t) => {
  const inbound = await startInbound(t);
  await sendThrough(t, inbound, 'later-bounce@example.com', { mailFrom: '' });
  await sendThrough(t, inbound, 'complain@example.com', { message: 'Subject: x\r\n\r\nCFBL-Address: a@b.test\r\n' });
  await sendThrough(t, inbound, 'complain@example.com', { message: ORIGINAL.replace('fbl@', 'fbl@>\r\n ') });
  await sendThrough(t, inbound, 'complain@example.com');
  const [only] = await inbound.received(1);
  t.equal(only!.to, 'fbl@bounces.postrider.test');
  t.equal(inbound.mails.length, 1);
});

t.test('an 8-bit original', async (t) => {
  const inbound = await startInbound(t);
  const message = ORIGINAL.replace('Your order', 'Grüße');
  await sendThrough(t, inbound, 'later-bounce@example.com', { message, smtputf8: true });
  const [report] = await inbound.received(1);
  t.match(report!.raw.toString(), 'Subject: Grüße');
});

t.test('a listener that appears later, or says later, gets the report', async (t) => {
  let refusals = 1;
  const port = await findFreePort();
  const { sender, lines } = startSender(t, port, [1, 50, 50, 50, 50, 50, 50, 50]);
  sender.send({ rcptTo: 'fbl@bounces.postrider.test', message: Buffer.from('Subject: x\r\n'), needsEightBit: false });
  const onRcpt = () => (refusals-- > 0 ? { code: 451, text: '4.3.2 Not now' } : null);
  const inbound = await startInbound(t, { port, onRcpt });
  await inbound.received(1);
  t.same(await until('log', () => lines.length > 0 && lines), ['report delivered']);
});

t.test('when nobody ever listens it is given up, with one line', async (t) => {
  const port = await findFreePort();
  const { sender, lines } = startSender(t, port);
  sender.send({ rcptTo: SENDER, message: Buffer.from('Subject: x\r\n'), needsEightBit: false });
  t.match(await until('log', () => lines.length > 0 && lines), [/^report given up: .*ECONNREFUSED/]);
});

t.test('a report that is refused for good is not tried again', async (t) => {
  let tries = 0;
  const onRcpt = () => {
    tries++;
    return { code: 550, text: '5.1.1 No such return path' };
  };
  const inbound = await startInbound(t, { onRcpt });
  const { sender, lines } = startSender(t, inbound.port);
  sender.send({ rcptTo: SENDER, message: Buffer.from('Subject: x\r\n'), needsEightBit: false });
  t.match(await until('log', () => lines.length > 0 && lines), [/^report given up: 550 No such return path/]);
  t.equal(tries, 1);
});

t.test('many reports share few connections, also when they come one by one', async (t) => {
  let connections = 0;
  const inbound = await startInbound(t);
  const counting = createServer((socket) => {
    connections++;
    const onward = connect(inbound.port, '127.0.0.1');
    socket.pipe(onward).pipe(socket);
    for (const end of [socket, onward]) end.on('error', () => {});
  });
  t.teardown(() => counting.close());
  counting.listen(0, '127.0.0.1');
  await once(counting, 'listening');
  const { sender, lines } = startSender(t, (counting.address() as AddressInfo).port);
  const report = { rcptTo: SENDER, message: Buffer.from('Subject: x\r\n'), needsEightBit: false };
  for (let count = 0; count < 200; count++) sender.send(report);
  await inbound.received(200);
  for (let count = 1; count <= 20; count++) {
    sender.send(report);
    await inbound.received(200 + count);
  }
  t.ok(connections <= 4, `${connections} connections`);
  await until('log', () => lines.length === 220);
  t.same([...new Set(lines)], ['report delivered']);
});

t.test('closing does not wait for the next try', async (t) => {
  const sender = createReportSender({
    port: 9,
    ehloName: 'mx.capture.test',
    log: silentLogger,
    pausesMs: [86_400_000],
  });
  sender.send({ rcptTo: SENDER, message: Buffer.from('Subject: x\r\n'), needsEightBit: false });
  await t.resolves(within(10_000, 'the sender closes', sender.close()));
});
