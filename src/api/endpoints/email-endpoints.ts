// POST /emails and POST /emails/batch.
import { isRefusal } from '../../base/refusals.ts';
import type { SendBody } from '../../submission/send-request.ts';
import type { Submission, SubmissionAnswer } from '../../submission/submit.ts';
import { loadSendBatch } from '../batch-shape.ts';
import { loadBodyShape } from '../body-shape.ts';
import type { ApiCall, Endpoint } from '../endpoint.ts';

export function emailEndpoints(submission: Submission): Endpoint[] {
  const shape = loadBodyShape<SendBody>('send-email');
  const batchShape = loadSendBatch(shape);

  async function send({ key, idempotencyKey, bodyBytes, read, countRendered, header }: ApiCall) {
    const traceParent = () => header('traceparent');
    const body = { bytes: bodyBytes, read: () => read(shape), countRendered, traceParent };
    const answer = await submission.submit(key, idempotencyKey, body);
    if (isRefusal(answer)) return answer;
    return { status: 202, body: sendResult(answer) };
  }

  async function sendBatch({ key, idempotencyKey, bodyBytes, read, countAs, countRendered, header }: ApiCall) {
    const readAll = async () => {
      const body = await read(batchShape);
      if (isRefusal(body)) return body;
      countAs(body.emails.length);
      return { emails: body.emails, skipsRefused: body.on_error === 'skip' };
    };
    const traceParent = () => header('traceparent');
    const sent = { bytes: bodyBytes, read: readAll, countRendered, traceParent };
    const answer = await submission.submitBatch(key, idempotencyKey, sent);
    if (isRefusal(answer)) return answer;
    const { replayed } = answer;
    const results = answer.receipt.map((item) => ('receipt' in item ? sendResult({ ...item, replayed }) : item));
    return { status: 202, body: { results } };
  }

  return [
    {
      method: 'POST',
      pattern: '/emails',
      scope: 'emails:send',
      body: 'json',
      idempotent: true,
      answer: send,
      refuseEarly: ({ key, idempotencyKey }) => submission.refuseEarly(key, idempotencyKey),
    },
    {
      method: 'POST',
      pattern: '/emails/batch',
      scope: 'emails:send',
      body: 'json',
      idempotent: true,
      answer: sendBatch,
      refuseEarly: ({ key, idempotencyKey }) => submission.refuseEarly(key, idempotencyKey),
    },
  ];
}

function sendResult({ receipt, replayed }: SubmissionAnswer) {
  const { id, messageIds, rejected } = receipt;
  return { id, message_ids: messageIds, rejected, replayed };
}
