// Layers of the configuration: default, file, environment, derived; and what each value becomes.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { ALL_KEYS } from '../../src/config/keys.ts';
import { ConfigError, DERIVATIONS, type LoadOptions, loadConfig } from '../../src/config/load.ts';
import { configWarnings } from '../../src/config/rules.ts';
import { testFolder } from '../support/test-folder.ts';

function load(options: Partial<LoadOptions> = {}) {
  return loadConfig({ env: {}, defaultFile: null, ...options });
}

function problemsOf(options: Partial<LoadOptions>): readonly string[] {
  try {
    load(options);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

t.test('without a file and variables the defaults hold', async (t) => {
  const { config, source } = load();
  t.equal(source.file, null);
  t.equal(config.http.port, 8080);
  t.equal(config.http.tls_cert, null);
  t.equal(config.delivery.lifetime, 72 * 3_600_000, 'durations are milliseconds');
  t.same(config.delivery.retry_steps.slice(0, 3), [60_000, 120_000, 300_000]);
  t.same(config.limits.requests_per_minute, [1000, 10_000]);
  t.equal(config.webhooks.allow_private, false);
});

t.test('the environment beats the file, the file beats the default', async (t) => {
  const dir = testFolder(t, { 'p.toml': '[http]\nport = 9000\nhost = "0.0.0.0"\n[domains]\nrecheck = false\n' });
  const { config, source } = load({
    file: path.join(dir, 'p.toml'),
    env: { POSTRIDER_HTTP_PORT: '9001', POSTRIDER_DNS_SERVERS: '127.0.0.1:5353, ::1', PATH: '/bin' },
  });
  t.equal(config.http.port, 9001);
  t.equal(config.http.host, '0.0.0.0');
  t.equal(config.domains.recheck, false);
  t.same(config.dns.servers, ['127.0.0.1:5353', '::1']);
  t.equal(source.origins.get('http.port'), 'environment');
  t.equal(source.origins.get('http.host'), 'file');
  t.equal(source.origins.get('http.engine'), 'default');
  t.equal(source.origins.get('service.base_url'), 'derived');
});

t.test('every key can be given as a variable', async (t) => {
  const env: Record<string, string> = {};
  for (const { variable, spec } of ALL_KEYS) if (spec.default !== null) env[variable] = String(spec.default);
  const { config, source } = load({ env });
  t.same(config, load().config, 'the defaults written as variables give the defaults');
  for (const { name, spec } of ALL_KEYS)
    if (spec.default !== null) t.equal(source.origins.get(name), 'environment', name);
});

t.test('lists, switches and unset keys in variables', async (t) => {
  const { config } = load({
    env: {
      POSTRIDER_DELIVERY_RETRY_STEPS: '100ms,1s',
      POSTRIDER_WEBHOOKS_ALLOW_PRIVATE: '127.0.0.0/8,::1',
      POSTRIDER_LIMITS_MESSAGES_PER_HOUR: '10,20,30',
      POSTRIDER_DELIVERY_ALLOW_PRIVATE: 'true',
      POSTRIDER_HTTP_TRUSTED_PROXIES: '',
      POSTRIDER_HTTP_TLS_CERT: '',
    },
  });
  t.same(config.delivery.retry_steps, [100, 1000]);
  t.same(config.webhooks.allow_private, ['127.0.0.0/8', '::1']);
  t.same(config.limits.messages_per_hour, [10, 20, 30]);
  t.equal(config.delivery.allow_private, true);
  t.same(config.http.trusted_proxies, []);
  t.equal(config.http.tls_cert, null, 'an empty variable unsets what has no default');
  t.equal(load({ env: { POSTRIDER_WEBHOOKS_ALLOW_PRIVATE: 'true' } }).config.webhooks.allow_private, true);
});

t.test('what follows from other keys', async (t) => {
  const names = ALL_KEYS.filter(({ spec }) => spec.type === 'text' && spec.derived).map(({ name }) => name);
  t.same([...DERIVATIONS.keys()], names, 'the words in the table and the computation cover the same keys');

  const { service } = load({ env: { POSTRIDER_SERVICE_BASE_URL: 'https://Mail.Example.com/' } }).config;
  t.match(service, {
    base_url: 'https://mail.example.com',
    links_url: 'https://mail.example.com',
    bounces_domain: 'bounces.mail.example.com',
    spf_domain: 'bounces.mail.example.com',
    dmarc_report_address: 'dmarc@bounces.mail.example.com',
    ehlo_name: 'mail.example.com',
    dkim_domain: 'bounces.mail.example.com',
    operator_address: null,
  });
  const apart = load({ env: { POSTRIDER_SERVICE_BOUNCES_DOMAIN: 'b.example.net' } }).config.service;
  t.equal(apart.base_url, 'http://127.0.0.1:8080');
  t.equal(apart.dkim_domain, 'b.example.net');
  t.equal(apart.ehlo_name, 'localhost', 'an address is no name');
  const v6 = load({ env: { POSTRIDER_HTTP_HOST: '::1' } }).config.service;
  t.equal(v6.base_url, 'http://[::1]:8080');
});

t.test('a program may bring defaults of its own', async (t) => {
  const { config, source } = load({
    defaults: { 'http.port': 0, 'delivery.retry_steps': ['5s'], 'webhooks.allow_private': ['127.0.0.0/8'] },
    env: { POSTRIDER_HTTP_PORT: '9001' },
  });
  t.equal(config.http.port, 9001, 'variables still beat them');
  t.same(config.delivery.retry_steps, [5000]);
  t.same(config.webhooks.allow_private, ['127.0.0.0/8']);
  t.equal(source.origins.get('delivery.retry_steps'), 'default');
});

t.test('files', async (t) => {
  const dir = testFolder(t, { 'p.toml': '[data]\ndir = "state"\n', 'master.key': 'x' });
  const file = path.join(dir, 'p.toml');
  t.equal(load({ file }).config.data.dir, path.join(dir, 'state'), 'relative to the file');
  t.equal(load({ file, env: { POSTRIDER_DATA_DIR: 'state' } }).config.data.dir, path.resolve('state'));
  t.equal(load({ defaultFile: file }).source.file, file, 'the default file is read when it is there');
  t.equal(load({ defaultFile: path.join(dir, 'none.toml') }).source.file, null);
  const named = path.join(dir, 'none.toml');
  t.same(problemsOf({ file: named }), [`configuration file ${named}: cannot be read: no such file or folder`]);
  writeFileSync(named, Buffer.from('[service]\nname = "Müller"\n', 'latin1'));
  t.same(problemsOf({ file: named }), [`configuration file ${named}: cannot be read: it is not UTF-8 text`]);
  mkdirSync(path.join(dir, 'folder'));
  t.same(problemsOf({ env: { POSTRIDER_SECRETS_MASTER_KEY_FILE: path.join(dir, 'folder') } }), [
    `secrets.master_key_file (from POSTRIDER_SECRETS_MASTER_KEY_FILE): ${dir}/folder is not a file`,
  ]);
  writeFileSync(path.join(dir, 'a.pem'), 'no certificate');
  const tls = { POSTRIDER_SMTP_TLS_CERT: path.join(dir, 'a.pem'), POSTRIDER_SMTP_TLS_KEY: path.join(dir, 'a.pem') };
  t.match(problemsOf({ env: tls }), [/^smtp\.tls_cert: cannot be used with smtp\.tls_key: /]);
});

t.test('variables that are none of ours, and those that should be', async (t) => {
  t.same(problemsOf({ env: { POSTRIDER_BASE_URL: 'http://x', POSTRIDER_API_KEY: 'pr_1_2' } }), []);
  t.same(
    problemsOf({
      env: {
        POSTRIDER_HTTP_PROT: '1',
        POSTRIDER_HTPP_PORT: '1',
        POSTRIDER_LIMITS_COFFEE: '1',
        POSTRIDER_HTTP_PORT: 'http',
        POSTRIDER_DOMAINS_RECHECK: 'yes',
        POSTRIDER_SECRETS_MASTER_KEY: 'hunter2',
        POSTRIDER_DATA_DIR: '',
      },
    }),
    [
      'POSTRIDER_HTPP_PORT: unknown key; did you mean POSTRIDER_HTTP_PORT?',
      'POSTRIDER_HTTP_PROT: unknown key; did you mean POSTRIDER_HTTP_PORT?',
      'POSTRIDER_LIMITS_COFFEE: unknown key of section limits',
      'http.port (from POSTRIDER_HTTP_PORT): must be an integer from 0 to 65535, not "http"',
      'data.dir (from POSTRIDER_DATA_DIR): must be a file path, not ""',
      'secrets.master_key (from POSTRIDER_SECRETS_MASTER_KEY): must be 32 bytes in base64 (44 characters; openssl rand -base64 32 makes one)',
      'domains.recheck (from POSTRIDER_DOMAINS_RECHECK): must be true or false, not "yes"',
    ],
  );
});

t.test('what Kubernetes tells of a Service called postrider is left alone', async (t) => {
  const linked = {
    POSTRIDER_SERVICE_HOST: '10.96.0.7',
    POSTRIDER_SERVICE_PORT: '8080',
    POSTRIDER_SERVICE_PORT_HTTP_API: '8080',
    POSTRIDER_PORT: 'tcp://10.96.0.7:8080',
    POSTRIDER_PORT_8080_TCP: 'tcp://10.96.0.7:8080',
    POSTRIDER_PORT_8080_TCP_PROTO: 'tcp',
    POSTRIDER_PORT_8080_TCP_PORT: '8080',
    POSTRIDER_PORT_8080_TCP_ADDR: '10.96.0.7',
    POSTRIDER_SMTP_SERVICE_HOST: '10.96.0.8',
    POSTRIDER_SMTP_PORT_25_TCP_ADDR: '10.96.0.8',
    POSTRIDER_HTTPS_PORT: 'tcp://10.96.0.9:443',
  };
  t.same(problemsOf({ env: linked }), []);
  t.same(problemsOf({ env: { POSTRIDER_SMTP_PORT: 'tcp://10.96.0.8:25' } }), [
    'smtp.port (from POSTRIDER_SMTP_PORT): must be an integer from 0 to 65535, not "tcp://10.96.0.8:25"',
  ]);
  const alike = { POSTRIDER_SERVICE_HOTS: 'a', POSTRIDER_HTTPS_PORT: '443', POSTRIDER_SERVICE_PORTS: '1' };
  t.match(
    problemsOf({ env: alike }).map((problem) => problem.split(':')[0]),
    Object.keys(alike).sort(),
  );
});

t.test('a key that has another name now', async (t) => {
  const file = path.join(testFolder(t), 'postrider.toml');
  writeFileSync(file, '[suppression]\nleap_share = 0.4\n');
  t.same(problemsOf({ env: { POSTRIDER_SUPPRESSION_LEAP_WINDOW: '2h' }, file }), [
    'suppression.leap_share: this key is now called suppression.spike_share',
    'POSTRIDER_SUPPRESSION_LEAP_WINDOW: this key is now called POSTRIDER_SUPPRESSION_SPIKE_WINDOW',
  ]);
});

t.test('warnings of what works and is unwise', async (t) => {
  const warn = (env: Record<string, string>) => configWarnings(load({ env }).config).map((text) => text.split(':')[0]);
  const named = { POSTRIDER_SERVICE_BASE_URL: 'https://mail.example.com' };
  t.same(warn({}), ['service.base_url']);
  t.same(warn(named), []);
  t.same(warn({ ...named, POSTRIDER_HTTP_HOST: '0.0.0.0' }), ['http.host']);
  t.same(warn({ ...named, POSTRIDER_HTTP_HOST: '0.0.0.0', POSTRIDER_HTTP_TRUSTED_PROXIES: '10.0.0.1' }), []);
  t.same(warn({ ...named, POSTRIDER_DELIVERY_ALLOW_PRIVATE: 'true' }), ['delivery.allow_private']);
  t.same(warn({ ...named, POSTRIDER_SERVICE_LINKS_URL: 'http://links.example.com' }), ['service.links_url']);
  t.same(warn({ ...named, POSTRIDER_SERVICE_LINKS_URL: 'http://127.0.0.1:8080' }), []);
  t.same(warn({ ...named, POSTRIDER_HTTP_TRUSTED_PROXIES: '10.0.0.1,0.0.0.0/0' }), ['http.trusted_proxies']);
  t.same(warn({ ...named, POSTRIDER_HTTP_TRUSTED_PROXIES: '::/0' }), ['http.trusted_proxies']);
  t.same(warn({ ...named, POSTRIDER_METRICS_HOST: '0.0.0.0' }), [], 'it is off');
  t.same(warn({ ...named, POSTRIDER_METRICS_HOST: '0.0.0.0', POSTRIDER_METRICS_PORT: '9100' }), ['metrics.host']);
  t.same(warn({ ...named, POSTRIDER_WEBHOOKS_ALLOW_PRIVATE: 'true' }), ['webhooks.allow_private']);
  const traced = { ...named, POSTRIDER_TRACES_HEADERS_FILE: import.meta.filename };
  t.same(warn({ ...traced, POSTRIDER_TRACES_ENDPOINT: 'http://otlp.example.com:4318' }), ['traces.endpoint']);
  t.same(warn({ ...traced, POSTRIDER_TRACES_ENDPOINT: 'http://127.0.0.1:4318' }), []);
  t.same(warn({ ...traced, POSTRIDER_TRACES_ENDPOINT: 'https://otlp.example.com' }), []);
});

t.test("the receiver of traces is a URL, with or without OTLP's own path", async (t) => {
  const endpoint = (text: string) => load({ env: { POSTRIDER_TRACES_ENDPOINT: text } }).config.traces.endpoint;
  t.equal(endpoint('http://127.0.0.1:4318/'), 'http://127.0.0.1:4318');
  t.equal(endpoint('https://otlp.example.com/a/v1/traces'), 'https://otlp.example.com/a');
  t.equal(load({ env: {} }).config.traces.endpoint, null, 'off');
  for (const wrong of ['127.0.0.1:4318', 'grpc://a.test:4317', 'http://me:secret@a.test', 'http://a.test/?key=secret'])
    t.match(problemsOf({ env: { POSTRIDER_TRACES_ENDPOINT: wrong } }), [/^traces\.endpoint .*must be an http/]);
});
