// /openapi.json, /docs, the guide and the mark from outside, over both engines: what is served, how it may be
// kept, and that a browser that obeys its headers loads nothing from elsewhere.
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { describeApi } from '../../scripts/describe-api.ts';
import type { HttpHandler } from '../../src/http/http.ts';
import { createRouter } from '../../src/http/router.ts';
import { createPublicPages } from '../../src/public/create-public-pages.ts';
import { overBothEngines } from '../http/both-engines.ts';
import { askOnce, RawHttp } from '../support/raw-http.ts';

const description = describeApi();

function handler(): HttpHandler {
  const refuse = (status: number) => () => ({ status });
  return createRouter({ routes: createPublicPages().routes, notFound: refuse(404), methodNotAllowed: refuse(405) });
}

interface Page {
  status: number;
  headers: Headers;
  text: string;
}

function visitor(port: number): (path: string, headers?: Record<string, string>) => Promise<Page> {
  return async (path, headers = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
}

function isGuarded(t: Test, { headers }: Page, path: string): void {
  t.equal(headers.get('x-content-type-options'), 'nosniff', path);
  t.equal(headers.get('referrer-policy'), 'no-referrer', path);
}

overBothEngines(t, '/openapi.json', async ({ t, serve }) => {
  const visit = visitor((await serve(handler())).port);
  const pages = await Promise.all([visit('/openapi.json'), visit('/openapi.json')]);
  for (const page of pages) {
    t.equal(page.status, 200);
    t.equal(page.headers.get('content-type'), 'application/json');
    t.equal(page.headers.get('cache-control'), 'no-cache');
    t.same(JSON.parse(page.text), description);
    isGuarded(t, page, 'the description');
  }
  const etag = pages[0]!.headers.get('etag')!;
  for (const known of [etag, `"other", ${etag}`, etag.replace('W/', ''), '*']) {
    const again = await visit('/openapi.json', { 'If-None-Match': known });
    t.same([again.status, again.text, again.headers.get('etag')], [304, '', etag], known);
  }
  t.equal((await visit('/openapi.json', { 'If-None-Match': '"other"' })).status, 200);
});

overBothEngines(t, 'what is compressed, and for whom', async ({ t, serve }) => {
  const { port } = await serve(handler());
  const ask = async (acceptEncoding: string) => {
    const connection = await RawHttp.connect(port);
    t.teardown(() => connection.destroy());
    const request = `GET /openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${acceptEncoding}\r\n`;
    let raw = Buffer.alloc(0);
    connection.socket.on('data', (bytes) => {
      raw = Buffer.concat([raw, bytes]);
    });
    await connection.send(request);
    await connection.rest();
    const split = raw.indexOf('\r\n\r\n');
    return { head: raw.subarray(0, split).toString(), body: raw.subarray(split + 4) };
  };
  for (const wanted of ['gzip', 'br, GZIP;q=0.5', 'deflate,gzip ; q=1']) {
    const { head, body } = await ask(`Accept-Encoding: ${wanted}\r\n`);
    t.match(head, /^content-encoding: gzip\r?$/im, wanted);
    t.match(head, /^vary: Accept-Encoding\r?$/im);
    t.same(JSON.parse(gunzipSync(body).toString()), description);
  }
  for (const wanted of ['', 'Accept-Encoding: br\r\n', 'Accept-Encoding: gzip;q=0\r\n', 'Accept-Encoding: xgzip\r\n']) {
    const { head, body } = await ask(wanted);
    t.notMatch(head, /content-encoding/i, wanted);
    t.same(JSON.parse(body.toString()), description);
  }
});

overBothEngines(t, '/docs', async ({ t, serve }) => {
  const { port } = await serve(handler());
  const visit = visitor(port);
  const page = await visit('/docs');
  t.equal(page.status, 200);
  t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  isGuarded(t, page, '/docs');
  const policy = page.headers.get('content-security-policy')!.split('; ');
  t.same(policy.toSorted(), [
    "base-uri 'none'",
    "connect-src 'self'",
    "default-src 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "img-src 'self' data:",
    "script-src 'self'",
    "style-src 'self'",
  ]);
  t.notMatch(page.text, /<style|<script>|\son\w+=|https?:|"\/\//, 'nothing inline, nothing from elsewhere');

  t.match(page.text, /<a href="\/docs\/guide">Guide<\/a>/);
  const assets = [...page.text.matchAll(/(?:src|href)="(\/docs\/[^"]+\.(?:css|js))"/g)].map((match) => match[1]!);
  t.equal(assets.length, 5);
  for (const path of assets) {
    const asset = await visit(path);
    t.equal(asset.status, 200, path);
    t.equal(asset.headers.get('content-type'), `text/${path.endsWith('css') ? 'css' : 'javascript'}; charset=utf-8`);
    t.equal(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    isGuarded(t, asset, path);
    if (path.endsWith('.css')) t.notMatch(asset.text, /@import|url\((?!["']?(?:data:|#))/, 'styles load nothing');
    if (path.endsWith('start.js')) t.match(asset.text, "url: '/openapi.json'");
    t.equal((await visit(path.replace(/\/docs\/[^/]+/, '/docs/other'))).status, 404, 'only under its hash');
  }
  t.ok((await visit(assets.find((path) => path.includes('bundle'))!)).text.includes('SwaggerUIBundle'));

  const head = await askOnce(port, 'HEAD /docs HTTP/1.1\r\nHost: x\r\n\r\n', { head: true });
  t.equal(head.status, 200);
  t.equal(head.headers.get('content-length'), String(Buffer.byteLength(page.text)));
});

overBothEngines(t, 'the guide', async ({ t, serve }) => {
  const visit = visitor((await serve(handler())).port);
  for (const path of ['/docs/guide', '/docs/resend', '/docs/smtp', '/docs/clients/node', '/docs/clients/ruby']) {
    const page = await visit(path);
    t.equal(page.status, 200, path);
    t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
    t.match(page.headers.get('content-security-policy'), "default-src 'none'");
    isGuarded(t, page, path);
    t.notMatch(page.text, /<style|<script|\sstyle=|\son\w+=/, 'nothing inline');
    t.equal(page.text.match(/<h1[ >]/g)?.length, 1, 'one main heading');
    const ids = new Set([...page.text.matchAll(/\sid="([^"]+)"/g)].map((match) => match[1]));
    const links = [...page.text.matchAll(/<a [^>]*href="([^"]+)"/g)].map((match) => match[1]!);
    t.same(
      links.filter((link) => link.startsWith('#') && !ids.has(link.slice(1))),
      [],
      'every anchor is there',
    );
    for (const link of new Set(links.filter((link) => link.startsWith('/docs')))) {
      const [target = '', anchor] = link.split('#', 2);
      const led = await visit(target);
      t.equal(led.status, 200, link);
      if (anchor !== undefined) t.match(led.text, `id="${anchor}"`, link);
    }
  }
});

overBothEngines(t, 'the mark', async ({ t, serve }) => {
  const visit = visitor((await serve(handler())).port);
  const drawn = await visit('/favicon.svg');
  t.match(drawn, { status: 200, text: /^<svg / });
  t.equal(drawn.headers.get('content-type'), 'image/svg+xml');
  isGuarded(t, drawn, 'favicon.svg');
  const icon = await visit('/favicon.ico');
  t.equal(icon.status, 200);
  t.equal(icon.headers.get('content-type'), 'image/x-icon');
  t.ok(icon.text.startsWith('\0\0\x01\0'), 'an icon, not the drawing under another name');
});

t.test('the paths of assets stay over a restart', async (t) => {
  const paths = () => createPublicPages().routes.map(({ pattern }) => pattern);
  t.same(paths(), paths());
});
