// The table of who may import whom: the one place where a new folder of src/ is entered.
// Imports run downhill. Siblings of one tier stay apart unless `siblings` names them: they meet
// in the store, or through a function that daemon.ts hands over.

export interface Home {
  tier: number;
  /** Homes of the same tier that it may import; '*' is all of them. */
  siblings?: readonly string[] | '*';
  /** The only homes that may import it. */
  onlyFor?: readonly string[];
  /** A folder inside another home: it has that home's rights, and may import it and be imported by it. */
  partOf?: string;
}

/** A home is a folder of src/, or a file that stands in src/ itself (`daemon`, `main`). */
export const HOMES: Readonly<Record<string, Home>> = {
  base: { tier: 0 },

  observe: { tier: 1 },
  // Parts get the values they need, not the configuration: so a part can be tested without one.
  config: {
    tier: 1,
    onlyFor: [
      'cli',
      'foundation',
      'daemon',
      'sandbox',
      'main',
      'incoming',
      'periodic',
      'monitoring',
      'portal-routes',
      'outgoing',
      'reachable-addresses',
      'site',
    ],
  },
  http: { tier: 1 },
  'protocol/mail': { tier: 1 },
  'protocol/mail/inbound': { tier: 1, partOf: 'protocol/mail' },
  'protocol/dns': { tier: 1 },
  'protocol/smtp': { tier: 1, siblings: ['protocol/mail'] },

  store: { tier: 2 },
  // Everybody else knows the contracts only, so that a second driver can take its place.
  'store/sqlite': {
    tier: 2,
    siblings: ['store'],
    onlyFor: ['delivery/courier', 'cli', 'foundation', 'daemon', 'sandbox', 'writer-thread'],
  },

  events: { tier: 3 },
  tenants: { tier: 3, siblings: ['events'] },
  domains: { tier: 3, siblings: ['events'] },
  templates: { tier: 3, siblings: ['events'] },
  suppression: { tier: 3, siblings: ['events'] },
  classify: { tier: 3, siblings: ['events'] },
  tracking: { tier: 3, siblings: ['events'] },

  submission: { tier: 4 },
  delivery: { tier: 4 },
  'delivery/courier': { tier: 4, partOf: 'delivery' },
  inbound: { tier: 4 },
  webhooks: { tier: 4 },
  doctor: { tier: 4 },
  retention: { tier: 4 },
  figures: { tier: 4 },
  search: { tier: 4 },

  api: { tier: 5 },
  portal: { tier: 5 },
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
  'portal/operator': { tier: 5, partOf: 'portal', siblings: ['portal/mails', 'portal/dmarc'] },
  public: { tier: 5 },
  cli: { tier: 5 },
  'cli/commands': { tier: 5, partOf: 'cli' },

  sandbox: { tier: 6, siblings: '*' },
  daemon: { tier: 6, siblings: '*' },
  foundation: { tier: 6, siblings: '*' },
  incoming: { tier: 6, siblings: '*' },
  periodic: { tier: 6, siblings: '*' },
  monitoring: { tier: 6, siblings: '*' },
  'portal-routes': { tier: 6, siblings: '*' },
  outgoing: { tier: 6, siblings: '*' },
  'reachable-addresses': { tier: 6, siblings: '*' },
  site: { tier: 6, siblings: '*' },
  'writer-thread': { tier: 6, siblings: '*' },
  main: { tier: 6, siblings: '*' },
};

/** Packages that hide behind an interface of ours. */
export const PACKAGE_HOMES: Readonly<Record<string, readonly string[]>> = {
  pino: ['observe'],
  'prom-client': ['observe'],
  'smol-toml': ['config', 'classify', 'delivery', 'tracking'],
  'hyper-express': ['http'],
  'uWebSockets.js': ['http'],
  uqr: ['portal/accounts'],
  'better-sqlite3': ['store/sqlite'],
  parse5: ['tracking'],
  mailparser: ['portal/mails'],
};

/** What a command may only load when it runs: reading its arguments, and asking the daemon, must not wait for them. */
export const HEAVY_HOMES: readonly string[] = [
  'store/sqlite',
  'observe',
  'http',
  'protocol/mail/inbound',
  'classify',
  'delivery',
  'doctor',
];

/** Who may read the environment and end the process. */
export const PROCESS_HOMES: readonly string[] = ['main', 'cli', 'config'];

/** uWebSockets takes its limit for request headers from the environment alone. */
export const PROCESS_EXCEPTIONS: readonly { home: string; text: string }[] = [
  { home: 'http', text: 'process.env.UWS_HTTP_MAX_HEADERS_SIZE' },
];

/** The home of `src/protocol/mail/dkim.ts` is `protocol/mail`, of `src/main.ts` it is `main`. */
export function homeOf(file: string): string {
  const parts = file.split('/').slice(1);
  return parts.length === 1 ? parts[0]!.replace(/\.ts$/, '') : parts.slice(0, -1).join('/');
}

/** Null when `from` may import `to`, else the reason why not. Both are homes of the table. */
export function importProblem(from: string, to: string): string | null {
  const [source, target] = [HOMES[from]!, HOMES[to]!];
  if (from === to || source.partOf === to || target.partOf === from) return null;
  const rights = source.partOf ? [from, source.partOf] : [from];
  if (target.onlyFor && !rights.some((home) => target.onlyFor!.includes(home))) {
    return `${to} is only for ${target.onlyFor.join(', ')}`;
  }
  if (target.tier < source.tier) return null;
  if (target.tier > source.tier) return `${to} (tier ${target.tier}) is above ${from} (tier ${source.tier})`;
  const siblings = rights.flatMap((home) => HOMES[home]!.siblings ?? []);
  return siblings.includes('*') || siblings.includes(to)
    ? null
    : `${to} is a sibling of ${from} (both tier ${source.tier})`;
}
