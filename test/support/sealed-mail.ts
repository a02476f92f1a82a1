// A written mail that says in its header what its body must be, so that whoever receives it can tell whether a part of it is
// missing or another's.
import { createHash } from 'node:crypto';

export interface SealedMail {
  from: string;
  subject: string;
  idempotencyKey: string | null;
  /** Of the body; a little more. */
  bytes: number;
}

const SEAL = 'X-Body-SHA256';

export function sealedMail({ from, subject, idempotencyKey, bytes }: SealedMail): Buffer {
  const lines: string[] = [];
  for (let length = 0, number = 1; length < bytes; number++) {
    // Some begin with a dot: what is stuffed must come out again.
    const line = `${number % 7 === 0 ? '.' : ''}Line ${number} of ${subject}: ${'x'.repeat(number % 60)}\r\n`;
    lines.push(line);
    length += line.length;
  }
  const body = lines.join('');
  const header = [
    `From: Shop <${from}>`,
    `Subject: ${subject}`,
    `Message-ID: <${subject}@app.example>`,
    ...(idempotencyKey === null ? [] : [`X-Postrider-Idempotency-Key: ${idempotencyKey}`]),
    `${SEAL}: ${hashOf(body)}`,
  ];
  return Buffer.from([...header, '', body].join('\r\n'));
}

/** True as well for mail without a seal. */
export function isUnbroken(raw: Buffer): boolean {
  const end = raw.indexOf('\r\n\r\n');
  const seal = new RegExp(`^${SEAL}: (\\w+)\r$`, 'm').exec(raw.toString('latin1', 0, end + 2))?.[1];
  return seal === undefined || seal === hashOf(raw.subarray(end + 4));
}

function hashOf(body: Buffer | string): string {
  return createHash('sha256').update(body).digest('hex');
}
