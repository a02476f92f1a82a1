// Combinations of keys: those that can never work, and those that work but deserve a warning.
// A rule is skipped when one of its keys is invalid itself.
import { acmeNames } from './acme-names.ts';
import { formatDuration } from './duration.ts';
import type { Config } from './keys.ts';
import { isLoopback, LISTENER_RULES, type Rule } from './listener-rules.ts';

export const RULES: readonly Rule[] = [
  ...LISTENER_RULES,
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
      return hasPassword(store) ? 'store.password_file: store.url has a password already' : null;
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

export function hasPassword({ url }: Pick<Config['store'], 'url'>): boolean {
  return url !== null && /\/\/[^@/]*:[^@/]*@/.test(url);
}

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
