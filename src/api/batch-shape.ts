// The body of POST /emails/batch: the list has one schema and each email its own. Both are checked where the body is parsed:
// counting the characters of a subject of 5 MiB would hold up the main thread.
import { isRefusal, type Refusal } from '../base/refusals.ts';
import type { SendBody } from '../submission/send-request.ts';
import { type BodyShape, loadBodyShape } from './body-shape.ts';
import type { JsonObject } from './json-body.ts';

export interface SendBatch {
  emails: (SendBody | Refusal)[];
  on_error?: 'skip';
}

export function loadSendBatch(email = loadBodyShape<SendBody>('send-email')): BodyShape<SendBatch> {
  const shape = loadBodyShape<Pick<SendBatch, 'on_error'> & { emails: JsonObject[] }>('send-batch');
  const checking = (given: JsonObject) => {
    const batch = shape(given);
    return isRefusal(batch) ? batch : { ...batch, emails: batch.emails.map((one) => email(one)) };
  };
  return Object.assign(checking, { schemaName: shape.schemaName, form: shape.form });
}
