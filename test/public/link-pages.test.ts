// What links in mail lead to, over real sockets and both engines: pixel, click, unsubscribe, and the
// host that they live on.

import t from 'tap';
import { IdSource } from '../../src/base/ids.ts';
import type { Hit } from '../../src/links/hit-recorder.ts';
import { makeClickToken, makeOpenToken, makeUnsubscribeToken } from '../../src/links/link-token.ts';
import { linkPages, type PublicUrls, routeByHost } from '../../src/links/pages/link-pages.ts';
import { silentLogger } from '../../src/observe/log.ts';
import type { Suppression } from '../../src/store/suppressions.ts';
import type { TrackedMessage } from '../../src/store/tracking.ts';
import { overBothEngines } from '../http/both-engines.ts';
import { askOnce } from '../support/raw-http.ts';

const KEY = { id: 'a', key: Buffer.alloc(32, 9) };
const ids = new IdSource();
const subject = { messageId: ids.next(), tenantId: ids.next() };
const TARGET = 'https://shop.example/ä?a=1&b=<2>#c';
const clickPath = `/c/${makeClickToken({ ...subject, linkIndex: 3, linkCount: 5, url: TARGET }, KEY)}`;
const openPath = `/o/${makeOpenToken(subject, KEY)}`;
const unsubscribePath = `/u/${makeUnsubscribeToken({ ...subject, recipient: 'Jo+<b>@Example.org' }, KEY)}`;

const ONE_HOST: PublicUrls = { base_url: 'https://mail.example', links_url: 'https://mail.example' };
const TWO_HOSTS: PublicUrls = { base_url: 'https://mail.example', links_url: 'https://links.example' };

class Stage {
  readonly hits: Omit<Hit, 'at'>[] = [];
  readonly suppressed: [tenantId: string, entry: Suppression][] = [];
  /** What the store says when it is asked to write. */
  fault: Error | null = null;
  isForgotten = false;

  handler(urls = ONE_HOST) {
    const pages = linkPages({
      keys: (id) => (id === 'a' ? KEY.key : undefined),
      hits: { note: (hit) => void this.hits.push(hit) },
      clock: { now: () => 1000 },
      log: silentLogger,
      store: {
        tracking: {
          findTracked: async () => (this.isForgotten ? null : ({ fromDomain: 'acme.example' } as TrackedMessage)),
        },
        suppressions: {
          addSuppression: async (tenantId, entry) => {
            if (this.fault) throw this.fault;
            if (this.suppressed.some(([, { address }]) => address === entry.address)) return 'exists';
            this.suppressed.push([tenantId, entry]);
            return 'added';
          },
        },
      },
    });
    return routeByHost(urls, pages, {
      routes: [{ method: 'GET', pattern: '/healthz', handler: () => ({ status: 200, body: 'the API' }) }],
      notFound: () => ({ status: 404, body: 'not of the API' }),
      methodNotAllowed: () => ({ status: 405, body: 'not so' }),
    });
  }
}

interface Ask {
  method?: string;
  host?: string;
  headers?: Record<string, string>;
  body?: string;
}

function ask(port: number, path: string, { method = 'GET', host = 'mail.example', headers = {}, body = '' }: Ask = {}) {
  const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ Host: host, ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`);
  return askOnce(port, `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`, { head: method === 'HEAD' });
}

overBothEngines(t, 'the pixel', async ({ t, serve }) => {
  const stage = new Stage();
  const { port } = await serve(stage.handler());
  const picture = await ask(port, openPath, { headers: { 'User-Agent': 'Thunderbird' } });
  t.equal(picture.status, 200);
  t.equal(picture.headers.get('content-type'), 'image/gif');
  t.match(picture.headers.get('cache-control'), /no-store/);
  t.equal(picture.headers.get('x-content-type-options'), 'nosniff');
  t.match(picture.text, /^GIF89a/);
  t.strictSame(stage.hits, [{ subject, link: null, url: '', linkCount: 0, ip: '127.0.0.1', userAgent: 'Thunderbird' }]);
});

overBothEngines(t, 'a click', async ({ t, serve }) => {
  const stage = new Stage();
  const { port } = await serve(stage.handler());
  const answer = await ask(port, `${clickPath}?utm_source=x`);
  t.equal(answer.status, 302);
  t.equal(answer.headers.get('location'), 'https://shop.example/%C3%A4?a=1&b=%3C2%3E#c', 'as a browser writes it');
  t.match(answer.headers.get('cache-control'), /no-store/);
  t.match(stage.hits, [{ subject, link: 3, linkCount: 5, url: TARGET, ip: '127.0.0.1', userAgent: null }]);
});

overBothEngines(t, 'the client is found behind a trusted proxy', async ({ t, serve }) => {
  const stage = new Stage();
  const { port } = await serve(stage.handler(), { trustedProxies: ['127.0.0.1'] });
  await ask(port, clickPath, { headers: { 'X-Forwarded-For': '203.0.113.5, 198.51.100.7' } });
  t.match(stage.hits, [{ ip: '198.51.100.7' }]);
});

overBothEngines(t, 'looking is not opening: HEAD and prefetch', async ({ t, serve }) => {
  const stage = new Stage();
  const { port } = await serve(stage.handler());
  const head = await ask(port, clickPath, { method: 'HEAD' });
  t.equal(head.status, 302);
  t.ok(head.headers.get('location'));
  t.equal((await ask(port, openPath, { method: 'HEAD' })).headers.get('content-length'), '42');
  for (const [name, value] of [
    ['Sec-Purpose', 'prefetch;prerender'],
    ['Purpose', 'prefetch'],
    ['X-Purpose', 'preview'],
    ['X-Moz', 'prefetch'],
  ] as const) {
    t.equal((await ask(port, clickPath, { headers: { [name]: value } })).status, 302, name);
    t.equal((await ask(port, openPath, { headers: { [name]: value } })).status, 200, name);
  }
  t.strictSame(stage.hits, []);
  const post = await ask(port, clickPath, { method: 'POST', body: 'x' });
  t.equal(post.status, 405);
  t.equal(post.headers.get('allow'), 'GET, HEAD');
});

overBothEngines(t, 'what we have not signed leads nowhere', async ({ t, serve }) => {
  const stage = new Stage();
  const { port } = await serve(stage.handler());
  const otherKey = { id: 'a', key: Buffer.alloc(32, 8) };
  const forged = [
    `/c/${makeClickToken({ ...subject, linkIndex: 0, linkCount: 1, url: 'https://evil.example/' }, otherKey)}`,
    `/c/${makeClickToken({ ...subject, linkIndex: 0, linkCount: 1, url: 'https://evil.example/' }, { ...otherKey, id: 'b' })}`,
    `${clickPath.slice(0, -1)}${clickPath.endsWith('A') ? 'B' : 'A'}`,
    `${clickPath}/`,
    `${clickPath}%20`,
    clickPath.replace('/c/', '/o/'),
    openPath.replace('/o/', '/c/'),
    unsubscribePath.replace('/u/', '/c/'),
    '/c/https:%2F%2Fevil.example',
    '/c/?url=https://evil.example/',
    '/c//evil.example',
    `/c/a${'A'.repeat(6000)}`,
    `/c/${makeClickToken({ ...subject, linkIndex: 0, linkCount: 1, url: 'javascript:alert(1)' }, KEY)}`,
    `/u/${makeUnsubscribeToken({ ...subject, recipient: 'a@x.example' }, otherKey)}`,
  ];
  for (const path of forged) {
    const answer = await ask(port, path);
    t.equal(answer.status, 404, path.slice(0, 60));
    t.notOk(answer.headers.get('location'));
    t.notMatch(answer.text, /evil/);
  }
  const posted = await ask(port, unsubscribePath.slice(0, -2), { method: 'POST', body: 'List-Unsubscribe=One-Click' });
  t.equal(posted.status, 404);
  t.strictSame([stage.hits, stage.suppressed], [[], []]);
});

overBothEngines(t, 'unsubscribing: the page asks, the POST acts', async ({ t, serve }) => {
  const stage = new Stage();
  const { port } = await serve(stage.handler());
  const question = await ask(port, unsubscribePath);
  t.equal(question.status, 200);
  t.equal(question.headers.get('content-type'), 'text/html; charset=utf-8');
  t.match(question.text, '<form method="post">');
  t.match(question.text, '<input type="hidden" name="List-Unsubscribe" value="One-Click">');
  t.match(question.text, 'Jo+&lt;b&gt;@Example.org');
  t.match(question.text, 'acme.example');
  await ask(port, unsubscribePath, { method: 'HEAD' });
  t.strictSame(stage.suppressed, [], 'asking does nothing');

  const types = ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'];
  const bodies = [
    'List-Unsubscribe=One-Click',
    '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n',
  ];
  for (const [index, type] of types.entries()) {
    const done = await ask(port, unsubscribePath, {
      method: 'POST',
      headers: { 'Content-Type': type },
      body: bodies[index]!,
    });
    t.equal(done.status, 200, 'again is as good');
    t.match(done.text, 'You are unsubscribed');
    t.match(done.text, 'no longer receives mail from <strong>acme.example</strong> or the sender’s other domains.');
    t.notOk(done.headers.get('set-cookie'));
    t.notOk(done.headers.get('location'), 'RFC 8058 section 3.1: no redirect');
  }
  t.equal((await ask(port, unsubscribePath, { method: 'POST' })).status, 200, 'without a body');
  t.strictSame(stage.suppressed, [
    [
      subject.tenantId,
      { address: 'jo+<b>@example.org', reason: 'unsubscribe', messageId: subject.messageId, createdAt: 1000 },
    ],
  ]);
});

overBothEngines(t, 'an unsubscription that cannot be stored is not promised', async ({ t, serve }) => {
  const stage = new Stage();
  const { port } = await serve(stage.handler());
  stage.fault = new Error('no room');
  const failed = await ask(port, unsubscribePath, { method: 'POST', body: 'List-Unsubscribe=One-Click' });
  t.equal(failed.status, 503);
  t.ok(failed.headers.get('retry-after'));
  t.match(failed.text, 'nothing has changed');
  stage.fault = null;
  stage.isForgotten = true;
  const done = await ask(port, unsubscribePath, { method: 'POST', body: 'List-Unsubscribe=One-Click' });
  t.match(done.text, 'from this sender', 'works long after the message itself is deleted');
  t.equal(stage.suppressed.length, 1);
});

overBothEngines(t, 'the page is small, plain and shut', async ({ t, serve }) => {
  const { port } = await serve(new Stage().handler());
  const { text, headers } = await ask(port, unsubscribePath);
  t.ok(Buffer.byteLength(text) < 4096);
  t.match(text, '<html lang="en">');
  t.match(text, 'name="viewport" content="width=device-width, initial-scale=1"');
  t.match(text, 'prefers-color-scheme: dark');
  t.equal(text.match(/<h1>/g)?.length, 1);
  t.notMatch(text, /<script|<img|<link|\son\w+=|style="|https?:/);
  const policy = headers.get('content-security-policy')!.split('; ');
  const style = /<style>(.*)<\/style>/s.exec(text)![1]!;
  const hash = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(style))).toString('base64');
  t.strictSame(policy.toSorted(), [
    "base-uri 'none'",
    "default-src 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    `style-src 'sha256-${hash}'`,
  ]);
  t.equal(headers.get('referrer-policy'), 'no-referrer');
  t.match(headers.get('x-robots-tag'), /noindex/);
});

overBothEngines(t, 'one host for everything', async ({ t, serve }) => {
  const { port } = await serve(new Stage().handler());
  for (const host of ['mail.example', 'localhost', '127.0.0.1:8080']) {
    t.equal((await ask(port, '/healthz', { host })).text, 'the API');
    t.equal((await ask(port, clickPath, { host })).status, 302);
  }
});

overBothEngines(t, 'links on a host of their own', async ({ t, serve }) => {
  const stage = new Stage();
  const { port } = await serve(stage.handler(TWO_HOSTS));
  for (const host of ['links.example', 'LINKS.example', 'links.example:443', 'links.example.']) {
    t.equal((await ask(port, clickPath, { host })).status, 302, host);
    const api = await ask(port, '/healthz', { host });
    t.equal(api.status, 404, 'the API is not there');
    t.notMatch(api.text, 'API');
  }
  const posted = await ask(port, '/o/x', { host: 'links.example', method: 'DELETE' });
  t.equal(posted.status, 405);
  t.equal(stage.hits.length, 4);
  t.strictSame(stage.suppressed, []);
});

overBothEngines(t, 'links that were sent before the links got a host of their own', async ({ t, serve }) => {
  const stage = new Stage();
  const { port } = await serve(stage.handler(TWO_HOSTS));
  const hosts = ['mail.example', 'former-links.example', '127.0.0.1', 'links.example:8080', 'x@links.example'];
  for (const host of hosts) {
    t.equal((await ask(port, '/healthz', { host })).text, 'the API', host);
    t.equal((await ask(port, clickPath, { host })).status, 302, host);
    t.equal((await ask(port, openPath, { host })).status, 200, host);
    t.match((await ask(port, unsubscribePath, { host })).text, 'Jo+&lt;b&gt;@Example.org', host);
    const unsubscribed = await ask(port, unsubscribePath, { host, method: 'POST', body: 'List-Unsubscribe=One-Click' });
    t.equal(unsubscribed.status, 200, host);
    t.equal((await ask(port, `${clickPath}x`, { host })).status, 404, 'what was not signed leads nowhere here, too');
  }
  t.equal(stage.hits.length, 2 * hosts.length, 'a click and an open each');
  t.equal(stage.suppressed.length, 1);
});
