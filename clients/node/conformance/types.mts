// Read by the compiler only (test/clients/languages/node.ts): what the types promise, and what they refuse.
import { type Event, NetworkError, Postrider, PostriderError, verifyWebhook } from 'postrider-client';

declare const request: { headers: Record<string, string | string[] | undefined> };
const client = new Postrider({ apiKey: 'pr_key', baseUrl: 'https://mail.example.com', maxRetries: 0, timeoutMs: 1 });

export async function calls(): Promise<unknown> {
  const sent = await client.emails.send({ from: 'a@example.com', to: ['b@example.org'], subject: 's', text: 't' });
  const id: string | undefined = sent.messageIds[0];
  // @ts-expect-error a message needs a subject
  await client.emails.send({ from: 'a@example.com', to: 'b@example.org' });
  // @ts-expect-error there is no such field
  await client.emails.send({ from: 'a@example.com', to: id ?? '', subject: 's', template_id: 'x' });
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
