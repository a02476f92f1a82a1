import t from 'tap';
import { returnPath } from '../../src/portal/accounts/return-path.ts';

t.test('pages of the portal are returned to', async (t) => {
  for (const next of ['/portal', '/portal/settings?a=b&c=%20d', '/portal?x', '/portal/messages/1#x']) {
    t.equal(returnPath(next), next.replace('#x', ''), next);
  }
});

t.test('everything else leads to the front door', async (t) => {
  const elsewhere = [
    null,
    '',
    '/',
    '/api',
    '/portalx',
    'portal',
    'https://evil.test/',
    '//evil.test',
    '///evil.test/portal',
  ]
    .concat([
      '/\\evil.test',
      '/portal\\@evil.test',
      '\\portal',
      ' /portal/x',
      '/portal/../x',
      '/portal/../..//evil.test',
    ])
    .concat([
      '/portal/%2e%2e/x',
      '/portal/.%2E//evil.test',
      'javascript:alert(1)//portal',
      '/portal\r\nSet-Cookie: a=b',
    ])
    .concat(['/portal/sign-out', '/portal/sign-in?next=/portal/sign-in', '/\t/evil.test', '/portal/\u0000']);
  for (const next of elsewhere) t.equal(returnPath(next), '/portal', JSON.stringify(next));
});
