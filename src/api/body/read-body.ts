// From the bytes of a body to what an endpoint gets: JSON, then the shape. Where it happens is
// for body-pool.ts to say.

import type { Refusal } from '../../base/refusals.ts';
import { isRefusal } from '../../base/refusals.ts';
import { loadSendBatch } from '../batch-shape.ts';
import { type BodyShape, loadBodyShape } from '../body-shape.ts';
import { putTextsBack, takeTexts } from '../field-of-any-size.ts';
import { fieldsOfAnySize, parseJsonObject } from '../json-body.ts';
import { loadResendBatch, loadResendEmail, loadResendUpdate } from '../resend/email-shape.ts';
import type { BodyJob, BodyResult, ShapeName } from './body-job.ts';

export function readBody<Body>(bytes: Uint8Array, shape: BodyShape<Body>): Body | Refusal {
  const json = parseJsonObject(bytes, shape.form);
  return 'refusal' in json ? json.refusal : shape(json.object);
}

/** Those that are more than a schema of our own API. */
const OTHERS: Partial<Record<ShapeName, () => BodyShape<object>>> = {
  'send-batch': loadSendBatch,
  'resend-email': loadResendEmail,
  'resend-batch': loadResendBatch,
  'resend-update': loadResendUpdate,
};

function loadShape(name: ShapeName): BodyShape<object> {
  return OTHERS[name]?.() ?? loadBodyShape<object>(name);
}

/** For a thread: keeps the shapes that it has loaded. */
export function createJobReader(): (job: BodyJob) => BodyResult {
  const shapes = new Map<ShapeName, BodyShape<object>>();
  return ({ bytes, shape: name }) => {
    const shape = shapes.get(name) ?? loadShape(name);
    shapes.set(name, shape);
    const body = readBody(bytes, shape);
    if (isRefusal(body)) return { kind: 'refused', refusal: body };
    // A translation has taken them up already; nothing is at the path then.
    return { kind: 'read', body: body as never, texts: takeTexts(body, fieldsOfAnySize(shape.form)) };
  };
}

/** What crossed over, as it was there. */
export function receivedBody<Body>(result: BodyResult, shape: BodyShape<Body>): Body | Refusal {
  if (result.kind === 'refused') return result.refusal;
  putTextsBack(result.body, fieldsOfAnySize(shape.form), result.texts);
  return result.body as Body;
}
