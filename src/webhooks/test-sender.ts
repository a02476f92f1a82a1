// Sends a test event to one endpoint and waits for its answer, which is shown and not stored. The call is that of any
// delivery: signed, to checked addresses only, with the same timeout.

import { performance } from 'node:perf_hooks';
import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import { type Refusal, refuse } from '../base/refusals.ts';
import type { Vault } from '../base/vault.ts';
import { testEvent } from '../events/test-event.ts';
import type { StoreVerbs } from '../store/store.ts';
import { type CallKit, type CallOutcome, callEndpoint } from './call.ts';
import { describeOutcome, isSuccess } from './decide-delivery.ts';
import { CALL_HEADERS, type SentRequest, signedRequest } from './sent-request.ts';
import { webhookSecretContext } from './webhooks.ts';

export interface TestSenderKit extends CallKit {
  store: StoreVerbs<{ webhooks: 'getWebhook' | 'listWebhookSecrets' }>;
  vault: Vault;
  clock: Clock;
  ids: IdSource;
}

export interface SentTest {
  request: SentRequest;
  status: number | null;
  /** The beginning of the answer's body; null without an answer. */
  answer: string | null;
  accepted: boolean;
  /** The outcome as a sentence. */
  reason: string;
  elapsedMs: number;
}

/** Why it was not sent. */
export type TestRefusal = Refusal | { busy: string };

export class TestSender {
  readonly #kit: TestSenderKit;
  /** Tenants whose test is in progress: one each, so that tests can't be used to flood an endpoint. */
  readonly #busy = new Set<string>();

  constructor(kit: TestSenderKit) {
    this.#kit = kit;
  }

  async send(tenantId: string, webhookId: string): Promise<SentTest | TestRefusal> {
    if (this.#busy.has(tenantId)) {
      return { busy: 'A test event is already being sent. Wait for its result before you send another.' };
    }
    this.#busy.add(tenantId);
    try {
      return await this.#send(tenantId, webhookId.toLowerCase());
    } finally {
      this.#busy.delete(tenantId);
    }
  }

  async #send(tenantId: string, webhookId: string): Promise<SentTest | Refusal> {
    const { store, vault, clock, ids } = this.#kit;
    const webhook = await store.webhooks.getWebhook(tenantId, webhookId);
    if (!webhook) return refuse('webhook_not_found', 'Webhook not found.');
    const startedAt = clock.now();
    const secrets = await store.webhooks.listWebhookSecrets(tenantId, webhookId, startedAt);
    const keys = secrets.map(({ secret }) => vault.open(secret, webhookSecretContext(webhookId)));
    const { headers, body } = signedRequest(testEvent({ id: ids.next(), at: startedAt }), startedAt, keys);
    const started = performance.now();
    const { signal } = new AbortController();
    const outcome = await callEndpoint({ target: webhook.target, headers, body, signal }, this.#kit);
    const request = { headers: { ...CALL_HEADERS, ...headers }, body };
    return { request, ...resultOf(outcome), elapsedMs: Math.round(performance.now() - started) };
  }
}

function resultOf(outcome: CallOutcome): Pick<SentTest, 'status' | 'answer' | 'accepted' | 'reason'> {
  const reason = describeOutcome(outcome);
  if (outcome.kind !== 'answered') return { status: null, answer: null, accepted: false, reason };
  const { status, answer } = outcome;
  return { status, answer, accepted: isSuccess(status), reason };
}
