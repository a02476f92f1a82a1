// Combinations of keys of the listeners that can never work: their ports and their certificates, those of a directory too.
// Part of the one list in rules.ts.
import { isIP } from 'node:net';
import { acmeNames, namesWithoutCertificate } from './acme-names.ts';
import type { Config, KeyName } from './keys.ts';

export interface Rule {
  keys: readonly KeyName[];
  /** The whole problem, beginning with its key, or null. */
  problem(config: Config): string | null;
}

export const LISTENER_RULES: readonly Rule[] = [
  tlsPair('http'),
  tlsPair('smtp'),
  tlsPair('submission'),
  separatePorts('smtp', 'http'),
  separatePorts('metrics', 'http'),
  separatePorts('metrics', 'smtp'),
  ...separatePortsOfSubmission(),
  ...certificateOfSubmission(),
  ...certificatesOfTheDirectory(),
];

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

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
