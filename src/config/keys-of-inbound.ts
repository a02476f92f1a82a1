// Configuration keys of what comes back: the SMTP listener, and when hard bounces are doubted.
// Part of the one table in keys.ts.
import type { Table } from './key-types.ts';

export const INBOUND_KEYS = {
  smtp: {
    doc: ['The inbound SMTP listener. It takes bounces, complaints and mail to postmaster, and relays nothing.'],
    keys: {
      host: {
        type: 'text',
        shape: 'host',
        default: '0.0.0.0',
        doc: ['Address to listen on. All of IPv4, because bounces come from everywhere; "::" adds IPv6.'],
      },
      port: {
        type: 'int',
        default: 25,
        min: 0,
        max: 65535,
        doc: ['Port to listen on; 0 takes any free one. Other mail servers only ever try 25.'],
      },
      tls_cert: {
        type: 'path',
        default: null,
        example: '/etc/postrider/smtp.crt',
        mustExist: true,
        doc: ['PEM file with the certificate for STARTTLS, read again when it changes. Not set: no STARTTLS.'],
      },
      tls_key: {
        type: 'path',
        default: null,
        example: '/etc/postrider/smtp.key',
        mustExist: true,
        doc: ['PEM file with the private key that belongs to tls_cert.'],
      },
      max_mail_mib: {
        type: 'int',
        default: 16,
        min: 1,
        max: 100,
        doc: ['Largest mail in MiB. A bounce can bring the whole message back; ours are under 10 MiB when encoded.'],
      },
      max_role_mail_mib: {
        type: 'int',
        default: 1,
        min: 1,
        max: 100,
        doc: [
          'Largest mail to postmaster, abuse and fbl in MiB. Anybody can write to them; what people and',
          'complaint loops write is far smaller.',
        ],
      },
      role_store_mib: {
        type: 'int',
        default: 1024,
        min: 1,
        max: 1_048_576,
        doc: [
          'What the contents of all mail that anybody can send (to these roles, and DMARC reports) may take in',
          'the database, in MiB. Beyond that the oldest contents go; the entry in `inbound list` stays.',
        ],
      },
      report_store_mib: {
        type: 'int',
        default: 1024,
        min: 1,
        max: 1_048_576,
        doc: [
          'What the contents of all mail to return paths and unsubscribe addresses may take in the database,',
          'in MiB. Beyond that the oldest contents go that were acted on; the entry in `inbound list` stays.',
        ],
      },
      connections: {
        type: 'int',
        default: 500,
        min: 1,
        max: 10_000,
        doc: ['Open connections in all; each needs a file descriptor. Beyond that peers get 421 and come back.'],
      },
      connections_per_peer: {
        type: 'int',
        default: 50,
        min: 1,
        max: 10_000,
        doc: ['Open connections of one peer (an IPv4 address, or an IPv6 /64). Large senders open 20 and more.'],
      },
      connections_per_minute: {
        type: 'int',
        default: 600,
        min: 1,
        max: 1_000_000,
        doc: ['New connections of one peer in a minute: ten a second are many for honest bounces.'],
      },
      mails_per_minute: {
        type: 'int',
        default: 60_000,
        min: 1,
        max: 10_000_000,
        doc: ['Mails of one peer in a minute: about what two processor cores work off. Beyond that it gets 450.'],
      },
      refusals_per_minute: {
        type: 'int',
        default: 100,
        min: 1,
        max: 1_000_000,
        doc: ['Refused recipients of one peer in a minute; then it gets 421. Whoever has so many is guessing.'],
      },
    },
  },

  dmarc: {
    doc: [
      'How much DMARC reports may leave in the database. Anybody can send them, and 1 KB of mail can unpack',
      'to 1 MB. `postrider inbound list --kind dmarc` shows what was not stored, and why.',
    ],
    keys: {
      max_rows_per_report: {
        type: 'int',
        default: 1000,
        min: 1,
        max: 50_000,
        doc: ['Sources of one report that are stored each by itself; those with fewest messages are summed up.'],
      },
      max_rows_per_domain_and_day: {
        type: 'int',
        default: 10_000,
        min: 100,
        max: 1_000_000,
        doc: [
          'Rows of all reports on one domain and day. A proven sender gets a quarter of them at most; sources',
          'beyond that are summed up. Reports whose sender is not proven are counted apart.',
        ],
      },
      max_mib_per_day: {
        type: 'int',
        default: 32,
        min: 1,
        max: 1_048_576,
        doc: [
          'What all reports that come in on one day may take, in MiB: enough for some thousand domains. A',
          'proven sender gets an eighth of it at most, all those that are not proven half.',
        ],
      },
      large_reporters: {
        type: 'text-list',
        shape: 'domain',
        default: ['google.com', 'microsoft.com', 'yahoo.com', 'comcast.net', 'amazonses.com'],
        doc: [
          'Receivers that report on very many domains, by the organizational domain of their proven sender.',
          'They are not held to the share of one sender, and a quarter of each limit is theirs alone.',
        ],
      },
    },
  },

  suppression: {
    doc: [
      "When a receiver's hard bounces are doubted: their share has leapt. From then on they count as",
      'soft, and suppress nobody, until an operator decides (postrider suppression doubts). By the same',
      'figures all mail that DNS shows no way for is held when its share leaps.',
    ],
    keys: {
      leap_window: {
        type: 'duration',
        default: '1h',
        min: '1m',
        max: '7d',
        doc: ['Over which time the share is taken: a bad hour of a provider shall be seen within it.'],
      },
      leap_hard_bounces: {
        type: 'int',
        default: 100,
        min: 2,
        max: 1_000_000,
        doc: ['At least so many hard bounces in that time. Fewer are what one bad list of addresses makes.'],
      },
      leap_share: {
        type: 'number',
        default: 0.5,
        min: 0.01,
        max: 1,
        doc: ['The share of messages to one group of MX hosts that bounces hard, from which on it is a leap.'],
      },
      leap_factor: {
        type: 'number',
        default: 5,
        min: 1,
        max: 1000,
        doc: ['And how many times its usual share that must be (2 % where little is known of a receiver).'],
      },
    },
  },
} as const satisfies Table;
