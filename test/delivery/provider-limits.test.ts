// Large receivers as data: the shipped file, an operator's own, and every mistake named.
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { loadProviderLimits, Providers } from '../../src/delivery/shaping/provider-limits.ts';
import { reviewLimitsOf } from '../../src/operator/review-limits.ts';
import { testFolder } from '../support/test-folder.ts';

function fileWith(t: Test, text: string | Buffer): string {
  const file = path.join(testFolder(t), 'own.toml');
  fs.writeFileSync(file, text);
  return file;
}

t.test('the shipped file: figures of the large ones, and a reason for each', async (t) => {
  const providers = loadProviderLimits(null);
  const figures = Object.fromEntries(
    providers.map((each) => [each.id, [each.connections, each.messagesPerConnection]]),
  );
  t.match(figures, {
    ...{ google: [5, 50], yahoo: [10, 20], outlook: [5, 50], office365: [5, 50], apple: [10, 5] },
    ...{ gmx: [4, 20], 'web-de': [4, 20], comcast: [25, 1000], orange: [2, 100] },
  });
  for (const { id, reason } of providers) t.ok(reason.length > 20, id);
});

t.test('whose hosts they are', async (t) => {
  const providers = new Providers(loadProviderLimits(null));
  const ofHosts = (...hosts: string[]) => providers.ofHosts(hosts)?.id ?? null;
  t.equal(ofHosts('aspmx.l.google.com', 'ALT1.aspmx.l.google.com', 'aspmx2.googlemail.com'), 'google');
  t.equal(ofHosts('gmail-smtp-in.l.google.com'), 'google');
  t.equal(ofHosts('hotmail-com.olc.protection.outlook.com'), 'outlook');
  t.equal(ofHosts('contoso-com.mail.protection.outlook.com'), 'office365');
  t.equal(ofHosts('mta5.am0.yahoodns.net', 'mta6.am0.yahoodns.net'), 'yahoo');
  t.equal(ofHosts('mx00.emig.gmx.net'), 'gmx');
  t.equal(ofHosts('smtp-in.orange.fr'), 'orange');
  t.equal(ofHosts('mx.example.com'), null);
  t.equal(ofHosts('notgoogle.com'), null, 'at a dot only');
  t.equal(ofHosts('aspmx.l.google.com', 'mx.attacker.example'), null, 'all of them or none');
  t.equal(ofHosts('aspmx.l.google.com', 'mta5.am0.yahoodns.net'), null);
  t.equal(ofHosts(), null);
});

t.test('own domains, and which addresses there are one mailbox', async (t) => {
  const providers = new Providers(loadProviderLimits(null));
  const byMark = { sameMailboxes: true, ignoredInNames: '.', aliasSeparator: null };
  t.match(providers.ofOwnDomain('googlemail.com'), { id: 'google', ownDomains: ['gmail.com', /./], ...byMark });
  t.match(providers.ofOwnDomain('yahoo.fr'), { id: 'yahoo', sameMailboxes: false, aliasSeparator: '-' });
  t.match(providers.ofOwnDomain('hotmail.com'), { id: 'outlook', ignoredInNames: '' });
  t.equal(providers.ofOwnDomain('evil.example'), null);
  const owned = loadProviderLimits(null).flatMap(({ ownDomains }) => ownDomains);
  t.equal(new Set(owned).size, owned.length, 'a domain has one owner');
  const { mailboxesAt } = reviewLimitsOf(loadConfig({ env: {}, defaultFile: null }).config);
  t.same(mailboxesAt('googlemail.com'), { domain: 'gmail.com', ignored: '.', aliasSeparator: null });
  t.same(mailboxesAt('yahoo.fr'), { domain: 'yahoo.fr', ignored: '', aliasSeparator: '-' });
  t.equal(mailboxesAt('evil.example'), null);
});

t.test("an operator's file changes what it names, and adds the rest", async (t) => {
  const file = fileWith(
    t,
    `
[[provider]]
id = "google"
connections = 9
[[provider]]
id = "acme-hosting"
mx = ["mx.acme.example"]
connections = 1
messages_per_connection = 5
messages_per_minute = 30
per = "service"
reason = "they asked for it"
`,
  );
  const providers = new Providers(loadProviderLimits(file));
  t.match(providers.byId('google'), { connections: 9, messagesPerConnection: 50, customerDomains: true });
  t.match(providers.ofHosts(['a.mx.acme.example']), { id: 'acme-hosting', messagesPerMinute: 30, perService: true });
  t.match(providers.byId('yahoo'), { connections: 10, perService: false }, 'the others stay');
});

t.test('every mistake is named, with the provider and the key', async (t) => {
  const fine = 'id = "x"\nmx = ["mx.example"]\nconnections = 1\nmessages_per_connection = 1\nreason = "r"\n';
  const cases: [string, RegExp][] = [
    [`[[provider]]\n${fine}conections = 2\n`, /x: unknown key conections/],
    ['[provider]\nid = "x"\n', /provider: must be a list/],
    ['[[providers]]\nid = "x"\n', /providers: only \[\[provider\]\] is allowed here/],
    [
      '[[provider]]\nid = "X Y"\n',
      /provider 1: id is missing or not in kebab-case[\s\S]*reason is missing[\s\S]*mx must be a list/,
    ],
    [
      `[[provider]]\n${fine.replace('connections = 1\n', 'connections = 0\n')}`,
      /x: connections must be an integer from 1/,
    ],
    [`[[provider]]\n${fine.replace('"mx.example"', '"*.example"')}`, /x: mx must be a list of lower-case domain names/],
    [
      `[[provider]]\n${fine.replace('"mx.example"', '"google.com"')}`,
      /mx google\.com also belongs to x|mx google\.com also belongs to google/,
    ],
    [`[[provider]]\n${fine}customer_domains = "yes"\n`, /x: customer_domains is neither true nor false/],
    [`[[provider]]\n${fine}same_mailboxes = 1\n`, /x: same_mailboxes is neither true nor false/],
    [`[[provider]]\n${fine}ignored_in_names = ".a"\n`, /x: ignored_in_names must consist of characters out of/],
    [`[[provider]]\n${fine}alias_separator = "--"\n`, /x: alias_separator must consist of one character out of/],
    [`[[provider]]\n${fine}messages_per_minute = 1\nper = "node"\n`, /x: per is neither "address" nor "service"/],
    [`[[provider]]\n${fine}[[provider]]\n${fine}`, /x: is defined twice/],
    ['[[provider]\n', /cannot be used/],
  ];
  for (const [text, says] of cases) t.throws(() => loadProviderLimits(fileWith(t, text)), says, text);
  t.throws(() => loadProviderLimits('/nowhere.toml'), /\/nowhere\.toml cannot be used/);
  const latin1 = fileWith(t, Buffer.from('[[provider]]\nid = "größe"\n', 'latin1'));
  t.throws(() => loadProviderLimits(latin1), /cannot be used:\n {2}it is not UTF-8 text/);
});
