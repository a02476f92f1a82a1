// Bodies of the Resend door. What is translated says what was written, in the shape that our own API has checked; what is
// refused has a name that the SDKs know.
import { readBody } from '../../../src/api/body/read-body.ts';
import { loadResendEmail, type TranslatedEmail } from '../../../src/api/resend/email-shape.ts';
import { resendRefusal } from '../../../src/api/resend/resend-errors.ts';
import { readScheduledAt } from '../../../src/api/resend/scheduled-at.ts';
import { isRefusal } from '../../../src/base/refusals.ts';
import { readSendRequest } from '../../../src/submission/send-request.ts';
import type { FuzzTarget } from '../target.ts';
import { type Material, mutateText } from '../text-mutations.ts';

const BASE = { from: 'Shop <a@acme.test>', to: ['jo@example.com', 'b@example.com'], subject: 'Hello', text: 'Hi' };
const EMAILS: object[] = [
  BASE,
  {
    ...BASE,
    cc: 'c@example.com',
    bcc: ['d@example.com'],
    reply_to: 'e@example.com',
    html: '<p>Hi</p>',
    headers: { X: 'y' },
  },
  { ...BASE, attachments: [{ filename: 'a.pdf', content: [0, 1, 254, 255], content_id: 'logo' }] },
  { ...BASE, attachments: [{ filename: 'a.pdf', content: Buffer.from('Hi').toJSON(), content_type: 'text/plain' }] },
  {
    ...BASE,
    attachments: [
      { filename: 'a.pdf', content: 'SGk=' },
      { filename: 'b', path: 'https://example.com/b' },
    ],
  },
  { ...BASE, tags: [{ name: 'kind', value: 'order' }], scheduled_at: 'in 5 min', topic_id: null },
  { ...BASE, scheduled_at: '2026-11-26T09:00:00.000Z' },
  { from: BASE.from, to: BASE.to, template: { id: '018f0000-0000-7000-8000-000000000000', variables: { a: [1] } } },
];
const MATERIAL: Material = {
  seeds: EMAILS.map((email) => JSON.stringify(email)),
  words: [
    ...[
      'null',
      '[]',
      '{}',
      '""',
      '-1',
      '256',
      '1e9',
      '0.5',
      'true',
      ',7',
      '"type":"Buffer"',
      '"data":[1,2]',
      '"content":',
    ],
    ...[
      '"path":',
      '"isLetter":true',
      '"data":',
      '"__proto__":{}',
      'in 1 day',
      'in 99999999 days',
      ' mins',
      '\\ud800',
      '\\u0000',
    ],
    ...[
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '"',
      '\\',
      '"to":',
      '"template":{"id":"x"}',
      '"scheduled_at":"now"',
      '"attachments":[{}]',
    ],
  ],
  longWords: [`[${Array(20_000).fill('7')}]`, '['.repeat(20_000), `"${'x'.repeat(70_000)}"`],
};
const NOW = Date.UTC(2026, 10, 25);

export const resendEmailTarget: FuzzTarget = {
  name: 'resend-email',
  open() {
    const shape = loadResendEmail();
    const reached = { translated: 0, accepted: 0, refused: 0 };
    return {
      mutate: (random) => mutateText(MATERIAL, random),
      show: (text) => text,
      reached,
      run(text: string) {
        const email = readBody(Buffer.from(text), shape);
        if (isRefusal(email)) {
          reached.refused++;
          const { status, body } = resendRefusal(email, {});
          const { statusCode, name, message } = JSON.parse(String(body));
          return statusCode === status && /^[a-z_]+$/.test(name) && /[.?]$/.test(message)
            ? null
            : `not a refusal: ${body}`;
        }
        reached.translated++;
        if (!isRefusal(readSendRequest(email.body, NOW))) reached.accepted++;
        return problemWith(JSON.parse(text), email);
      },
    };
  },
} as FuzzTarget;

// biome-ignore lint/suspicious/noExplicitAny: what was written, which the shape has let through
function problemWith(written: any, { body, variables, scheduledAt }: TranslatedEmail): string | null {
  if (body.isLetter !== true || 'data' in body) return 'not what the door makes';
  for (const [index, { content }] of (body.attachments ?? []).entries()) {
    const given = written.attachments[index].content;
    const bytes = typeof given === 'string' ? null : Buffer.from(given.data ?? given);
    if (content !== (bytes?.toString('base64') ?? given)) return `attachment ${index} is another`;
  }
  if (variables !== null) JSON.parse(variables);
  if (scheduledAt === null) return null;
  const read = readScheduledAt(scheduledAt, NOW);
  if (!read.ok) return read.problem.endsWith('.') ? null : `not a sentence: ${read.problem}`;
  return read.sendAt === scheduledAt.trim() || Date.parse(read.sendAt) >= NOW ? null : `scheduled at ${read.sendAt}`;
}
