// From the bytes of a body to what an endpoint gets: JSON, then the shape. Where it happens is
// for body-pool.ts to say.

import type { Refusal } from '../../base/refusals.ts';
import { isRefusal } from '../../base/refusals.ts';
import { JsonText } from '../../base/text/json-text.ts';
import { type BodyShape, loadBodyShape } from '../body-shape.ts';
import { parseJsonObject } from '../json-body.ts';
import { loadResendBatch, loadResendEmail, loadResendUpdate } from '../resend/email-shape.ts';
import type { BodyJob, BodyResult, ShapeName } from './body-job.ts';

/** The most values outside `data`, where that is not the usual: an import has 10,000 addresses. */
const MAX_VALUES: Partial<Record<ShapeName, number>> = { 'import-suppressions': 20_000 };

export function readBody<Body>(bytes: Uint8Array, shape: BodyShape<Body>): Body | Refusal {
  const json = parseJsonObject(bytes, { maxValues: MAX_VALUES[shape.schemaName], ...shape.form });
  return 'refusal' in json ? json.refusal : shape(json.object);
}

/** Those of the Resend door; the first two translate as well. */
const OF_RESEND: Partial<Record<ShapeName, () => BodyShape<object>>> = {
  'resend-email': loadResendEmail,
  'resend-batch': loadResendBatch,
  'resend-update': loadResendUpdate,
};

function loadShape(name: ShapeName): BodyShape<object> {
  return OF_RESEND[name]?.() ?? loadBodyShape<object>(name);
}

/** For a thread: keeps the shapes that it has loaded. */
export function createJobReader(): (job: BodyJob) => BodyResult {
  const shapes = new Map<ShapeName, BodyShape<object>>();
  return ({ bytes, shape: name }) => {
    const shape = shapes.get(name) ?? loadShape(name);
    shapes.set(name, shape);
    const body = readBody(bytes, shape);
    if (isRefusal(body)) return { kind: 'refused', refusal: body };
    const { data } = body as { data?: unknown };
    if (!(data instanceof JsonText)) return { kind: 'read', body: body as never, dataText: null };
    return { kind: 'read', body: { ...body, data: null }, dataText: data.text };
  };
}

/** What crossed over, as it was there. */
export function receivedBody<Body>(result: BodyResult): Body | Refusal {
  if (result.kind === 'refused') return result.refusal;
  const { body, dataText } = result;
  return (dataText === null ? body : { ...body, data: new JsonText(dataText) }) as Body;
}
