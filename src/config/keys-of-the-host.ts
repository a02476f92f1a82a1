// Configuration keys that depend on where the daemon runs: sockets, files, names, DNS, logs.
// Part of the one table in keys.ts.
import type { Table } from './key-types.ts';

export const HOST_KEYS = {
  http: {
    doc: ['The HTTP listener: API, portal and public pages.'],
    keys: {
      host: {
        type: 'text',
        shape: 'host',
        default: '127.0.0.1',
        doc: [
          'Address to listen on. Loopback, because without TLS the API keys of every call could be read:',
          'open it to the network together with tls_cert, or put a proxy that speaks TLS in front.',
        ],
      },
      port: {
        type: 'int',
        default: 8080,
        min: 0,
        max: 65535,
        doc: ['Port to listen on; 0 takes any free one. 8080 needs no privilege.'],
      },
      engine: {
        type: 'choice',
        default: 'uws',
        values: ['uws', 'node'],
        doc: [
          '"uws" (uWebSockets) is the faster one; "node" (node:http) runs wherever Node runs. Where the',
          'addon of "uws" cannot load, the daemon says so and takes "node".',
        ],
      },
      tls_cert: {
        type: 'path',
        default: null,
        example: '/etc/postrider/http.crt',
        mustExist: true,
        doc: ['PEM file with the certificate and its chain. Not set: clear text. Goes with tls_key.'],
      },
      tls_key: {
        type: 'path',
        default: null,
        example: '/etc/postrider/http.key',
        mustExist: true,
        doc: ['PEM file with the private key that belongs to tls_cert.'],
      },
      trusted_proxies: {
        type: 'text-list',
        shape: 'network',
        default: [],
        doc: [
          'Addresses or networks whose X-Forwarded-For is believed; it is read from the right, through',
          'these hops only. Empty, because anybody can send that header. Example: ["10.0.0.0/8", "::1"]',
        ],
      },
    },
  },

  data: {
    doc: ['What the daemon writes.'],
    keys: {
      dir: {
        type: 'path',
        default: '/var/lib/postrider',
        doc: [
          'Folder of the database, the master key and the control socket: a local disk, never a network',
          'share (SQLite needs working locks). The default is where the systemd unit keeps its state.',
        ],
      },
    },
  },

  service: {
    doc: ['The names that tenants and receivers see. Set base_url; the others follow from it.'],
    keys: {
      base_url: {
        type: 'text',
        shape: 'origin',
        default: null,
        derived: 'the address of the HTTP listener',
        example: 'https://mail.example.com',
        doc: ['Scheme, host and port under which the API is reached from outside.'],
      },
      links_url: {
        type: 'text',
        shape: 'origin',
        default: null,
        derived: 'service.base_url',
        example: 'https://links.example.com',
        doc: [
          'Where tracking and unsubscribe links point. A host of its own keeps a blocklisting of links',
          'away from the API.',
        ],
      },
      bounces_domain: {
        type: 'text',
        shape: 'domain',
        default: null,
        derived: '"bounces." before the host of service.base_url',
        example: 'bounces.mail.example.com',
        doc: ['Domain of all return paths. Its MX must lead to the inbound SMTP listener.'],
      },
      spf_domain: {
        type: 'text',
        shape: 'domain',
        default: null,
        derived: 'service.bounces_domain',
        example: 'bounces.mail.example.com',
        doc: ['What tenants include in their SPF record. The bounce domain needs that very record anyway.'],
      },
      dmarc_report_address: {
        type: 'text',
        shape: 'mail-address',
        default: null,
        derived: '"dmarc@" before service.bounces_domain',
        example: 'dmarc@bounces.mail.example.com',
        doc: [
          'Report address in the DMARC record that tenants are given. Its domain must permit that in DNS:',
          'a TXT record "v=DMARC1" at *._report._dmarc.<its domain> (RFC 7489 section 7.1).',
        ],
      },
      ehlo_name: {
        type: 'text',
        shape: 'host',
        default: null,
        derived: 'the host of service.base_url',
        example: 'mail.example.com',
        doc: [
          'What the daemon calls itself in SMTP. It should resolve to the sending address, and that',
          'address back to it: big receivers refuse mail otherwise.',
        ],
      },
      dkim_domain: {
        type: 'text',
        shape: 'domain',
        default: null,
        derived: 'service.bounces_domain',
        example: 'bounces.mail.example.com',
        doc: ["Domain of the service's own second signature: complaint loops then need one enrolment."],
      },
      dkim_selector: {
        type: 'text',
        shape: 'selector',
        default: 'postrider',
        doc: ['Selector of that signature; its key is made at the first start.'],
      },
      operator_address: {
        type: 'text',
        shape: 'mail-address',
        default: null,
        example: 'operator@example.com',
        doc: ['Where mail to postmaster, abuse and fbl is forwarded. Not set: it is only kept.'],
      },
    },
  },

  dns: {
    doc: ['Name resolution.'],
    keys: {
      servers: {
        type: 'text-list',
        shape: 'dns-server',
        default: [],
        doc: [
          "Recursive resolvers, with or without port. Empty: the system's. Blocklists and big receivers",
          'answer shared public resolvers badly, so run one of your own. Example: ["127.0.0.1:53"]',
        ],
      },
      authority_port: {
        type: 'int',
        default: 53,
        min: 1,
        max: 65535,
        doc: [
          "Port at which the zones' own name servers are asked, when a domain is verified or seems not to",
          "exist. At another port than 53 the Internet's root servers are never asked.",
        ],
      },
      allow_private: {
        type: 'bool',
        default: false,
        doc: [
          "Whether a zone's name server on a private or loopback address is asked. Off, because tenants",
          'choose these addresses: they could make the daemon knock at doors inside your network.',
        ],
      },
      second_look_after: {
        type: 'duration',
        default: '15m',
        min: '10ms',
        max: '24h',
        doc: [
          'How long after a domain was said not to exist (NXDOMAIN) other servers are asked: mail to it bounces',
          'only when they say the same. Longer than a short failure of a resolver; less is for tests.',
        ],
      },
    },
  },

  secrets: {
    doc: ['The master key encrypts private keys at rest. Not given: one is made in data.dir, with a warning.'],
    keys: {
      master_key: {
        type: 'text',
        shape: 'master-key',
        default: null,
        secret: true,
        example: 'the output of: openssl rand -base64 32',
        doc: ['32 bytes in base64. Better given as POSTRIDER_SECRETS_MASTER_KEY or as a file than here.'],
      },
      master_key_file: {
        type: 'path',
        default: null,
        example: '/etc/postrider/master.key',
        mustExist: true,
        doc: ['File with such keys, one per line: the first encrypts, the others open what they once encrypted.'],
      },
    },
  },

  log: {
    doc: ['Logs are JSON lines on standard output. They hold addresses, and never a subject, body or secret.'],
    keys: {
      level: {
        type: 'choice',
        default: 'info',
        values: ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
        doc: ['"info" has every fact in the life of a message.'],
      },
    },
  },

  metrics: {
    doc: ['The Prometheus listener.'],
    keys: {
      host: {
        type: 'text',
        shape: 'host',
        default: '127.0.0.1',
        doc: ['Address to listen on. Loopback, because it asks for no key.'],
      },
      port: {
        type: 'int',
        default: 0,
        min: 0,
        max: 65535,
        doc: ['Port to listen on; 0 is off: an open port that nobody scrapes is only a risk.'],
      },
    },
  },
} as const satisfies Table;
