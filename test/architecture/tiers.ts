// The table of who may import whom: the one place where a new folder of src/ is entered.
// Imports run downhill. Siblings of one tier stay apart unless `siblings` names them: they meet
// in the store, or through a function that daemon/ hands over.

export interface Home {
  tier: number;
  /** Homes of the same tier that it may import. */
  siblings?: readonly string[];
  /** The only homes that may import it. */
  onlyFor?: readonly string[];
  /**
   * A folder inside another home: it may import that home and be imported by it, and outside of it has that home's
   * rights. Of the home's other parts it may import those that its own \`siblings\` name.
   */
  partOf?: string;
}

/** A home is a folder of src/, or the one file in src/ itself, `main`. */
export const HOMES: Readonly<Record<string, Home>> = {
  base: { tier: 0 },
  'base/text': { tier: 0, partOf: 'base' },

  observe: { tier: 1 },
  'observe/traces': { tier: 1, partOf: 'observe' },
  // Parts get the values they need, not the configuration: so a part can be tested without one.
  config: { tier: 1, onlyFor: ['operator', 'cli', 'daemon', 'sandbox', 'main'] },
  http: { tier: 1 },
  'http/engines': { tier: 1, partOf: 'http' },
  threads: { tier: 1 },
  'protocol/mail': { tier: 1 },
  // In this order each room knows those in front of it that it names.
  'protocol/mail/addresses': { tier: 1, partOf: 'protocol/mail' },
  'protocol/mail/dkim': { tier: 1, partOf: 'protocol/mail' },
  'protocol/mail/reports': { tier: 1, partOf: 'protocol/mail' },
  'protocol/mail/compose': {
    tier: 1,
    partOf: 'protocol/mail',
    siblings: ['protocol/mail/addresses', 'protocol/mail/reports'],
  },
  'protocol/mail/inbound': { tier: 1, partOf: 'protocol/mail', siblings: ['protocol/mail/addresses'] },
  'protocol/mail/written': {
    tier: 1,
    partOf: 'protocol/mail',
    siblings: [
      'protocol/mail/addresses',
      'protocol/mail/dkim',
      'protocol/mail/reports',
      'protocol/mail/compose',
      'protocol/mail/inbound',
    ],
  },
  'protocol/dns': { tier: 1 },
  'protocol/dns/addresses': { tier: 1, partOf: 'protocol/dns' },
  'protocol/dns/lookup': { tier: 1, partOf: 'protocol/dns', siblings: ['protocol/dns/addresses'] },
  'protocol/dns/published': {
    tier: 1,
    partOf: 'protocol/dns',
    siblings: ['protocol/dns/addresses', 'protocol/dns/lookup'],
  },
  'protocol/smtp': { tier: 1, siblings: ['protocol/mail'] },

  // What the two listeners share: inbound mail, and mail that applications hand in.
  'smtp-listener': { tier: 2 },

  store: { tier: 2 },
  // Opens what an address names: everybody else knows the contracts only, so that a second driver can take its place.
  'store/opening': { tier: 2, siblings: ['store', 'store/sqlite', 'store/sqlite/reading', 'store/postgres'] },
  // What the verbs say in SQL, for whichever database runs it.
  'store/sql': { tier: 2, siblings: ['store'], onlyFor: ['store/sqlite', 'store/postgres'] },
  // In this order each room knows those in front of it that it names.
  'store/sql/verbs/accounts': { tier: 2, partOf: 'store/sql' },
  'store/sql/verbs/domains': { tier: 2, partOf: 'store/sql' },
  'store/sql/verbs/limits': { tier: 2, partOf: 'store/sql' },
  'store/sql/verbs/nodes': { tier: 2, partOf: 'store/sql' },
  'store/sql/verbs/message': { tier: 2, partOf: 'store/sql' },
  'store/sql/verbs/webhooks': {
    tier: 2,
    partOf: 'store/sql',
    siblings: ['store/sql/verbs/nodes', 'store/sql/verbs/message'],
  },
  'store/sql/verbs/figures': { tier: 2, partOf: 'store/sql', siblings: ['store/sql/verbs/message'] },
  'store/sql/verbs/submission': {
    tier: 2,
    partOf: 'store/sql',
    siblings: [
      'store/sql/verbs/domains',
      'store/sql/verbs/nodes',
      'store/sql/verbs/message',
      'store/sql/verbs/figures',
    ],
  },
  'store/sql/verbs/queue': {
    tier: 2,
    partOf: 'store/sql',
    siblings: [
      'store/sql/verbs/domains',
      'store/sql/verbs/nodes',
      'store/sql/verbs/message',
      'store/sql/verbs/submission',
    ],
  },
  'store/sql/verbs/inbound': {
    tier: 2,
    partOf: 'store/sql',
    siblings: ['store/sql/verbs/domains', 'store/sql/verbs/nodes', 'store/sql/verbs/message', 'store/sql/verbs/queue'],
  },
  'store/sql/verbs/upkeep': {
    tier: 2,
    partOf: 'store/sql',
    siblings: ['store/sql/verbs/message', 'store/sql/verbs/figures', 'store/sql/verbs/submission'],
  },
  'store/sql/reading': {
    tier: 2,
    partOf: 'store/sql',
    siblings: [
      'store/sql/verbs/accounts',
      'store/sql/verbs/domains',
      'store/sql/verbs/message',
      'store/sql/verbs/webhooks',
      'store/sql/verbs/figures',
      'store/sql/verbs/queue',
      'store/sql/verbs/inbound',
      'store/sql/verbs/upkeep',
    ],
  },
  // Beside `opening`, only for what works on the database file itself.
  'store/sqlite': {
    tier: 2,
    siblings: ['store', 'store/sql', 'store/sql/reading', 'store/sql/verbs/domains', 'store/sql/verbs/message'],
    onlyFor: ['store/opening', 'store/moving', 'operator', 'daemon', 'sandbox'],
  },
  'store/sqlite/engine': { tier: 2, partOf: 'store/sqlite' },
  'store/sqlite/moving': { tier: 2, partOf: 'store/sqlite', siblings: ['store/sqlite/engine'] },
  'store/sqlite/reading': { tier: 2, partOf: 'store/sqlite', siblings: ['store/sqlite/engine'] },

  // Not loaded with SQLite.
  'store/postgres': {
    tier: 2,
    siblings: ['store', 'store/sql', 'store/sql/reading', 'store/sql/verbs/domains', 'store/sql/verbs/message'],
    onlyFor: ['store/opening', 'store/moving'],
  },
  'store/postgres/engine': { tier: 2, partOf: 'store/postgres' },
  'store/postgres/moving': { tier: 2, partOf: 'store/postgres', siblings: ['store/postgres/engine'] },

  // A copy from one to the other, for the command line.
  'store/moving': {
    tier: 2,
    siblings: ['store/sqlite/engine', 'store/sqlite/moving', 'store/postgres/engine', 'store/postgres/moving'],
    onlyFor: ['operator'],
  },

  events: { tier: 3 },
  tenants: { tier: 3, siblings: ['events'] },
  'tenants/accounts': { tier: 3, partOf: 'tenants' },
  domains: { tier: 3, siblings: ['events'] },
  templates: { tier: 3, siblings: ['events'] },
  suppression: { tier: 3, siblings: ['events'] },
  classify: { tier: 3, siblings: ['events'] },
  certificates: { tier: 3 },
  links: { tier: 3, siblings: ['events'] },

  submission: { tier: 4 },
  'submission/door': { tier: 4, partOf: 'submission' },
  delivery: { tier: 4 },
  // In the order of the journey backwards: each room knows those in front of it in this list, as far as it names them.
  'delivery/courier': { tier: 4, partOf: 'delivery' },
  'delivery/outcome': { tier: 4, partOf: 'delivery', siblings: ['delivery/courier'] },
  'delivery/shaping': { tier: 4, partOf: 'delivery', siblings: ['delivery/outcome'] },
  'delivery/route': {
    tier: 4,
    partOf: 'delivery',
    siblings: ['delivery/courier', 'delivery/outcome', 'delivery/shaping'],
  },
  'delivery/session': {
    tier: 4,
    partOf: 'delivery',
    siblings: ['delivery/courier', 'delivery/outcome', 'delivery/route'],
  },
  'delivery/queue': {
    tier: 4,
    partOf: 'delivery',
    siblings: ['delivery/courier', 'delivery/outcome', 'delivery/shaping', 'delivery/route', 'delivery/session'],
  },
  'delivery/ends': { tier: 4, partOf: 'delivery', siblings: ['delivery/queue'] },
  'delivery/actions': {
    tier: 4,
    partOf: 'delivery',
    siblings: ['delivery/shaping', 'delivery/queue', 'delivery/ends'],
  },
  inbound: { tier: 4 },
  webhooks: { tier: 4 },
  doctor: { tier: 4 },
  upkeep: { tier: 4 },

  // What command line and portal share, so that neither knows the other and the daemon knows no command.
  operator: { tier: 5 },
  'operator/control': { tier: 5, partOf: 'operator' },
  'operator/copies': { tier: 5, partOf: 'operator', siblings: ['operator/control'] },
  api: { tier: 5 },
  'api/body': { tier: 5, partOf: 'api', siblings: ['api/resend'] },
  'api/endpoints': { tier: 5, partOf: 'api' },
  'api/resend': { tier: 5, partOf: 'api' },
  portal: { tier: 5, siblings: ['operator'] },
  'portal/accounts': { tier: 5, partOf: 'portal' },
  'portal/settings': { tier: 5, partOf: 'portal' },
  'portal/domains': { tier: 5, partOf: 'portal' },
  'portal/keys': { tier: 5, partOf: 'portal' },
  'portal/webhooks': { tier: 5, partOf: 'portal' },
  'portal/messages': { tier: 5, partOf: 'portal' },
  'portal/suppressions': { tier: 5, partOf: 'portal' },
  'portal/overview': { tier: 5, partOf: 'portal' },
  'portal/templates': { tier: 5, partOf: 'portal' },
  'portal/mails': { tier: 5, partOf: 'portal' },
  'portal/dmarc': { tier: 5, partOf: 'portal' },
  'portal/operator': { tier: 5, partOf: 'portal', siblings: ['portal/mails', 'portal/dmarc', 'portal/overview'] },
  public: { tier: 5 },
  'links/pages': { tier: 5 },
  cli: { tier: 5, siblings: ['operator', 'operator/control', 'operator/copies'] },
  'cli/commands': { tier: 5, partOf: 'cli', siblings: ['cli/setup'] },
  'cli/setup': { tier: 5, partOf: 'cli' },

  daemon: { tier: 6 },
  sandbox: { tier: 6, siblings: ['daemon'] },
  main: { tier: 6, siblings: ['daemon', 'sandbox'] },
};

/** Packages that hide behind an interface of ours. */
export const PACKAGE_HOMES: Readonly<Record<string, readonly string[]>> = {
  'sonic-boom': ['observe'],
  'prom-client': ['observe'],
  'smol-toml': ['config', 'classify', 'delivery', 'links'],
  'hyper-express': ['http/engines'],
  'uWebSockets.js': ['http/engines'],
  uqr: ['portal/accounts'],
  'better-sqlite3': ['store/sqlite'],
  pg: ['store/postgres'],
  parse5: ['links'],
  mailparser: ['portal/mails'],
  piscina: ['threads'],
  'acme-client': ['certificates'],
  '@peculiar/x509': ['certificates'],
  'smtp-server': ['smtp-listener', 'inbound', 'submission/door', 'sandbox'],
};

/** What a command may only load when it runs: reading its arguments, and asking the daemon, must not wait for them. */
export const HEAVY_HOMES: readonly string[] = [
  'store/sqlite',
  'store/postgres',
  'store/moving',
  'observe',
  'http',
  'threads',
  'protocol/mail/inbound',
  'classify',
  'delivery',
  'doctor',
  'daemon',
];

/** Who may read the environment and end the process. */
export const PROCESS_HOMES: readonly string[] = ['main', 'cli', 'config'];

/** uWebSockets takes its limit for request headers from the environment alone. */
export const PROCESS_EXCEPTIONS: readonly { home: string; text: string }[] = [
  { home: 'http/engines', text: 'process.env.UWS_HTTP_MAX_HEADERS_SIZE' },
];

/** The home of `src/protocol/mail/dkim/dkim.ts` is `protocol/mail`, of `src/main.ts` it is `main`. */
export function homeOf(file: string): string {
  const parts = file.split('/').slice(1);
  return parts.length === 1 ? parts[0]!.replace(/\.ts$/, '') : parts.slice(0, -1).join('/');
}

/** The home that a part belongs to; of every other home itself. */
export function houseOf(home: string): string {
  return HOMES[home]?.partOf ?? home;
}

/** Null when `from` may import `to`, else the reason why not. Both are homes of the table. */
export function importProblem(from: string, to: string): string | null {
  const [source, target] = [HOMES[from]!, HOMES[to]!];
  if (from === to || source.partOf === to || target.partOf === from) return null;
  const apart = houseOf(from) !== houseOf(to);
  const rights = source.partOf && apart ? [from, source.partOf] : [from];
  const onlyFor = target.onlyFor ?? HOMES[houseOf(to)]!.onlyFor;
  if (apart && onlyFor && !rights.some((home) => onlyFor.includes(home))) {
    return `${to} is only for ${onlyFor.join(', ')}`;
  }
  if (target.tier < source.tier) return null;
  if (target.tier > source.tier) return `${to} (tier ${target.tier}) is above ${from} (tier ${source.tier})`;
  const isNamed = rights.some((home) => HOMES[home]!.siblings?.includes(to));
  return isNamed ? null : `${to} is a sibling of ${from} (both tier ${source.tier})`;
}
