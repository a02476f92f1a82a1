// Ready-made POST /emails requests: all that differs from one to the next is a number, in recipient,
// subject and Idempotency-Key, written into a copy of the same bytes.
import { randomBytes } from 'node:crypto';
import { SAMPLE } from './sample-mail.ts';

export interface RequestPlan {
  token: string;
  from: string;
  /** Recipients' domains, taken in turn. */
  domains: string[];
}

const NUMBER = '0000000000';
const ZERO = 0x30;

interface Template {
  bytes: Buffer;
  numberAt: number[];
}

export class SendRequests {
  readonly #templates: Template[];
  #count = 0;

  constructor(plan: RequestPlan) {
    // Apart from other runs against the same daemon: their keys would be replays.
    const run = randomBytes(6).toString('hex');
    this.#templates = plan.domains.map((domain) => template(plan, domain, run));
  }

  next(): Buffer {
    const { bytes, numberAt } = this.#templates[this.#count % this.#templates.length]!;
    const request = Buffer.from(bytes);
    const number = ++this.#count;
    for (const at of numberAt) writeNumber(request, at, number);
    return request;
  }
}

function template({ token, from }: RequestPlan, domain: string, run: string): Template {
  const to = `Customer <customer-${NUMBER}@${domain}>`;
  const message = { from, to, ...SAMPLE, subject: `${SAMPLE.subject} (${NUMBER})` };
  const body = Buffer.from(JSON.stringify(message));
  const head = [
    'POST /emails HTTP/1.1',
    'Host: 127.0.0.1',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Idempotency-Key: ${run}-${NUMBER}`,
    `Content-Length: ${body.length}`,
    '\r\n',
  ].join('\r\n');
  const bytes = Buffer.concat([Buffer.from(head), body]);
  const numberAt: number[] = [];
  for (let at = bytes.indexOf(NUMBER); at >= 0; at = bytes.indexOf(NUMBER, at + 1)) numberAt.push(at);
  return { bytes, numberAt };
}

function writeNumber(request: Buffer, at: number, number: number): void {
  let left = number;
  for (let digit = at + NUMBER.length - 1; digit >= at; digit--) {
    request[digit] = ZERO + (left % 10);
    left = Math.trunc(left / 10);
  }
}
