// The code that docs/api.md shows for verifying events does what it says: with a real delivery, and
// with what somebody else might send.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { isRefusal } from '../../src/base/refusals.ts';
import { startEndpoint } from '../support/webhook-endpoint.ts';
import { happen, openStage, registered } from './stage.ts';

type Verify = (secret: string, headers: Record<string, string>, body: string) => unknown;

t.test('the snippet of docs/api.md', async (t) => {
  const page = fs.readFileSync(path.join(import.meta.dirname, '../../docs/api.md'), 'utf8');
  const code = /```js\n(import \{ createHmac[\s\S]*?)```/.exec(page)?.[1];
  t.match(code, 'export function verifyWebhook');
  const { bench, webhooks, ...stage } = await openStage(t);
  const file = path.join(path.dirname(stage.file), 'verify.mjs');
  fs.writeFileSync(file, code!);
  const { verifyWebhook } = (await import(pathToFileURL(file).href)) as { verifyWebhook: Verify };

  const { tenant, domain } = await bench.sender('acme.test');
  const endpoint = await startEndpoint(t);
  const { id, secret } = await registered(webhooks, tenant.id, endpoint.url);
  const rotated = await webhooks.rotate(tenant.id, id);
  if (isRefusal(rotated)) throw new Error(rotated.message);
  const dispatcher = await stage.dispatcher();
  await happen(bench, domain, bench.event('email.delivered', { subject: 'Grüße 😀' }));
  const [got] = await endpoint.until(1);
  await dispatcher.idle();
  const { headers, text, body } = got!;
  t.strictSame(verifyWebhook(secret, headers, text), body, 'by the secret that is being replaced');
  t.strictSame(verifyWebhook(rotated.secret.toString('base64'), headers, text), body, 'and by the new one');
  t.equal(verifyWebhook(Buffer.alloc(32).toString('base64'), headers, text), null, 'another secret');
  t.equal(verifyWebhook(secret, headers, text.replace('Grüße', 'Gruss')), null, 'an altered body');
  t.equal(verifyWebhook(secret, { ...headers, 'webhook-timestamp': '1700000000' }, text), null, 'another time');
  t.equal(verifyWebhook(secret, { ...headers, 'webhook-signature': 'v1,' }, text), null, 'an empty signature');
  t.equal(verifyWebhook(secret, {}, text), null, 'no headers');
});
