// Setting keys in a configuration file: comments and everything else stay, and what can't be changed safely is refused.

import { parse } from 'smol-toml';
import t from 'tap';
import type { KeyName } from '../../src/config/keys.ts';
import { renderDocumentedFile } from '../../src/config/print.ts';
import { type NewValue, newConfigFile, withValues } from '../../src/config/set-values.ts';

const values = new Map<KeyName, string>([
  ['service.base_url', 'https://mail.example.com'],
  ['service.operator_address', 'me@example.com'],
]);

t.test('a new file is the documented one with the values in it', async (t) => {
  const lines = newConfigFile(values).split('\n');
  const documented = renderDocumentedFile().split('\n');
  t.equal(lines.length, documented.length, 'each takes the place of its example');
  const changed = lines.filter((line, at) => line !== documented[at]);
  t.same(changed, ['base_url = "https://mail.example.com"', 'operator_address = "me@example.com"']);
});

t.test('a file of an operator keeps all that it has', async (t) => {
  const cases: [string, string, string][] = [
    ['empty', '', '[service]\nbase_url = "https://mail.example.com"\noperator_address = "me@example.com"\n'],
    [
      'another section',
      '# mine\n[http]\nport = 1 # why\n',
      '# mine\n[http]\nport = 1 # why\n\n[service]\nbase_url = "https://mail.example.com"\noperator_address = "me@example.com"\n',
    ],
    [
      'its section, an example, no line end',
      '[service] # names\n# base_url = "x"\nehlo_name = "a.example.com"\n[http]',
      '[service] # names\noperator_address = "me@example.com"\nbase_url = "https://mail.example.com"\nehlo_name = "a.example.com"\n[http]',
    ],
    [
      'lines of Windows',
      '[service]\r\nehlo_name = "a.example.com"\r\n',
      '[service]\r\nbase_url = "https://mail.example.com"\r\noperator_address = "me@example.com"\r\nehlo_name = "a.example.com"\r\n',
    ],
  ];
  for (const [name, before, after] of cases) {
    t.equal(withValues(before, values), after, name);
    t.match(parse(after), { service: { base_url: 'https://mail.example.com' } }, name);
  }
});

t.test('a default of the documented file makes room, and what somebody has chosen does not', async (t) => {
  const web = new Map<KeyName, NewValue>([
    ['http.port', 443],
    ['http.trusted_proxies', ['127.0.0.1']],
    ['tls.acme', true],
  ]);
  const documented = renderDocumentedFile().split('\n');
  const changed = newConfigFile(web)
    .split('\n')
    .filter((line, at) => line !== documented[at]);
  t.same(changed, ['port = 443', 'trusted_proxies = ["127.0.0.1"]', 'acme = true']);
  const port = new Map<KeyName, NewValue>([['http.port', 443]]);
  t.equal(withValues('[http]\n#port = 1\nport = 8080 # as usual\n', port), null, 'a default that somebody has written');
  const again = withValues(newConfigFile(values), port)!;
  t.match(parse(again), { http: { port: 443 }, service: { base_url: 'https://mail.example.com' } }, 'a file of ours');
  t.equal(withValues('[http]\nport = 8443\n', port), null);
  const proxies = new Map<KeyName, NewValue>([['http.trusted_proxies', ['127.0.0.1']]]);
  t.equal(withValues('[http]\ntrusted_proxies = [\n]\n', proxies), null, 'in several lines');
});

t.test('what would change something else is refused', async (t) => {
  const cases = [
    'service.ehlo_name = "a.example.com"\n',
    'service = { ehlo_name = "a.example.com" }\n',
    '[http]\nengine = """\n[service]\n"""\n',
    '[service]\nehlo_name = """\n#base_url = "x"\n"""\n',
    '[service]\nbase_url = "https://other.example.com"\n',
    '[service\n',
  ];
  for (const text of cases) t.equal(withValues(text, values), null, text);
});
