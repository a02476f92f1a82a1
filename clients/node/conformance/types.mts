// Read by the compiler only (test/clients/languages/node.ts): what the types promise, and what they refuse.
import { type Event, NetworkError, Postrider, PostriderError, type Submission, verifyWebhook } from 'postrider-client';

declare const request: { headers: Record<string, string | string[] | undefined> };
const client = new Postrider({ apiKey: 'pr_key', baseUrl: 'https://mail.example.com', maxRetries: 0, timeoutMs: 1 });
const MAIL = { from: 'a@example.com', to: 'b@example.org', subject: 's', text: 't' };

export async function calls(): Promise<unknown> {
  const sent = await client.emails.send({ from: 'a@example.com', to: ['b@example.org'], subject: 's', text: 't' });
  const id: string | undefined = sent.messageIds[0];
  // @ts-expect-error a message needs a subject
  await client.emails.send({ from: 'a@example.com', to: 'b@example.org' });
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
  // @ts-expect-error there is no such kind
  if (messages[0]?.kind === 'reply_to') return `${tags?.kind} ${sendAt}`;
  const domain = await client.domains.create({ domain: 'example.com' });
  // @ts-expect-error there is no such state
  if (domain.state === 'gone') return null;
  const webhook = await client.webhooks.create({ url: 'https://example.com' });
  // @ts-expect-error only the answer of create has the secret
  const { secret } = await client.webhooks.get(webhook.id);
  await client.templates.delete('id');
  return secret;
}

export function diagnosis(event: Event): string | null {
  switch (event.type) {
    case 'email.bounced':
    case 'email.failed':
      return event.data.bounce.diagnostic;
    case 'email.clicked':
      return event.data.click.url;
    default:
      // @ts-expect-error other events have no bounce
      return event.data.bounce;
  }
}

export function label(event: Event): string | undefined {
  return event.data.tags?.kind ?? event.data.metadata?.order_id;
}

export function errors(error: unknown): string {
  if (error instanceof NetworkError) return String(error.timeout);
  return error instanceof PostriderError ? `${error.status} ${error.code} ${error.requestId}` : '';
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
