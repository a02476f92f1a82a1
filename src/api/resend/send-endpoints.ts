// POST /resend/emails and POST /resend/emails/batch: the same calls as POST /emails and POST /emails/batch, in other words.
import type { Clock } from '../../base/clock.ts';
import { isRefusal, type Refusal } from '../../base/refusals.ts';
import { JsonText } from '../../base/text/json-text.ts';
import type { SendBody } from '../../submission/send-request.ts';
import type { Submission } from '../../submission/submit.ts';
import type { BatchReceipt } from '../../submission/submit-batch.ts';
import { ok } from '../answer.ts';
import type { ApiCall, EarlyCall, Endpoint } from '../endpoint.ts';
import { invalid } from '../query.ts';
import { loadResendBatch, loadResendEmail, type TranslatedEmail } from './email-shape.ts';
import { messageOf } from './resend-errors.ts';
import { readScheduledAt } from './scheduled-at.ts';

export interface SendParts {
  submission: Submission;
  clock: Clock;
}

export function sendEndpoints({ submission, clock }: SendParts): Endpoint[] {
  const emailShape = loadResendEmail();
  const batchShape = loadResendBatch(emailShape);
  const complete = (email: TranslatedEmail) => completed(email, clock.now());

  async function send({ key, idempotencyKey, bodyBytes, read, countRendered, header }: ApiCall) {
    const readOne = async () => {
      const email = await read(emailShape);
      return isRefusal(email) ? email : complete(email);
    };
    const traceParent = () => header('traceparent');
    const sent = { bytes: bodyBytes, read: readOne, countRendered, traceParent };
    const answer = await submission.submit(key, idempotencyKey, sent);
    return isRefusal(answer) ? answer : ok({ id: answer.receipt.id });
  }

  async function sendBatch({ key, idempotencyKey, bodyBytes, read, countAs, countRendered, header }: ApiCall) {
    const skipsRefused = readsPermissively(header('x-batch-validation'));
    if (isRefusal(skipsRefused)) return skipsRefused;
    const readAll = async () => {
      const batch = await read(batchShape);
      if (isRefusal(batch)) return batch;
      countAs(batch.emails.length);
      return { emails: batch.emails.map((email) => (isRefusal(email) ? email : complete(email))), skipsRefused };
    };
    const traceParent = () => header('traceparent');
    const sent = { bytes: bodyBytes, read: readAll, countRendered, traceParent };
    const answer = await submission.submitBatch(key, idempotencyKey, sent);
    return isRefusal(answer) ? answer : ok(batchResult(answer.receipt, skipsRefused));
  }

  const post = {
    method: 'POST',
    scope: 'emails:send',
    body: 'json',
    idempotent: true,
    refuseEarly: ({ key, idempotencyKey }: EarlyCall) => submission.refuseEarly(key, idempotencyKey),
  } as const;
  return [
    { ...post, pattern: '/resend/emails', answer: send },
    { ...post, pattern: '/resend/emails/batch', answer: sendBatch },
  ];
}

/** What needs the clock, or a class, neither of which is there in the thread that reads a large body. */
function completed({ body, variables, scheduledAt }: TranslatedEmail, now: number): SendBody | Refusal {
  const whole: SendBody = variables === null ? body : { ...body, data: new JsonText(variables) };
  if (scheduledAt === null) return whole;
  const read = readScheduledAt(scheduledAt, now);
  return read.ok ? { ...whole, send_at: read.sendAt } : invalid('scheduled_at', read.problem);
}

/** The SDK's `batchValidation`. */
function readsPermissively(validation: string | undefined): boolean | Refusal {
  if (validation === undefined || validation === 'strict') return false;
  return validation === 'permissive' || invalid('x-batch-validation', 'must be strict or permissive.');
}

/** A repeated call may ask in the other mode than the first: nothing that was refused is kept from it. */
function batchResult(receipt: BatchReceipt, isPermissive: boolean) {
  const data: { id: string }[] = [];
  const errors: { index: number; message: string }[] = [];
  for (const [index, item] of receipt.entries()) {
    if ('receipt' in item) data.push({ id: item.receipt.id });
    else errors.push({ index, message: messageOf(item) });
  }
  return isPermissive || errors.length > 0 ? { data, errors } : { data };
}
