// Configuration keys of submission by SMTP: the listener for applications.
// Part of the one table in keys.ts.
import type { Table } from './key-types.ts';

export const SUBMISSION_KEYS = {
  submission: {
    doc: [
      'Submission by SMTP, for applications that speak no HTTP: they sign in with any user name and an API',
      'key as the password. Off unless a port is set; docs/smtp.md has the settings of common frameworks.',
    ],
    keys: {
      host: {
        type: 'text',
        shape: 'host',
        default: '0.0.0.0',
        doc: ['Address to listen on. All IPv4 addresses, as for [smtp]; "::" adds IPv6.'],
      },
      port: {
        type: 'int',
        default: 0,
        min: 0,
        max: 65535,
        doc: [
          'Port with STARTTLS, usually 587; 0 turns it off. API keys are accepted only after STARTTLS, except',
          'from this machine itself.',
        ],
      },
      tls_port: {
        type: 'int',
        default: 0,
        min: 0,
        max: 65535,
        doc: ['Port with TLS from the start, usually 465; 0 turns it off.'],
      },
      tls_cert: {
        type: 'path',
        default: null,
        example: '/etc/postrider/submission.crt',
        mustExist: true,
        doc: [
          'PEM file with the certificate; reloaded when it changes. Not set: that of [smtp]. Applications check',
          'the name, so it must contain the host name that they connect to.',
        ],
      },
      tls_key: {
        type: 'path',
        default: null,
        example: '/etc/postrider/submission.key',
        mustExist: true,
        doc: ['PEM file with the private key of tls_cert.'],
      },
      max_mail_mib: {
        type: 'int',
        default: 25,
        min: 1,
        max: 100,
        doc: ['Largest mail in MiB, as it is sent. Large receivers accept 25 MiB; more would only bounce.'],
      },
      connections: {
        type: 'int',
        default: 500,
        min: 1,
        max: 10_000,
        doc: ['Open connections in total; each needs a file descriptor. Beyond the limit, clients get 421.'],
      },
      connections_per_peer: {
        type: 'int',
        default: 200,
        min: 1,
        max: 10_000,
        doc: ['Open connections per client (an IPv4 address, or an IPv6 /64). Many applications may share one.'],
      },
      connections_per_key: {
        type: 'int',
        default: 100,
        min: 1,
        max: 10_000,
        doc: ["Open connections per API key, so that one application can't use up those of all others."],
      },
    },
  },
} as const satisfies Table;
