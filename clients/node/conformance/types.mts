// Read by the compiler only (test/clients/languages/node.ts): what the types promise, and what they refuse.
import {
  type Email,
  type Event,
  NetworkError,
  Postrider,
  PostriderError,
  type Submission,
  verifyWebhook,
} from 'postrider-client';

declare const request: { headers: Record<string, string | string[] | undefined> };
const client = new Postrider({ apiKey: 'pr_key', baseUrl: 'https://mail.example.com', maxRetries: 0, timeoutMs: 1 });
const MAIL = { from: 'a@example.com', to: 'b@example.org', subject: 's', text: 't' };

export async function calls(): Promise<unknown> {
  const sent = await client.emails.send({ from: 'a@example.com', to: ['b@example.org'], subject: 's', text: 't' });
  const id: string | undefined = sent.messageIds[0];
  // @ts-expect-error a message needs a recipient
  await client.emails.send({ from: 'a@example.com', subject: 's' });
  await client.emails.send({ from: 'a@example.com', to: 'b@example.org', templateId: 'x', sendAt: new Date() });
  // @ts-expect-error there is no such field
  await client.emails.send({ from: 'a@example.com', to: id ?? '', subject: 's', template_id: 'x' });
  await client.emails.send({
    ...MAIL,
    cc: ['c@example.org'],
    bcc: 'd@example.org',
    replyTo: 'help@example.com',
    attachments: [
      { filename: 'a.bin', content: new Uint8Array([1]), contentType: 'application/octet-stream' },
      { filename: 'b.txt', content: 'SGFsbG8=', contentId: 'b' },
    ],
    tags: { kind: 'order' },
    metadata: { order_id: '4711' },
    tracking: { opens: false },
  });
  // @ts-expect-error an attachment needs a content
  await client.emails.send({ ...MAIL, attachments: [{ filename: 'a' }] });
  // @ts-expect-error tags are texts
  await client.emails.send({ ...MAIL, tags: { count: 1 } });
  const { tags, messages, sendAt }: Submission = await client.submissions.get(sent.id);
  const { source, headerMessageId }: Submission = await client.submissions.get(sent.id);
  const written: string | undefined = source === 'smtp' ? headerMessageId : emailOf(await client.emails.get(sent.id));
  // @ts-expect-error there is no such source
  if (source === 'http') return written;
  // @ts-expect-error there is no such kind
  if (messages[0]?.kind === 'reply_to') return `${tags?.kind} ${sendAt}`;
  await client.submissions.move(sent.id, '2026-12-24T18:00:00+01:00');
  const { canceled, tooLate }: { canceled: string[]; tooLate: string[] } = await client.submissions.cancel(sent.id);
  const { results } = await client.emails.sendBatch([MAIL, { ...MAIL, sendAt: new Date() }], { onError: 'skip' });
  for (const result of results) {
    // @ts-expect-error which of the two it is is not known yet
    result.messageIds.push('');
    if (result.error === undefined) canceled.push(...result.messageIds, ...tooLate);
    else canceled.push(result.message);
  }
  // @ts-expect-error the key is that of the batch
  await client.emails.sendBatch([{ ...MAIL, idempotencyKey: 'k' }]);
  const domain = await client.domains.create({ domain: 'example.com' });
  // @ts-expect-error there is no such state
  if (domain.state === 'gone') return null;
  const webhook = await client.webhooks.create({ url: 'https://example.com' });
  // @ts-expect-error only the answer of create has the secret
  const { secret } = await client.webhooks.get(webhook.id);
  await client.templates.delete('id');
  return secret;
}

export async function managing(): Promise<unknown> {
  const { emails, next } = await client.emails.list({ state: 'scheduled', tag: 'a:b', limit: 1 });
  // @ts-expect-error there is no such state
  await client.emails.list({ state: 'gone', after: next ?? undefined });
  if (emails[0]?.headerMessageId === '') return emails;
  // @ts-expect-error a listed message has no events
  if (emails[0]?.events) return null;
  await client.suppressions.add({ address: 'b@example.org', reason: 'manual' });
  const { refusals, ignoredColumns } = await client.suppressions.import({ addresses: ['b@example.org'] });
  // @ts-expect-error one of the two
  await client.suppressions.import({ addresses: [], csv: '' });
  const webhook = await client.webhooks.create({ url: 'https://example.com', events: ['bounce', 'email.canceled'] });
  // @ts-expect-error a test event is not chosen
  await client.webhooks.update(webhook.id, { events: ['test'] });
  // @ts-expect-error a webhook needs a URL
  await client.webhooks.create({ description: 'none' });
  const { secret, previousUntil }: { secret: string; previousUntil: string } = await client.webhooks.rotate('id');
  const { deliveries } = await client.webhooks.deliveries('id', { state: 'failed' });
  await client.webhooks.replay('id', deliveries[0]?.eventId ?? '');
  const { total, steps } = await client.stats({ by: 'hour' });
  const figures: number[] = [total.bouncedHard, steps[0]?.openedByMachine ?? 0];
  return [refusals[0]?.line, ignoredColumns[0]?.length, secret, previousUntil, figures];
}

export function diagnosis(event: Event): string | null {
  switch (event.type) {
    case 'email.bounced':
    case 'email.failed':
      return event.data.bounce.diagnostic;
    case 'email.clicked':
      return event.data.click.url;
    case 'email.canceled':
      return event.data.cancellation.reason;
    case 'test':
      return event.data.test.message;
    default:
      // @ts-expect-error other events have no bounce
      return event.data.bounce;
  }
}

function emailOf({ source, headerMessageId }: Email): string | undefined {
  return source && headerMessageId;
}

export function label(event: Event): string | undefined {
  return event.data.tags?.kind ?? event.data.metadata?.order_id ?? event.data.headerMessageId;
}

export function errors(error: unknown): string {
  if (error instanceof NetworkError) return String(error.timeout);
  return error instanceof PostriderError ? `${error.status} ${error.code} ${error.requestId} ${error.index}` : '';
}

export const events: Event[] = [
  verifyWebhook('{}', request.headers, webhookSecret()),
  verifyWebhook(new Uint8Array(), new Map([['webhook-id', 'x']]), webhookSecret(), { toleranceSeconds: 1 }),
  // @ts-expect-error the raw body, not what a parser made of it
  verifyWebhook({ type: 'email.delivered' }, request.headers, webhookSecret()),
];

function webhookSecret(): string {
  return 'c2VjcmV0';
}
