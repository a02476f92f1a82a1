// Octets that no ASCII header has, in Idempotency-Key and Authorization. What removes them makes one
// of two keys, and the second message is lost. uWebSockets removes them at the ends before anybody sees
// the value (docs/dependencies.md): on that engine a value can only be refused for its middle.
import t from 'tap';
import { startApiHarness } from '../support/api-harness.ts';
import { askOnce } from '../support/raw-http.ts';

const BODY = JSON.stringify({ from: 'a@acme.test', to: 'jo@example.com', subject: 'Hello', text: 'Hi' });

for (const engine of ['uws', 'node'] as const) {
  t.test(`octets from 0x80 up in the headers of a call (${engine})`, async (t) => {
    const api = await startApiHarness({ engine });
    t.teardown(() => api.close());
    const tenant = await api.addTenant();
    await api.addVerifiedDomain(tenant.id, 'acme.test');
    /** Values are octets, each written as the character of its number. */
    const send = async (idempotencyKey: string, token = tenant.key) => {
      const head = `POST /emails HTTP/1.1\r\nHost: api.test\r\nContent-Type: application/json\r\nAuthorization: Bearer ${token}\r\n`;
      const lines = `Idempotency-Key: ${idempotencyKey}\r\nContent-Length: ${BODY.length}\r\n\r\n`;
      const { status, text } = await askOnce(api.port, Buffer.from(`${head}${lines}${BODY}`, 'latin1'));
      return { status, body: JSON.parse(text) };
    };
    t.match(await send(' \tplain\t '), { status: 202, body: { replayed: false } });
    t.match(await send('plain'), { status: 202, body: { replayed: true } }, 'spaces and tabs around it do not count');
    t.match(await send('pl\xe4in'), { status: 400, body: { error: 'validation_failed' } });
    t.match(await send('x', `${tenant.key.slice(0, 20)}\xa0${tenant.key.slice(20)}`), { status: 401 });
    const empty = /^Idempotency-Key: is empty, or only characters outside ASCII\. Use printable ASCII/;
    t.match(await send(''), { status: 400, body: { message: empty } });
    if (engine === 'uws') {
      t.match(await send('\xc3\xa9'), { status: 400, body: { message: empty } }, 'nothing of it is seen');
      return;
    }
    for (const wrong of ['plain\xa0', '\xa0plain', 'plain\x85', 'plain\xc3\xab', '\xef\xbb\xbfplain', '\xff']) {
      t.match(await send(wrong), { status: 400, body: { error: 'validation_failed', message: /^Idempotency-Key: / } });
    }
    for (const octet of ['\xa0', '\x85', '\xff']) {
      t.match(await send('x', `${tenant.key}${octet}`), { status: 401, body: { error: 'invalid_api_key' } });
    }
  });
}
