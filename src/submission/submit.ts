// Accepts a submission: looks for a replay, validates, and passes it to the store, whose single
// transaction decides about replay, suppression and the domain's state. `submit` resolves after the
// commit, so an accepted call is on disk.

import type { Clock } from '../base/clock.ts';
import { unreachable } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import { isRefusal, type Refusal, refuse } from '../base/refusals.ts';
import type { Logger } from '../observe/log.ts';
import * as mailLog from '../observe/mail-log.ts';
import type { Domain } from '../store/domains.ts';
import type { Store, StoreVerbs } from '../store/store.ts';
import type {
  AcceptResult,
  LaneNotice,
  NewSubmission,
  RejectedRecipient,
  SubmissionReceipt,
} from '../store/submissions.ts';
import type { ApiKey } from '../store/tenants.ts';
import type { TemplateSource } from '../templates/render-job.ts';
import type { Templates } from '../templates/templates.ts';
import { IdempotencyGate } from './idempotency-gate.ts';
import { readSendRequest, type SendBody, type SendRequest } from './send-request.ts';

/** The API key of the call. */
export type Sender = Pick<ApiKey, 'id' | 'tenantId' | 'boundDomain'>;

export interface SubmissionAnswer {
  receipt: SubmissionReceipt;
  replayed: boolean;
}

export interface SubmissionOptions {
  store: Pick<Store, 'submissions'> & StoreVerbs<{ domains: 'findVerifiedDomain' }>;
  templates: Pick<Templates, 'render'>;
  clock: Clock;
  ids: IdSource;
  log: Logger;
  /** How long delivery is attempted. */
  lifetimeMs: number;
  /** Why intake is closed; null: it is open. Replays are answered in either case. */
  refuseNew?(): Refusal | null;
  /** In the sandbox: recipients that are accepted even after a bounce or complaint has suppressed them. */
  staysUsable?(address: string): boolean;
  /** Called after the commit, with the lanes that have mail due. */
  onAccepted(lanes: LaneNotice[]): void;
}

/** A call's body, read only when it is needed. */
export interface SentBody {
  bytes: number;
  read(): SendBody | Refusal | Promise<SendBody | Refusal>;
}

export interface Submission {
  /** The body of a repeated call is ignored, even if it can't be parsed. */
  submit(sender: Sender, idempotencyKey: string | null, body: SentBody): Promise<SubmissionAnswer | Refusal>;
  /** The refusal of `submit` that does not depend on the body: intake is closed, and the call is not a replay. */
  refuseEarly(sender: Sender, idempotencyKey: string | null): Promise<Refusal | null>;
}

/**
 * Nearly every call is new, and the insert itself detects the others: looking for a receipt first
 * costs more than it saves, unless the body is large.
 */
const LOOK_FIRST_BYTES = 32 * 1024;

export function createSubmission(options: SubmissionOptions): Submission {
  const { store } = options;
  const gate = new IdempotencyGate<SubmissionReceipt>();

  async function submitOnce({ sender, idempotencyKey: key }: KeyedCall, body: SentBody) {
    const gateKey = `${sender.tenantId} ${key}`;
    const others = await gate.enter(gateKey);
    if (others) return { receipt: others, replayed: true };
    let receipt: SubmissionReceipt | null = null;
    const replay = async () => {
      const earlier = await store.submissions.findReceipt(sender.tenantId, key);
      return earlier && { receipt: earlier, replayed: true };
    };
    try {
      const work = () => acceptIfOpen(options, { sender, idempotencyKey: key }, body);
      const lookFirst = body.bytes >= LOOK_FIRST_BYTES;
      const answer = await (lookFirst ? orElse(replay, work) : unlessReplay(work, replay));
      if (!isRefusal(answer)) receipt = answer.receipt;
      return answer;
    } finally {
      gate.leave(gateKey, receipt);
    }
  }

  return {
    submit(sender, idempotencyKey, body) {
      if (idempotencyKey !== null) return submitOnce({ sender, idempotencyKey }, body);
      return acceptIfOpen(options, { sender, idempotencyKey }, body);
    },
    async refuseEarly({ tenantId }, key) {
      const closed = options.refuseNew?.() ?? null;
      const isRepeated =
        closed !== null && key !== null && (await store.submissions.findReceipt(tenantId, key)) !== null;
      return isRepeated ? null : closed;
    },
  };
}

type Outcome = SubmissionAnswer | Refusal;

async function orElse(replay: () => Promise<Outcome | null>, work: () => Promise<Outcome>): Promise<Outcome> {
  return (await replay()) ?? work();
}

/** A repeated call gets its receipt even if it is invalid now, or the service has a fault. */
async function unlessReplay(work: () => Promise<Outcome>, replay: () => Promise<Outcome | null>): Promise<Outcome> {
  try {
    const answer = await work();
    return isRefusal(answer) ? ((await replay()) ?? answer) : answer;
  } catch (error) {
    const earlier = await replay();
    if (earlier) return earlier;
    throw error;
  }
}

interface SubmitCall {
  sender: Sender;
  idempotencyKey: string | null;
}

type KeyedCall = SubmitCall & { idempotencyKey: string };

/** Checks intake before it reads the body, so that a refused call is not parsed. */
async function acceptIfOpen(
  options: SubmissionOptions,
  call: SubmitCall,
  body: SentBody,
): Promise<SubmissionAnswer | Refusal> {
  const closed = options.refuseNew?.();
  if (closed) return closed;
  try {
    return await accept(options, call, await body.read());
  } catch (error) {
    // The call that runs into a fault first gets the same refusal as those after it.
    const closedByNow = options.refuseNew?.();
    if (closedByNow) return closedByNow;
    throw error;
  }
}

async function accept(
  options: SubmissionOptions,
  call: SubmitCall,
  body: SendBody | Refusal,
): Promise<SubmissionAnswer | Refusal> {
  if (isRefusal(body)) return body;
  const request = readSendRequest(body);
  if (isRefusal(request)) return request;
  const { sender } = call;
  const { domain: fromDomain } = request.from;
  if (sender.boundDomain !== null && sender.boundDomain !== fromDomain) return notAllowed(sender.boundDomain);
  const domain = await options.store.domains.findVerifiedDomain(sender.tenantId, fromDomain);
  if (!domain) return notVerified(fromDomain);
  const content = await contentOf(options, sender, request);
  if (isRefusal(content)) return content;

  const submission = newSubmission(options, call, { request, domain, content });
  const result = await options.store.submissions.accept(submission);
  logResult(options.log, submission, { result, fromDomain });
  if (result.kind === 'accepted') options.onAccepted(result.lanes);
  return answerFor(result, fromDomain);
}

/** The template is checked after the domain and before the recipients (suppression). */
function contentOf(
  { templates }: SubmissionOptions,
  { tenantId }: Sender,
  { template, html, text }: SendRequest,
): Promise<TemplateSource | Refusal> | TemplateSource {
  return template === null ? { html, text } : templates.render(tenantId, template.id, template.dataJson);
}

function newSubmission(
  { ids, clock, lifetimeMs, staysUsable }: SubmissionOptions,
  { sender, idempotencyKey }: SubmitCall,
  { request, domain, content }: { request: SendRequest; domain: Domain; content: TemplateSource },
): NewSubmission {
  const acceptedAt = clock.now();
  const { from, subject, headers } = request;
  return {
    id: ids.next(),
    tenantId: sender.tenantId,
    apiKeyId: sender.id,
    domainId: domain.id,
    idempotencyKey,
    from: { address: from.address, name: from.name },
    subject,
    html: content.html,
    text: content.text,
    headers,
    ...{ lists: request.lists, attachments: request.attachments, labels: request.labels, tracking: request.tracking },
    recipients: request.recipients.map((recipient) => ({
      messageId: ids.next(),
      ...recipient,
      ...(staysUsable?.(recipient.address) && { staysUsable: true }),
    })),
    acceptedAt,
    expiresAt: acceptedAt + lifetimeMs,
  };
}

function logResult(
  log: Logger,
  submission: NewSubmission,
  { result, fromDomain }: { result: AcceptResult; fromDomain: string },
): void {
  const { tenantId, id: submissionId } = submission;
  const logRejected = (rejected: RejectedRecipient[]) => {
    for (const { to, reason } of rejected) mailLog.suppressed(log, { tenantId, submissionId, recipient: to, reason });
  };
  if (result.kind === 'all_suppressed') logRejected(result.rejected);
  if (result.kind !== 'accepted') return;
  const queued = new Set(result.receipt.messageIds);
  for (const { messageId: id, address: recipient } of submission.recipients) {
    if (queued.has(id)) mailLog.accepted(log, { id, tenantId, submissionId, recipient }, { fromDomain });
  }
  logRejected(result.receipt.rejected);
}

function answerFor(result: AcceptResult, fromDomain: string): SubmissionAnswer | Refusal {
  switch (result.kind) {
    case 'accepted':
      return { receipt: result.receipt, replayed: false };
    case 'replayed':
      return { receipt: result.receipt, replayed: true };
    case 'all_suppressed':
      return refuse(
        'all_recipients_suppressed',
        'to: every recipient is on a suppression list, so nothing was queued. Remove the entries if they are wrong.',
      );
    case 'domain_not_verified':
      return notVerified(fromDomain);
    case 'tenant_not_active':
      return refuse('tenant_not_active', 'Sending was suspended during this call. Retry to see the reason.');
    default:
      return unreachable(result);
  }
}

function notAllowed(boundDomain: string): Refusal {
  return refuse('domain_not_allowed', `from: this key can only send from ${boundDomain}.`);
}

function notVerified(domain: string): Refusal {
  return refuse(
    'domain_not_verified',
    `from: ${domain} is not a verified domain of your account. Register it with POST /domains and verify it.`,
  );
}
