// Refusals as Resend's SDKs know them: `{statusCode, name, message}`. The Ruby SDK looks for `statusCode` in the body, so
// without it a refusal would pass for a success.
import { REFUSALS, type Refusal, type RefusalCode } from '../../base/refusals.ts';
import { type RefusalWriter, refusedReply } from '../answer.ts';

/** Those of the names that the SDKs list which have a use here. */
type ErrorName =
  | 'application_error'
  | 'internal_server_error'
  | 'invalid_api_key'
  | 'invalid_attachment'
  | 'invalid_from_address'
  | 'invalid_idempotency_key'
  | 'invalid_idempotent_request'
  | 'invalid_parameter'
  | 'method_not_allowed'
  | 'missing_api_key'
  | 'missing_required_field'
  | 'not_found'
  | 'rate_limit_exceeded'
  | 'restricted_api_key'
  | 'validation_error';

interface ErrorKind {
  statusCode: number;
  name: ErrorName;
}

/** What is not here has our status and the name that goes with it. */
const KINDS: Partial<Record<RefusalCode, ErrorKind>> = {
  invalid_id: { statusCode: 422, name: 'invalid_parameter' },
  missing_or_malformed_authorization: { statusCode: 401, name: 'missing_api_key' },
  invalid_api_key: { statusCode: 401, name: 'invalid_api_key' },
  scope_required: { statusCode: 401, name: 'restricted_api_key' },
  domain_not_verified: { statusCode: 403, name: 'validation_error' },
};

const NAME_OF_STATUS: Readonly<Record<number, ErrorName>> = {
  404: 'not_found',
  405: 'method_not_allowed',
  429: 'rate_limit_exceeded',
  500: 'internal_server_error',
};

/** A refused field has the name that Resend gives to this field. The first that fits counts. */
const KINDS_OF_FIELDS: readonly [pattern: RegExp, kind: ErrorKind][] = [
  [/^Idempotency-Key: this key was used /, { statusCode: 400, name: 'invalid_idempotent_request' }],
  [/^Idempotency-Key: /, { statusCode: 400, name: 'invalid_idempotency_key' }],
  [/^attachments\b/, { statusCode: 422, name: 'invalid_attachment' }],
  [/^(?:[\w.]+: this field is required|html: at least one of )/, { statusCode: 422, name: 'missing_required_field' }],
  [/^from: /, { statusCode: 422, name: 'invalid_from_address' }],
];

/** Our fields that have another name there. */
const FIELD_NAMES: readonly [ours: RegExp, theirs: string][] = [
  [/^template_id: /, 'template.id: '],
  [/^data: /, 'template.variables: '],
  [/^send_at: /, 'scheduled_at: '],
];

export const resendRefusal: RefusalWriter = (refusal, headers) => {
  const { statusCode, name } = kindOf(refusal);
  return refusedReply(
    { status: statusCode, body: { statusCode, name, message: messageOf(refusal) } },
    refusal,
    headers,
  );
};

function kindOf({ refused, message }: Refusal): ErrorKind {
  const byField = KINDS_OF_FIELDS.find(([pattern]) => refused === 'validation_failed' && pattern.test(message))?.[1];
  if (byField) return byField;
  const { status } = REFUSALS[refused];
  return KINDS[refused] ?? { statusCode: status, name: NAME_OF_STATUS[status] ?? 'validation_error' };
}

/** With the place in the batch, for which the shape has no field. */
export function messageOf({ message, extra }: Pick<Refusal, 'message' | 'extra'>): string {
  const [ours, theirs] = FIELD_NAMES.find(([name]) => name.test(message)) ?? [];
  const renamed = ours && theirs ? message.replace(ours, theirs) : message;
  return typeof extra?.index === 'number' ? `Email ${extra.index} of the batch, counted from 0: ${renamed}` : renamed;
}
