// What the header of a written mail asks for, and how it is refused: with the name of the field that is there.
import t from 'tap';
import { isRefusal } from '../../src/base/refusals.ts';
import { readWrittenHeader } from '../../src/protocol/mail/written/written-header.ts';
import { readWrittenOrder } from '../../src/submission/submit-written.ts';

const ADDED = { date: new Date('2026-11-26T10:00:00Z'), id: '01931f00-0000-7000-8000-000000000001' };

function order(...lines: string[]) {
  const header = readWrittenHeader(Buffer.from(`${['From: jo@acme.example', ...lines].join('\r\n')}\r\n\r\n`), ADDED);
  if ('problem' in header) return header.problem;
  const read = readWrittenOrder({ header }, ADDED.date.getTime());
  return isRefusal(read) ? read.message : read;
}

t.test('a wrong idempotency key is refused with the name of its header', async (t) => {
  for (const name of ['X-Postrider-Idempotency-Key', 'Idempotency-Key', 'Resend-Idempotency-Key']) {
    t.equal(order(`${name}:`), `${name}: must not be empty; omit the header instead.`);
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
