// Configuration keys of certificates that the daemon gets from an ACME directory.
// Part of the one table in keys.ts.
import type { Table } from './key-types.ts';

export const CERTIFICATE_KEYS = {
  tls: {
    doc: [
      'Certificates from a public directory (ACME, RFC 8555) instead of files, for the hosts of',
      'service.base_url and service.links_url, for service.ehlo_name, and for names. A tls_cert goes first.',
    ],
    keys: {
      acme: {
        type: 'bool',
        default: false,
        doc: [
          'Whether to get and renew certificates. Off, because the names must resolve to this machine, and its',
          'port 80 must be reachable from the Internet.',
        ],
      },
      acme_terms_accepted: {
        type: 'bool',
        default: false,
        doc: [
          'Whether you agree to the terms of service of the directory (of the default:',
          'https://letsencrypt.org/repository/), which issues nothing without. acme requires it.',
        ],
      },
      names: {
        type: 'text-list',
        shape: 'domain',
        default: [],
        doc: [
          'More names for these certificates, of HTTP and of SMTP, such as the one that applications use for',
          'submission. Each must resolve to this machine.',
        ],
      },
      acme_challenge: {
        type: 'choice',
        default: 'http-01',
        values: ['http-01', 'tls-alpn-01'],
        doc: [
          'How names are proven. "http-01": on port 80, which also redirects to https. "tls-alpn-01": on port',
          '443, for machines whose port 80 is closed; nobody listens there then. Only with http.engine =',
          '"node": uWebSockets can\'t choose a certificate by what the client asks for. Not for',
          'several daemons behind one name: only the one that orders its certificate can prove it.',
        ],
      },
      acme_directory: {
        type: 'text',
        shape: 'acme-directory',
        default: 'production',
        doc: [
          '"production" and "staging" are those of Let\'s Encrypt; any other is the URL of a directory. Browsers',
          'do not trust what staging issues, but its limits are wide: try with it.',
        ],
      },
      acme_email: {
        type: 'text',
        shape: 'mail-address',
        default: null,
        example: 'operator@example.com',
        doc: ['Where the directory may write to about the account. Not set: service.operator_address.'],
      },
      acme_eab_kid: {
        type: 'text',
        shape: 'text',
        default: null,
        example: 'the key ID from your certificate authority',
        doc: ['External account binding, which some directories require. Requires acme_eab_key_file.'],
      },
      acme_eab_key_file: {
        type: 'path',
        default: null,
        example: '/etc/postrider/acme-eab.key',
        mustExist: true,
        doc: ['File with the MAC key of acme_eab_kid in base64url, as the certificate authority shows it.'],
      },
      acme_root: {
        type: 'path',
        default: null,
        example: '/etc/postrider/acme-root.pem',
        mustExist: true,
        doc: ['PEM file with another root certificate for calls to the directory, such as that of your own.'],
      },
      acme_host: {
        type: 'text',
        shape: 'host',
        default: '0.0.0.0',
        doc: ['Address on which challenges are answered. All IPv4 addresses, as for [smtp]; "::" adds IPv6.'],
      },
      acme_http_port: {
        type: 'int',
        default: 80,
        min: 1,
        max: 65535,
        doc: [
          'Port on which challenges are answered and everything else is redirected to https. Directories call',
          'port 80 only; choose another one if something in front forwards port 80 to it.',
        ],
      },
      runtime_dir: {
        type: 'path',
        default: '/run/postrider',
        doc: [
          'Folder in memory where "uws" finds a private key while it opens its listener; keys are encrypted',
          'everywhere else. The default is the runtime folder of the systemd unit. If it does not exist, that',
          'is data.dir.',
        ],
      },
    },
  },
} as const satisfies Table;
