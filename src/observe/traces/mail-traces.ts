// A message's way as spans, each made from recorded times when the result is stored: accept; wait, from acceptance or
// the last attempt; attempt, with the stages of its SMTP session; webhook calls. All of them hang below `accept`, whose
// ID is derived from the message's. IDs, tenant, receiving domain and codes only: no address, subject, reply or URL.
import { BoundedMap } from '../../base/bounded-map.ts';
import type { SmtpStage, StageMark } from '../../base/outcome.ts';
import type { TraceExporter } from './exporter.ts';
import { type Attributes, type SpanFacts, toOtlp } from './otlp.ts';
import { readTraceParent, spanIdOf, TraceContexts } from './trace-context.ts';

export interface TracedMessage {
  id: string;
  tenantId: string;
  submissionId: string;
  recipientDomain: string;
}

export interface Acceptance {
  messages: readonly TracedMessage[];
  source: 'http' | 'smtp' | 'service';
  /** The call's own `traceparent`. */
  traceParent: string | undefined;
  /** Null: at once. */
  sendAt: number | null;
  startedAt: number;
  endedAt: number;
}

export interface TracedAttempt {
  message: TracedMessage;
  attempt: number;
  /** When the first attempt could have been made. */
  dueAt: number;
  startedAt: number;
  endedAt: number;
  outcome: 'delivered' | 'deferred' | 'bounced' | 'failed' | 'canceled' | 'parked';
  mxGroup: string | null;
  /** Null: it could not be read or composed. */
  peer: { stage: SmtpStage; smtpCode: number | null; enhancedCode: string | null; tls: string | null } | null;
  stages: readonly StageMark[];
}

export interface TracedCall {
  messageId: string;
  tenantId: string;
  webhookId: string;
  eventId: string;
  eventType: string;
  attempt: number;
  outcome: string;
  /** Null: no answer. */
  status: number | null;
  startedAt: number;
  endedAt: number;
}

/** Which messages are traced. */
export interface Selection {
  /** Of all messages: from 0 to 1. */
  share: number;
  /** Whether calls with a `traceparent` decide for their messages. */
  followsCallers: boolean;
}

const ACCEPT = 'accept';
/** Messages that wait for their next attempt. One that is forgotten lacks the span of its waiting. */
const MAX_WAITING = 100_000;

export class MailTraces {
  readonly #exporter: Pick<TraceExporter, 'add'>;
  readonly #contexts: TraceContexts;
  readonly #followsCallers: boolean;
  /** By message: when its last attempt was over. */
  readonly #waiting = new BoundedMap<string, number>(MAX_WAITING);

  constructor(exporter: Pick<TraceExporter, 'add'>, { share, followsCallers }: Selection) {
    this.#exporter = exporter;
    this.#contexts = new TraceContexts(share);
    this.#followsCallers = followsCallers;
  }

  accepted({ messages, source, traceParent, sendAt, startedAt, endedAt }: Acceptance): void {
    const caller = this.#followsCallers ? readTraceParent(traceParent) : null;
    for (const message of messages) {
      if (caller) this.#contexts.remember(message.id, caller);
      const { traceId, parentId, sampled } = this.#contexts.of(message.id);
      if (!sampled) continue;
      const attributes = {
        ...attributesOf(message),
        'postrider.source': source,
        'postrider.scheduled': sendAt !== null,
      };
      const spanId = spanIdOf(message.id, ACCEPT);
      this.#add({
        traceId,
        spanId,
        parentId,
        name: ACCEPT,
        kind: 'server',
        startedAt,
        endedAt,
        attributes,
        error: null,
      });
    }
  }

  attempted(facts: TracedAttempt): void {
    const { message, attempt, startedAt, endedAt, outcome, mxGroup, peer } = facts;
    const { traceId, sampled } = this.#contexts.of(message.id);
    if (!sampled) return;
    const parentId = spanIdOf(message.id, ACCEPT);
    const waitedSince = attempt === 1 ? facts.dueAt : this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (outcome === 'deferred') this.#waiting.set(message.id, endedAt);
    const below = (name: string) => ({ traceId, spanId: spanIdOf(message.id, name), parentId });
    if (waitedSince !== undefined && waitedSince <= startedAt) {
      const times = { startedAt: waitedSince, endedAt: startedAt };
      const attributes = { 'postrider.message_id': message.id, 'postrider.attempt': attempt };
      this.#add({ ...below(`wait ${attempt}`), name: 'wait', kind: 'internal', ...times, attributes, error: null });
    }
    const attributes = {
      ...attributesOf(message),
      'postrider.attempt': attempt,
      'postrider.outcome': outcome,
      'postrider.mx_group': mxGroup,
      'smtp.stage': peer?.stage ?? null,
      'smtp.code': peer?.smtpCode ?? null,
      'smtp.enhanced_code': peer?.enhancedCode ?? null,
      'tls.protocol.version': peer?.tls ?? null,
    };
    const error = outcome === 'delivered' ? null : failureOf(outcome, peer);
    const span = below(`attempt ${attempt}`);
    this.#add({ ...span, name: 'attempt', kind: 'client', startedAt, endedAt, attributes, error });
    this.#stages(facts, { traceId, parentId: span.spanId });
  }

  called(facts: TracedCall): void {
    const { messageId, startedAt, endedAt, outcome, status } = facts;
    const { traceId, sampled } = this.#contexts.of(messageId);
    if (!sampled) return;
    const attributes = {
      'postrider.message_id': messageId,
      'postrider.tenant_id': facts.tenantId,
      'postrider.webhook_id': facts.webhookId,
      'postrider.event_id': facts.eventId,
      'postrider.event_type': facts.eventType,
      'postrider.attempt': facts.attempt,
      'postrider.outcome': outcome,
      'http.response.status_code': status,
    };
    this.#add({
      traceId,
      spanId: spanIdOf(messageId, `webhook ${facts.webhookId} ${facts.eventId} ${facts.attempt} ${startedAt}`),
      parentId: spanIdOf(messageId, ACCEPT),
      name: 'webhook',
      kind: 'client',
      startedAt,
      endedAt,
      attributes,
      error: outcome === 'delivered' ? null : `${outcome}: ${status ?? 'no answer'}`,
    });
  }

  /** Each lasts from the end of the one before; one that did not end is the one that failed. */
  #stages(facts: TracedAttempt, { traceId, parentId }: { traceId: string; parentId: string }): void {
    const { message, attempt, peer, endedAt, outcome } = facts;
    let from = facts.startedAt;
    const unfinished = peer && facts.stages.length > 0 && !facts.stages.some(([stage]) => stage === peer.stage);
    const marks: readonly StageMark[] = unfinished ? [...facts.stages, [peer.stage, endedAt]] : facts.stages;
    for (const [index, [stage, at]] of marks.entries()) {
      const failed = stage === peer?.stage && outcome !== 'delivered';
      const times = { startedAt: from, endedAt: Math.max(from, at) };
      this.#add({
        traceId,
        spanId: spanIdOf(message.id, `attempt ${attempt} ${index}`),
        parentId,
        name: `smtp ${stage}`,
        kind: 'internal',
        ...times,
        attributes: {},
        error: failed ? failureOf(outcome, peer) : null,
      });
      from = times.endedAt;
    }
  }

  #add(span: SpanFacts): void {
    this.#exporter.add(toOtlp(span));
  }
}

function attributesOf({ id, tenantId, submissionId, recipientDomain }: TracedMessage): Attributes {
  return {
    'postrider.message_id': id,
    'postrider.tenant_id': tenantId,
    'postrider.submission_id': submissionId,
    'postrider.recipient_domain': recipientDomain,
  };
}

/** Codes only: a reply can quote an address. */
function failureOf(outcome: string, peer: TracedAttempt['peer']): string {
  if (peer === null) return outcome;
  const codes = [peer.smtpCode, peer.enhancedCode].filter((code) => code !== null).join(' ');
  return `${outcome} at ${peer.stage}${codes === '' ? '' : `: ${codes}`}`;
}
