// The registry of every refusal of the HTTP API: code, status, meaning. A test keeps documentation, OpenAPI and code in
// step with it.

export const REFUSALS = {
  invalid_json: { status: 400, meaning: 'The request body is not valid JSON.' },
  validation_failed: { status: 400, meaning: 'A field is missing, invalid or unknown; `message` names it.' },
  invalid_id: { status: 400, meaning: 'The ID in the path is not a UUID.' },
  read_body_failed: { status: 400, meaning: 'The request body was incomplete or stalled for 8 s.' },
  missing_or_malformed_authorization: { status: 401, meaning: 'The Authorization header is missing or malformed.' },
  invalid_api_key: { status: 401, meaning: 'The key is unknown or revoked.' },
  scope_required: { status: 403, meaning: 'The key does not have the scope that the endpoint requires.' },
  domain_not_allowed: { status: 403, meaning: 'The key is restricted to another domain.' },
  tenant_not_active: {
    status: 403,
    meaning: 'The tenant is suspended, in review, or its e-mail address is not confirmed yet.',
  },
  not_found: { status: 404, meaning: 'The endpoint does not exist.' },
  domain_not_found: { status: 404, meaning: 'The domain does not exist, is revoked, or belongs to another tenant.' },
  webhook_not_found: { status: 404, meaning: 'The webhook does not exist or belongs to another tenant.' },
  event_not_found: { status: 404, meaning: 'The event does not exist or belongs to another tenant.' },
  template_not_found: { status: 404, meaning: 'The template does not exist or belongs to another tenant.' },
  submission_not_found: { status: 404, meaning: 'The submission does not exist or belongs to another tenant.' },
  email_not_found: { status: 404, meaning: 'The message does not exist or belongs to another tenant.' },
  suppression_not_found: { status: 404, meaning: 'The address is not on the suppression list of the tenant.' },
  method_not_allowed: { status: 405, meaning: 'The endpoint does not support this method; see the `Allow` header.' },
  not_scheduled: { status: 409, meaning: 'Nothing of the submission is scheduled any more.' },
  domain_exists: { status: 409, meaning: 'The domain is already registered.' },
  webhook_exists: { status: 409, meaning: 'A webhook with this URL is already registered.' },
  webhook_busy: { status: 409, meaning: 'The event, or a test event, is being sent right now; retry later.' },
  request_too_large: { status: 413, meaning: 'The request body exceeds 5 MiB.' },
  unsupported_media_type: { status: 415, meaning: 'The content type is not application/json.' },
  domain_not_verified: { status: 422, meaning: 'The domain of `from` is not a verified domain of the tenant.' },
  all_recipients_suppressed: { status: 422, meaning: 'Every recipient is suppressed; nothing was queued.' },
  verification_failed: { status: 422, meaning: 'A required DNS record is missing or wrong.' },
  rate_limited: { status: 429, meaning: 'The key has exceeded its request rate.' },
  internal_error: { status: 500, meaning: 'Unexpected server error; safe to retry with back-off.' },
} as const;

export type RefusalCode = keyof typeof REFUSALS;

export interface Refusal {
  refused: RefusalCode;
  /** Says what to do and names the field; never contains a secret. */
  message: string;
  /** The extra fields that the specification defines for this code. */
  extra?: Record<string, unknown>;
  /** When a retry may succeed, where that is known: the header Retry-After. */
  retryAfterSecs?: number;
}

export function refuse(refused: RefusalCode, message: string, extra?: Record<string, unknown>): Refusal {
  return extra ? { refused, message, extra } : { refused, message };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'refused' in value;
}
