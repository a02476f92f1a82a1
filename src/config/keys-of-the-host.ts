// Configuration keys that depend on where the daemon runs: sockets, files, names, DNS.
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
          'Address to listen on. Loopback, because without TLS anyone on the path can read API keys. Open it to',
          'the network only with tls_cert, or put a TLS proxy in front.',
        ],
      },
      port: {
        type: 'int',
        default: 8080,
        min: 0,
        max: 65535,
        doc: ['Port to listen on; 0 picks any free port. 8080 needs no privilege.'],
      },
      engine: {
        type: 'choice',
        default: 'uws',
        values: ['uws', 'node'],
        doc: [
          '"uws" (uWebSockets) is faster; "node" (node:http) runs wherever Node runs. If the native addon of',
          '"uws" can\'t be loaded, the daemon says so and uses "node".',
        ],
      },
      tls_cert: {
        type: 'path',
        default: null,
        example: '/etc/postrider/http.crt',
        mustExist: true,
        doc: ['PEM file with the certificate and its chain. Requires tls_key. Not set: clear text.'],
      },
      tls_key: {
        type: 'path',
        default: null,
        example: '/etc/postrider/http.key',
        mustExist: true,
        doc: ['PEM file with the private key of tls_cert.'],
      },
      trusted_proxies: {
        type: 'text-list',
        shape: 'network',
        default: [],
        doc: [
          'Addresses or networks whose X-Forwarded-For header is trusted; it is read from the right, through',
          'these hops only. Empty, because anyone can send that header. Example: ["10.0.0.0/8", "::1"]',
        ],
      },
    },
  },

  data: {
    doc: ['Where the daemon stores its data.'],
    keys: {
      dir: {
        type: 'path',
        default: '/var/lib/postrider',
        doc: [
          'Folder of the database, the master key and the control socket. It must be on a local disk, not a',
          'network share (SQLite needs working locks). The default is the state folder of the systemd unit.',
        ],
      },
      upgrade_backups: {
        type: 'int',
        default: 2,
        min: 0,
        max: 100,
        doc: [
          'Before a new version migrates the database, it is copied to postrider-schema-*.db in data.dir; this',
          'many copies are kept. They are the only way back to the old version. 0 makes none.',
        ],
      },
    },
  },

  store: {
    doc: [
      'Several daemons on several machines share one PostgreSQL (15 or newer): docs/scaling.md. Without',
      'store.url the database is SQLite in data.dir: faster on one machine, and no second server.',
    ],
    keys: {
      url: {
        type: 'text',
        shape: 'postgres-url',
        default: null,
        secret: true,
        example: 'postgres://postrider@db1.example.com,db2.example.com/postrider?sslmode=verify-full',
        doc: [
          'The database of all daemons. Of several hosts the one that accepts writes is used; if several do,',
          'the one that was promoted last. Prefer POSTRIDER_STORE_URL or password_file to a password here.',
        ],
      },
      password_file: {
        type: 'path',
        default: null,
        example: '/etc/postrider/store.password',
        mustExist: true,
        doc: ['File with the password of the user in store.url, in one line.'],
      },
      node: {
        type: 'text',
        shape: 'node-name',
        default: null,
        example: 'mail-1',
        doc: [
          'What this daemon is called among those that share the database; each has a name of its own, the same',
          "after every restart. Not set: the machine's host name.",
        ],
      },
    },
  },

  service: {
    doc: ['The names that tenants and receivers see. Set base_url; the others are derived from it.'],
    keys: {
      base_url: {
        type: 'text',
        shape: 'origin',
        default: null,
        derived: 'the address of the HTTP listener',
        example: 'https://mail.example.com',
        doc: ['Scheme, host and port of the API as seen from outside.'],
      },
      links_url: {
        type: 'text',
        shape: 'origin',
        default: null,
        derived: 'service.base_url',
        example: 'https://links.example.com',
        doc: [
          'Where tracking and unsubscribe links point. With a separate host, a blocklisting of links does not',
          'affect the API.',
        ],
      },
      bounces_domain: {
        type: 'text',
        shape: 'domain',
        default: null,
        derived: '"bounces." before the host of service.base_url',
        example: 'bounces.mail.example.com',
        doc: ['Domain of all return paths (envelope senders). Its MX must point to the inbound SMTP listener.'],
      },
      spf_domain: {
        type: 'text',
        shape: 'domain',
        default: null,
        derived: 'service.bounces_domain',
        example: 'bounces.mail.example.com',
        doc: ['What tenants include in their SPF record. The bounce domain needs this SPF record anyway.'],
      },
      dmarc_report_address: {
        type: 'text',
        shape: 'mail-address',
        default: null,
        derived: '"dmarc@" before service.bounces_domain',
        example: 'dmarc@bounces.mail.example.com',
        doc: [
          'Report address in the DMARC record given to tenants. Its domain must permit this in DNS: a TXT',
          'record "v=DMARC1" at *._report._dmarc.<its domain> (RFC 7489 section 7.1).',
        ],
      },
      ehlo_name: {
        type: 'text',
        shape: 'host',
        default: null,
        derived: 'the host of service.base_url',
        example: 'mail.example.com',
        doc: [
          'The name that the daemon uses in SMTP. It should resolve to the sending address, and that address',
          'back to it; otherwise large receivers reject mail.',
        ],
      },
      dkim_domain: {
        type: 'text',
        shape: 'domain',
        default: null,
        derived: 'service.bounces_domain',
        example: 'bounces.mail.example.com',
        doc: [
          "Domain of the service's own second DKIM signature. With it, one enrolment per complaint feedback",
          'loop covers all tenants.',
        ],
      },
      dkim_selector: {
        type: 'text',
        shape: 'selector',
        default: 'postrider',
        doc: ['Selector of that signature; its key is created at the first start.'],
      },
      operator_address: {
        type: 'text',
        shape: 'mail-address',
        default: null,
        example: 'operator@example.com',
        doc: [
          'Where mail to postmaster, abuse and fbl is forwarded, and where warnings about tenants and receivers',
          'go. Not set: such mail is only stored, and warnings are only in the log.',
        ],
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
          "Recursive resolvers, with or without a port. Empty: the system's. Run your own resolver: blocklists",
          'and large receivers answer shared public resolvers poorly. Example: ["127.0.0.1:53"]',
        ],
      },
      authority_port: {
        type: 'int',
        default: 53,
        min: 1,
        max: 65535,
        doc: [
          "Port used to query a zone's own name servers, when a domain is verified or seems not to exist. With",
          "any port other than 53, the Internet's root servers are never queried.",
        ],
      },
      allow_private: {
        type: 'bool',
        default: false,
        doc: [
          "Whether to query a zone's name server at a private or loopback address. Off, because tenants choose",
          'these addresses and could make the daemon connect to hosts inside your network.',
        ],
      },
      second_look_after: {
        type: 'duration',
        default: '15m',
        min: '10ms',
        max: '24h',
        doc: [
          'How long after DNS says that a domain does not exist (NXDOMAIN) other servers are asked. Mail to the',
          'domain bounces only if they agree. Longer than a short resolver failure; lower it only for tests.',
        ],
      },
    },
  },

  secrets: {
    doc: [
      'The master key encrypts private keys at rest. If none is given, the first start creates one in',
      'data.dir, with a warning. A database that has secrets is never given a new key.',
    ],
    keys: {
      master_key: {
        type: 'text',
        shape: 'master-key',
        default: null,
        secret: true,
        example: 'the output of: openssl rand -base64 32',
        doc: ['32 bytes in base64. Prefer POSTRIDER_SECRETS_MASTER_KEY or a file to setting it here.'],
      },
      master_key_file: {
        type: 'path',
        default: null,
        example: '/etc/postrider/master.key',
        mustExist: true,
        doc: [
          'File with such keys, one per line: the first one encrypts; the others decrypt what was encrypted',
          'with them.',
        ],
      },
    },
  },
} as const satisfies Table;
