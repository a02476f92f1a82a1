// From the body of a send request to what the store is asked to accept: everything that can be refused before the one
// transaction. And the words for what the store refuses in it.
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
  RefusedSubmission,
  RejectedRecipient,
} from '../store/submissions.ts';
import { findOnPlatformOnly, onPlatformList, type PlatformListStore } from '../suppression/platform-list.ts';
import type { RenderedTemplate, Templates } from '../templates/templates.ts';
import type { BeginAtOnce } from './begin-at-once.ts';
import { readSendRequest, type SendBody, type SendRequest } from './send-request.ts';
import { notAllowed, type Sender } from './sender.ts';

export interface PrepareOptions {
  store: StoreVerbs<{ domains: 'findVerifiedDomain' | 'findLiveDomain' }>;
  templates: Pick<Templates, 'render'>;
  clock: Clock;
  ids: IdSource;
  /** How long delivery is attempted. */
  lifetimeMs: number;
  /** In the sandbox: recipients that are accepted even after a bounce or complaint has suppressed them. */
  staysUsable?(address: string): boolean;
}

export interface SubmissionOptions extends PrepareOptions {
  store: PrepareOptions['store'] & Pick<Store, 'submissions'> & PlatformListStore;
  log: Logger;
  /** Why intake is closed; null: it is open. Replays are answered in either case. */
  refuseNew?(): Refusal | null;
  passages: BeginAtOnce['passages'];
  /** Called after the commit, with the lanes that have mail due. */
  onAccepted(lanes: LaneNotice[]): void;
  /** Called after the commit, with the time of mail for later. */
  onScheduled(sendAt: number): void;
  /** Called after the commit with what was stored; missing: nobody traces it. */
  onStored?: ((stored: StoredSubmission) => void) | undefined;
}

export interface StoredSubmission {
  submission: NewSubmission;
  messageIds: readonly string[];
  /** The call's `traceparent`. */
  traceParent: string | undefined;
}

export interface SubmitCall {
  sender: Sender;
  idempotencyKey: string | null;
  countRendered?: CountRendered | undefined;
  /** The call's header field; asked only for traces. */
  traceParent?: TraceParent | undefined;
}

/** Called with the bytes of each message that a template made. Not null: there is no room for it. */
export type CountRendered = (bytes: number) => Refusal | null;

export type TraceParent = () => string | undefined;

export interface Prepared {
  submission: NewSubmission;
  fromDomain: string;
}

export async function prepareSubmission(
  options: PrepareOptions,
  call: SubmitCall,
  body: SendBody,
): Promise<Prepared | Refusal> {
  const request = readSendRequest(body, options.clock.now());
  if (isRefusal(request)) return request;
  const { sender } = call;
  const { domain: fromDomain } = request.from;
  if (sender.boundDomain !== null && sender.boundDomain !== fromDomain) return notAllowed(sender.boundDomain);
  const domain = await options.store.domains.findVerifiedDomain(sender.tenantId, fromDomain);
  if (!domain) return notVerified(options.store, sender, fromDomain);
  const content = await contentOf(options, call, request);
  if (isRefusal(content)) return content;
  return { submission: newSubmission(options, call, { request, domain, content }), fromDomain };
}

/** The template is checked after the domain and before the recipients (suppression). */
async function contentOf(
  { templates }: PrepareOptions,
  { sender, countRendered }: SubmitCall,
  { template, subject, html, text }: SendRequest,
): Promise<RenderedTemplate | Refusal> {
  if (template === null) return { subject, html, text };
  const rendered = await templates.render(sender.tenantId, { ...template, needsSubject: subject === null });
  if (isRefusal(rendered)) return rendered;
  const bytes = Buffer.byteLength(rendered.html ?? '') + Buffer.byteLength(rendered.text ?? '');
  return countRendered?.(bytes) ?? rendered;
}

function newSubmission(
  { ids, clock, lifetimeMs, staysUsable }: PrepareOptions,
  { sender, idempotencyKey }: SubmitCall,
  { request, domain, content }: { request: SendRequest; domain: Domain; content: RenderedTemplate },
): NewSubmission {
  const acceptedAt = clock.now();
  const { from, headers } = request;
  return {
    id: ids.next(),
    tenantId: sender.tenantId,
    apiKeyId: sender.id,
    domainId: domain.id,
    idempotencyKey,
    from: { address: from.address, name: from.name },
    // One of the two has it.
    subject: request.subject ?? content.subject ?? '',
    html: content.html,
    text: content.text,
    headers,
    sendAt: request.sendAt,
    lists: request.lists,
    attachments: request.attachments,
    labels: request.labels,
    tracking: request.tracking,
    recipients: request.recipients.map((recipient) => ({
      messageId: ids.next(),
      ...recipient,
      ...(staysUsable?.(recipient.address) && { staysUsable: true }),
    })),
    acceptedAt,
    expiresAt: (request.sendAt ?? acceptedAt) + lifetimeMs,
  };
}

/** After the commit: its lanes have mail, or will have. */
export function announce(
  { onAccepted, onScheduled }: Pick<SubmissionOptions, 'onAccepted' | 'onScheduled'>,
  { sendAt }: NewSubmission,
  lanes: LaneNotice[],
): void {
  if (sendAt) onScheduled(sendAt);
  else onAccepted(lanes);
}

export function noteResult(
  { log, onStored }: Pick<SubmissionOptions, 'log' | 'onStored'>,
  submission: NewSubmission,
  {
    result,
    fromDomain,
    traceParent,
  }: { result: AcceptResult; fromDomain: string; traceParent?: TraceParent | undefined },
): void {
  const { tenantId, id: submissionId, sendAt = null } = submission;
  const logRejected = (rejected: RejectedRecipient[]) => {
    for (const { to, reason } of rejected) mailLog.suppressed(log, { tenantId, submissionId, recipient: to, reason });
  };
  if (result.kind === 'all_suppressed') logRejected(result.rejected);
  if (result.kind !== 'accepted') return;
  const queued = new Set(result.receipt.messageIds);
  for (const { messageId: id, address: recipient } of submission.recipients) {
    if (queued.has(id)) mailLog.accepted(log, { id, tenantId, submissionId, recipient }, { fromDomain, sendAt });
  }
  logRejected(result.receipt.rejected);
  onStored?.({ submission, messageIds: result.receipt.messageIds, traceParent: traceParent?.() });
}

/** As `refusalOf`, with what the lists have against each recipient. */
export async function explainedRefusal(
  options: Pick<SubmissionOptions, 'store' | 'clock'>,
  { submission, fromDomain }: Prepared,
  refused: RefusedSubmission,
): Promise<Refusal> {
  if (refused.kind !== 'all_suppressed') return refusalOf(refused.kind, fromDomain);
  const { tenantId, recipients } = submission;
  const look = { tenantId, now: options.clock.now() };
  const addresses = new Set(recipients.map(({ suppressionKey }) => suppressionKey));
  const ofPlatform = [];
  for (const address of addresses) {
    const entry = await findOnPlatformOnly(options.store, { ...look, address });
    if (entry) ofPlatform.push(entry);
  }
  const reasons = new Set(refused.rejected.map(({ reason }) => reason));
  const sentences = [`to: every recipient is suppressed (${[...reasons].join(', ')}), so nothing was queued.`];
  if (ofPlatform.length < addresses.size)
    sentences.push('Remove the entries from your suppression list if they are wrong.');
  const [first] = ofPlatform;
  if (first) {
    const others = ofPlatform.length > 1 ? ` and ${ofPlatform.length - 1} more are` : ' is';
    const expiresAt = Math.max(...ofPlatform.map((entry) => entry.expiresAt));
    sentences.push(`${first.address}${others} ${onPlatformList({ expiresAt })}`);
  }
  return refuse('all_recipients_suppressed', sentences.join(' '));
}

/** What the store refuses, as the caller reads it. */
export function refusalOf(kind: RefusedSubmission['kind'], fromDomain: string): Refusal {
  switch (kind) {
    case 'all_suppressed':
      return refuse(
        'all_recipients_suppressed',
        'to: every recipient is on your suppression list or on the service-wide one, so nothing was queued. Remove your entries if they are wrong.',
      );
    case 'domain_not_verified':
      return refuse(
        'domain_not_verified',
        `from: ${fromDomain} stopped being verified during this call. GET /domains shows its state.`,
      );
    case 'tenant_not_active':
      return refuse('tenant_not_active', 'Sending was suspended during this call. Retry to see the reason.');
    default:
      return unreachable(kind);
  }
}

export async function notVerified(
  store: PrepareOptions['store'],
  { tenantId }: Pick<Sender, 'tenantId'>,
  name: string,
): Promise<Refusal> {
  const own = await store.domains.findLiveDomain(tenantId, name);
  const advice = own
    ? `It is registered and ${own.state}: publish its records and verify it with POST /domains/${own.id}/verify.`
    : 'Register it with POST /domains and verify it.';
  return refuse('domain_not_verified', `from: ${name} is not a verified domain of your account. ${advice}`);
}
