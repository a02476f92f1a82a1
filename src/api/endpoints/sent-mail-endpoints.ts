// What was sent, read again: GET /emails/{message id} and GET /submissions/{id}.
import { toTimestamp } from '../../base/clock.ts';
import { refuse } from '../../base/refusals.ts';
import { eventBody } from '../../events/event-body.ts';
import { givenLabels } from '../../store/event-of-message.ts';
import type { StoreVerbs } from '../../store/store.ts';
import { submissionNotFound } from '../../submission/schedule.ts';
import { ok } from '../answer.ts';
import type { ApiCall, Endpoint } from '../endpoint.ts';

export type SentMailStore = StoreVerbs<{ queue: 'findMessage' | 'findSubmission'; events: 'eventsOfMessage' }>;

export interface SentMailParts {
  store: SentMailStore;
  /** How long messages are kept after they have finished. */
  recordsDays: number;
}

export function sentMailEndpoints({ store, recordsDays }: SentMailParts): Endpoint[] {
  async function show({ tenant, id }: ApiCall) {
    const message = await store.queue.findMessage(tenant.id, id);
    if (!message) {
      return refuse('email_not_found', await whyNot(tenant.id, id));
    }
    const events = await store.events.eventsOfMessage(tenant.id, id);
    return ok({
      id: message.id,
      submission_id: message.submissionId,
      state: message.state,
      from: message.from,
      to: message.recipient,
      subject: message.subject,
      ...(message.source && { source: message.source }),
      ...givenLabels(message.labels),
      created_at: toTimestamp(message.createdAt),
      events: events.map(eventBody),
    });
  }

  async function whyNot(tenantId: string, id: string): Promise<string> {
    const isSubmission = (await store.queue.findSubmission(tenantId, id)) !== null;
    return isSubmission
      ? `This is the ID of a submission: use GET /submissions/${id}, or an ID from its message_ids.`
      : `Message not found. Use an ID from \`message_ids\`, not the submission's \`id\`. Messages are erased ${recordsDays} days after they have finished.`;
  }

  async function showSubmission({ tenant, id }: ApiCall) {
    const submission = await store.queue.findSubmission(tenant.id, id);
    if (!submission) return submissionNotFound();
    const { createdAt, sendAt, from, subject, source, labels, messages, rejected } = submission;
    return ok({
      ...{
        id,
        created_at: toTimestamp(createdAt),
        send_at: sendAt === null ? null : toTimestamp(sendAt),
        from,
        subject,
      },
      ...(source && { source }),
      ...(labels?.headerMessageId !== undefined && { header_message_id: labels.headerMessageId }),
      tags: labels?.tags ?? null,
      metadata: labels?.metadata ?? null,
      messages: messages.map(({ id, recipient, copy, state }) => ({ id, to: recipient, kind: copy ?? 'to', state })),
      rejected,
    });
  }

  return [
    { method: 'GET', pattern: '/emails/:id', scope: null, body: 'none', answer: show },
    { method: 'GET', pattern: '/submissions/:id', scope: null, body: 'none', answer: showSubmission },
  ];
}
