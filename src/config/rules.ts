// Combinations of keys: those that can never work, and those that work but deserve a warning.
// A rule is skipped when one of its keys is invalid itself.
import { isIP } from 'node:net';
import { acmeNames, namesWithoutCertificate } from './acme-names.ts';
import { formatDuration } from './duration.ts';
import type { Config, KeyName } from './keys.ts';

interface Rule {
  keys: readonly KeyName[];
  /** The whole problem, beginning with its key, or null. */
  problem(config: Config): string | null;
}

export const RULES: readonly Rule[] = [
  tlsPair('http'),
  tlsPair('smtp'),
  tlsPair('submission'),
  separatePorts('smtp', 'http'),
  separatePorts('metrics', 'http'),
  separatePorts('metrics', 'smtp'),
  ...separatePortsOfSubmission(),
  ...certificateOfSubmission(),
  ...certificatesOfTheDirectory(),
  {
    keys: ['secrets.master_key', 'secrets.master_key_file'],
    problem: ({ secrets }) =>
      secrets.master_key && secrets.master_key_file
        ? 'secrets.master_key: cannot be given together with secrets.master_key_file'
        : null,
  },
  {
    keys: ['store.url', 'store.password_file'],
    problem({ store }) {
      if (store.password_file === null) return null;
      if (store.url === null) return 'store.password_file: needs store.url';
      return /\/\/[^@/]*:[^@/]*@/.test(store.url) ? 'store.password_file: store.url has a password already' : null;
    },
  },
  {
    keys: ['delivery.retry_steps', 'delivery.lifetime'],
    problem({ delivery }) {
      const first = delivery.retry_steps[0]!;
      if (first < delivery.lifetime) return null;
      return `delivery.lifetime: ${formatDuration(delivery.lifetime)} ends before the first retry (delivery.retry_steps begins with ${formatDuration(first)})`;
    },
  },
  {
    keys: ['delivery.connections', 'delivery.connections_per_destination'],
    problem: ({ delivery }) =>
      delivery.connections_per_destination > delivery.connections
        ? `delivery.connections_per_destination: ${delivery.connections_per_destination} is more than delivery.connections (${delivery.connections})`
        : null,
  },
  {
    keys: ['delivery.source_addresses'],
    problem({ delivery }) {
      const ips = delivery.source_addresses.map((text) => text.split(' ')[0]);
      const twice = ips.find((ip, index) => ips.indexOf(ip) < index);
      return twice === undefined ? null : `delivery.source_addresses: ${twice} is listed twice`;
    },
  },
  ascending('requests_per_minute'),
  ascending('escalation_days'),
  belowReview('hard_bounce_rate'),
  belowReview('complaint_rate'),
  {
    keys: ['retention.content_days', 'retention.records_days'],
    problem: ({ retention }) =>
      retention.content_days > retention.records_days
        ? `retention.content_days: ${retention.content_days} is more than retention.records_days (${retention.records_days}), but content can't outlive its message`
        : null,
  },
];

/** Warnings for the log at the start. */
export function configWarnings(config: Config): string[] {
  const warnings: string[] = [];
  const { http, service, delivery } = config;
  const { http: certified } = acmeNames(config);
  if (!isLoopback(http.host) && !http.tls_cert && !certified && http.trusted_proxies.length === 0) {
    warnings.push(
      `http.host: ${http.host} is open to the network without TLS, so every call sends its API key in clear text; set http.tls_cert and http.tls_key, or http.trusted_proxies if a proxy terminates TLS`,
    );
  }
  if (service.bounces_domain === 'localhost' || service.bounces_domain.endsWith('.localhost')) {
    warnings.push(
      `service.base_url: return paths end in ${service.bounces_domain}, which receivers refuse; set it to the public address`,
    );
  }
  if (service.links_url.startsWith('http:') && !isLoopback(new URL(service.links_url).hostname)) {
    warnings.push(
      `service.links_url: ${service.links_url} is not https, and mail programs offer one-click unsubscribe only with https`,
    );
  }
  if (delivery.allow_private === true) {
    warnings.push('delivery.allow_private: mail is also delivered to private and loopback addresses');
  }
  return [...warnings, ...openDoors(config)];
}

/** Settings that make the server trust, or be reachable by, more than most operators want. */
function openDoors({ http, metrics, traces, webhooks }: Config): string[] {
  const warnings: string[] = [];
  const everybody = http.trusted_proxies.find((network) => /\/0+$/.test(network));
  if (everybody !== undefined) {
    warnings.push(
      `http.trusted_proxies: ${everybody} trusts every client, so any client can forge the address that is throttled and logged; list only the proxy's own addresses`,
    );
  }
  if (metrics.port !== 0 && !isLoopback(metrics.host)) {
    warnings.push(
      `metrics.host: ${metrics.host} is open to the network without authentication; allow only your monitoring to reach port ${metrics.port}, or set it to 127.0.0.1`,
    );
  }
  if (traces.endpoint?.startsWith('http:') && traces.headers_file && !isLoopback(new URL(traces.endpoint).hostname)) {
    warnings.push(
      'traces.endpoint: is not https, so the header fields of traces.headers_file are sent in clear text; use https or a collector on this machine',
    );
  }
  const { allow_private: allowed } = webhooks;
  if (Array.isArray(allowed) ? allowed.length > 0 : allowed) {
    warnings.push(
      "webhooks.allow_private: tenants' webhooks may call private and loopback addresses; leave it off unless all tenants are your own",
    );
  }
  return warnings;
}

function tlsPair(section: 'http' | 'smtp' | 'submission'): Rule {
  return {
    keys: [`${section}.tls_cert`, `${section}.tls_key`],
    problem(config) {
      const { tls_cert, tls_key } = config[section];
      if (Boolean(tls_cert) === Boolean(tls_key)) return null;
      const [given, missing] = tls_cert ? ['tls_cert', 'tls_key'] : ['tls_key', 'tls_cert'];
      return `${section}.${given}: needs ${section}.${missing} as well`;
    },
  };
}

type Listener = 'http' | 'smtp' | 'metrics';

function separatePorts(later: Listener, earlier: Listener): Rule {
  return {
    keys: [`${later}.host`, `${later}.port`, `${earlier}.host`, `${earlier}.port`],
    problem: (config) =>
      takenPort({ ...config[later], name: `${later}.port` }, { ...config[earlier], name: `${earlier}.port` }),
  };
}

interface NamedPort {
  name: KeyName;
  host: string;
  port: number;
}

function takenPort(later: NamedPort, earlier: NamedPort): string | null {
  if (later.port !== earlier.port || later.port === 0 || !hostsOverlap(later.host, earlier.host)) return null;
  return `${later.name}: ${later.port} is already taken by ${earlier.name}`;
}

function separatePortsOfSubmission(): Rule[] {
  const others: readonly Listener[] = ['http', 'smtp', 'metrics'];
  const apart = (['port', 'tls_port'] as const).flatMap((key) =>
    others.map((earlier): Rule => {
      const name = `submission.${key}` as const;
      return {
        keys: ['submission.host', name, `${earlier}.host`, `${earlier}.port`],
        problem: ({ submission, [earlier]: other }) =>
          takenPort({ name, host: submission.host, port: submission[key] }, { ...other, name: `${earlier}.port` }),
      };
    }),
  );
  const ofOne: Rule = {
    keys: ['submission.port', 'submission.tls_port'],
    problem: ({ submission: { host, port, tls_port: tlsPort } }) =>
      takenPort({ name: 'submission.tls_port', host, port: tlsPort }, { name: 'submission.port', host, port }),
  };
  return [...apart, ofOne];
}

/** Without one, API keys would cross the network in clear text, or nobody could sign in. */
function certificateOfSubmission(): Rule[] {
  const keys = ['submission.tls_cert', 'submission.tls_key', 'smtp.tls_cert', 'smtp.tls_key'] as const;
  const hasNone = ({ submission, smtp, tls }: Config) => !submission.tls_cert && !smtp.tls_cert && !tls.acme;
  const files = 'set submission.tls_cert and submission.tls_key, or those of [smtp], or tls.acme';
  return [
    {
      keys: [...keys, 'submission.host', 'submission.port'],
      problem: (config) =>
        config.submission.port !== 0 && !isLoopback(config.submission.host) && hasNone(config)
          ? `submission.port: ${config.submission.host} is open to the network, so a certificate is needed: ${files}; or set submission.host = "127.0.0.1"`
          : null,
    },
    {
      keys: [...keys, 'submission.tls_port'],
      problem: (config) =>
        config.submission.tls_port !== 0 && hasNone(config)
          ? `submission.tls_port: needs a certificate: ${files}`
          : null,
    },
  ];
}

function certificatesOfTheDirectory(): Rule[] {
  const names: readonly KeyName[] = [
    'tls.acme',
    'tls.names',
    'service.base_url',
    'service.links_url',
    'service.ehlo_name',
  ];
  return [
    {
      keys: ['tls.acme', 'tls.acme_terms_accepted'],
      problem: ({ tls }) =>
        !tls.acme || tls.acme_terms_accepted
          ? null
          : 'tls.acme_terms_accepted: set it to true if you agree to the terms of service of the directory (of the default: https://letsencrypt.org/repository/); without, it issues no certificate',
    },
    {
      keys: names,
      problem(config) {
        const without = namesWithoutCertificate(acmeNames(config));
        if (without.length === 0) return null;
        return `tls.acme: no directory issues a certificate for ${without.join(', ')}; set service.base_url to the public address (and service.ehlo_name, if it is set)`;
      },
    },
    {
      keys: [...names, 'http.tls_cert', 'smtp.tls_cert'],
      problem(config) {
        const { http, smtp } = acmeNames(config);
        if (!config.tls.acme || http || smtp) return null;
        return 'tls.acme: no listener needs a certificate: remove http.tls_cert or smtp.tls_cert, or set it to false';
      },
    },
    {
      keys: [...names, 'tls.acme_challenge', 'http.engine', 'http.tls_cert', 'http.trusted_proxies'],
      problem: (config) =>
        !config.tls.acme ||
        config.tls.acme_challenge === 'http-01' ||
        (config.http.engine === 'node' && acmeNames(config).http !== null)
          ? null
          : 'tls.acme_challenge: "tls-alpn-01" needs http.engine = "node" and HTTPS with a certificate of the directory; "http-01" needs port 80 instead',
    },
    {
      keys: ['tls.acme', 'tls.acme_eab_kid', 'tls.acme_eab_key_file'],
      problem: ({ tls }) =>
        !tls.acme || Boolean(tls.acme_eab_kid) === Boolean(tls.acme_eab_key_file)
          ? null
          : 'tls.acme_eab_kid: needs tls.acme_eab_key_file as well, and the other way round',
    },
    ...(['http', 'smtp'] as const).map((other): Rule => {
      return {
        keys: [
          'tls.acme',
          'tls.acme_challenge',
          'tls.acme_host',
          'tls.acme_http_port',
          `${other}.host`,
          `${other}.port`,
        ],
        problem: ({ tls, [other]: { host, port } }) =>
          tls.acme && tls.acme_challenge === 'http-01'
            ? takenPort(
                { name: 'tls.acme_http_port', host: tls.acme_host, port: tls.acme_http_port },
                { name: `${other}.port`, host, port },
              )
            : null,
      };
    }),
  ];
}

function hostsOverlap(a: string, b: string): boolean {
  const wildcards = ['0.0.0.0', '::'];
  return a === b || wildcards.includes(a) || wildcards.includes(b);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function ascending(key: 'requests_per_minute' | 'escalation_days'): Rule {
  return {
    keys: [`limits.${key}`],
    problem({ limits }) {
      const [first, second] = limits[key];
      return first <= second
        ? null
        : `limits.${key}: the second tier (${second}) must not be below the first (${first})`;
    },
  };
}

function belowReview(rate: 'hard_bounce_rate' | 'complaint_rate'): Rule {
  const [escalation, review] = [`escalation_${rate}`, `review_${rate}`] as const;
  return {
    keys: [`limits.${escalation}`, `limits.${review}`],
    problem: ({ limits }) =>
      limits[escalation] > limits[review]
        ? `limits.${escalation}: ${limits[escalation]} is above limits.${review} (${limits[review]}), where tenants are suspended`
        : null,
  };
}
