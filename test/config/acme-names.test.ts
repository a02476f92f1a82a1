// For which names the daemon gets certificates.
import t from 'tap';
import { acmeNames, directoryUrl } from '../../src/config/acme-names.ts';
import type { Config } from '../../src/config/keys.ts';
import { loadConfig } from '../../src/config/load.ts';

const ON = { 'tls.acme': true, 'tls.acme_terms_accepted': true, 'service.base_url': 'https://mail.a.test:8443' };

function namesWith(defaults: Record<string, unknown>, change: (config: Config) => void = () => {}) {
  const { config } = loadConfig({ env: {}, defaultFile: null, defaults: { ...ON, ...defaults } });
  change(config);
  return acmeNames(config);
}

t.test('one certificate per listener, for all names of it', async (t) => {
  t.same(namesWith({}), { http: ['mail.a.test'], smtp: ['mail.a.test'] });
  const apart = { 'service.links_url': 'https://links.a.test', 'service.ehlo_name': 'out.a.test' };
  t.same(namesWith(apart), { http: ['links.a.test', 'mail.a.test'], smtp: ['out.a.test'] });
  const more = namesWith({ ...apart, 'tls.names': ['smtp.a.test', 'mail.a.test'] });
  t.same(more, {
    http: ['links.a.test', 'mail.a.test', 'smtp.a.test'],
    smtp: ['mail.a.test', 'out.a.test', 'smtp.a.test'],
  });
  t.same(namesWith({ 'service.links_url': 'http://links.a.test' }).http, ['mail.a.test'], 'only what serves TLS');
});

t.test('a listener with files, or behind a proxy, needs none', async (t) => {
  t.same(namesWith({ 'tls.acme': false }), { http: null, smtp: null });
  t.equal(namesWith({ 'http.trusted_proxies': ['127.0.0.1'] }).http, null);
  t.equal(namesWith({ 'service.base_url': 'http://mail.a.test' }).http, null);
  t.equal(namesWith({}, ({ http }) => Object.assign(http, { tls_cert: '/x.crt' })).http, null);
  t.equal(namesWith({}, ({ smtp }) => Object.assign(smtp, { tls_cert: '/x.crt' })).smtp, null);
});

t.test('directories have words', async (t) => {
  t.match(directoryUrl('staging'), /^https:\/\/acme-staging-v02\.api\.letsencrypt\.org\//);
  t.match(directoryUrl('production'), /^https:\/\/acme-v02\.api\.letsencrypt\.org\//);
  t.equal(directoryUrl('https://acme.a.test/dir'), 'https://acme.a.test/dir');
});
