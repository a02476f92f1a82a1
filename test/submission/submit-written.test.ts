// What the header of a written mail asks for, and how it is refused: with the name of the field that is there. And when a
// mail that is still coming in, and others with its key, are accepted.
import t, { type Test } from 'tap';
import { isRefusal } from '../../src/base/refusals.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { readWrittenHeader } from '../../src/protocol/mail/written/written-header.ts';
import { createSubmission } from '../../src/submission/submit.ts';
import { readWrittenOrder, type WrittenMail } from '../../src/submission/submit-written.ts';
import { startApiHarness } from '../support/api-harness.ts';

const ADDED = { date: new Date('2026-11-26T10:00:00Z'), id: '01931f00-0000-7000-8000-000000000001' };

function order(...lines: string[]) {
  const header = readWrittenHeader(Buffer.from(`${['From: jo@acme.example', ...lines].join('\r\n')}\r\n\r\n`), ADDED);
  if ('problem' in header) return header.problem;
  const read = readWrittenOrder({ header }, ADDED.date.getTime());
  return isRefusal(read) ? read.message : read;
}

t.test('a wrong idempotency key is refused with the name of its header', async (t) => {
  for (const name of ['X-Postrider-Idempotency-Key', 'Idempotency-Key', 'Resend-Idempotency-Key']) {
    t.match(order(`${name}:`), new RegExp(`^${name}: is empty, .* or omit the header\\.$`));
    t.equal(order(`${name.toLowerCase()}: ${'k'.repeat(201)}`), `${name}: must have at most 200 characters.`);
    t.equal(order(`${name}: =?utf-8?Q?=C3=B6?=`), `${name}: must contain only printable ASCII characters.`);
    t.match(order(`${name}: ${'k'.repeat(200)}`), { idempotencyKey: 'k'.repeat(200) });
  }
  t.match(order('Subject: x'), { idempotencyKey: null, labels: null, sendAt: null });
});

t.test('so is what else is wrong', async (t) => {
  t.match(order('X-Postrider-Tag: gr\u00f6\u00dfe=1'), /^X-Postrider-Tag: /);
  t.match(order(`X-Postrider-Metadata: {"${'k'.repeat(200)}":"1"}`), /^X-Postrider-Metadata: /);
  t.match(order('X-Postrider-Send-At: tomorrow'), /^X-Postrider-Send-At: /);
});

async function openSubmission(t: Test) {
  const api = await startApiHarness();
  t.teardown(() => api.close());
  const { store, clock, ids } = api;
  const tenant = await api.addTenant();
  await api.addVerifiedDomain(tenant.id, 'acme.example');
  const [key] = await store.keys.listApiKeys(tenant.id);
  const sender = { id: key!.id, tenantId: tenant.id, boundDomain: null };
  const submission = createSubmission({
    ...{
      store,
      clock,
      ids,
      log: silentLogger,
      lifetimeMs: 3_600_000,
      passages: { mayFind: () => false, find: () => null },
    },
    ...{
      templates: { render: () => Promise.reject(new Error('there are no templates')) },
      onAccepted: () => {},
      onScheduled: () => {},
    },
  });
  return { ids, sender, submission };
}

type Opened = Awaited<ReturnType<typeof openSubmission>>;

/** Whose body has come in when `whole` is settled. */
function halfSent({ ids, sender, submission }: Opened, idempotencyKey: string) {
  const lines = `From: jo@acme.example\r\nIdempotency-Key: ${idempotencyKey}\r\n\r\n`;
  const header = readWrittenHeader(Buffer.from(lines), ADDED);
  if ('problem' in header) throw new Error(header.problem);
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: whole, resolve: finish } = Promise.withResolvers<void>();
  const last = Buffer.from('Hello.\r\n');
  const written = { header: header.leaving, messageId: header.messageId, pieces: 1, bytes: last.length, last };
  const recipient = { address: 'ann@x.example', name: null, domain: 'x.example', suppressionKey: 'ann@x.example' };
  const mail: WrittenMail = {
    ...{ id: ids.next(), sender, header, recipients: [recipient] },
    async keepBody() {
      begin();
      await whole;
      return { source: 'smtp', ...written, bodyHash: 'not looked at', eightBit: false };
    },
  };
  return { id: mail.id, begun, finish, answer: submission.submitWritten(mail) };
}

function call({ submission, sender }: Opened, key: string) {
  const body = { from: 'jo@acme.example', to: 'ann@x.example', subject: 'x', text: 'x' };
  return submission.submit(sender, key, { bytes: 100, read: () => body });
}

t.test('a mail that is still coming in holds up nobody who has its key', async (t) => {
  const opened = await openSubmission(t);
  const slow = halfSent(opened, 'k');
  await slow.begun;
  const answer = await call(opened, 'k');
  if (isRefusal(answer)) throw new Error(answer.message);
  t.equal(answer.replayed, false, 'a call is accepted meanwhile');
  slow.finish();
  t.strictSame(await slow.answer, { receipt: answer.receipt, replayed: true }, 'the mail gets its receipt');

  const [first, second] = [halfSent(opened, 'k2'), halfSent(opened, 'k2')];
  await Promise.all([first.begun, second.begun]);
  second.finish();
  const won = await second.answer;
  t.match(won, { receipt: { id: second.id }, replayed: false }, 'the one that is whole first');
  first.finish();
  t.match(await first.answer, { receipt: { id: second.id }, replayed: true });

  const later = halfSent(opened, 'k');
  t.strictSame(await later.answer, { receipt: answer.receipt, replayed: true }, 'a repeated one is not even read');
});

t.test('of mails that are whole at the same time, one is accepted', async (t) => {
  const opened = await openSubmission(t);
  const mails = Array.from({ length: 5 }, () => halfSent(opened, 'k'));
  await Promise.all(mails.map(({ begun }) => begun));
  for (const { finish } of mails) finish();
  const answers = (await Promise.all(mails.map(({ answer }) => answer))).map((answer) => {
    if (isRefusal(answer)) throw new Error(answer.message);
    return answer;
  });
  t.equal(answers.filter(({ replayed }) => !replayed).length, 1);
  t.equal(new Set(answers.map(({ receipt }) => receipt.id)).size, 1);
});
