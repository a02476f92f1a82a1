// The body of POST /emails/batch: the list has one schema and each email its own, so that one that is wrong can be named or
// skipped. Both are checked where the body is parsed: counting the characters of a subject of 5 MiB would hold up the main
// thread.
import { isRefusal, type Refusal } from '../base/refusals.ts';
import type { SendBody } from '../submission/send-request.ts';
import { type BodyShape, kindInWords, loadBodyShape, type ShapeCheck } from './body-shape.ts';
import type { JsonObject } from './json-body.ts';
import { invalid } from './query.ts';

export interface SendBatch {
  emails: (SendBody | Refusal)[];
  on_error?: 'skip';
}

export function loadSendBatch(email = loadBodyShape<SendBody>('send-email')): BodyShape<SendBatch> {
  const shape = loadBodyShape<Pick<SendBatch, 'on_error'> & { emails: object[] }>('send-batch');
  const checking = (given: JsonObject) => checkEach(given, shape, email);
  return Object.assign(checking, { schemaName: shape.schemaName, form: shape.form });
}

/** The list is checked as one of objects, as it is described; what is not an object is refused by itself. */
export function checkEach<Batch extends { emails: object[] }, Email>(
  given: JsonObject,
  list: ShapeCheck<Batch>,
  email: ShapeCheck<Email>,
): (Omit<Batch, 'emails'> & { emails: (Email | Refusal)[] }) | Refusal {
  const emails: unknown[] = Array.isArray(given.emails) ? given.emails : [];
  const asDescribed = () => ({ ...given, emails: emails.map((one) => (isObject(one) ? one : {})) });
  const batch = list(emails.every(isObject) ? given : asDescribed());
  if (isRefusal(batch)) return batch;
  const checked = emails.map((one, index) =>
    isObject(one) ? email(one) : invalid(`emails[${index}]`, `must be an object, not ${kindInWords(one)}.`),
  );
  return { ...batch, emails: checked };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
