// Configuration keys of inbound mail: the SMTP listener, and when hard bounces are doubted.
// Part of the one table in keys.ts.
import type { Table } from './key-types.ts';

export const INBOUND_KEYS = {
  smtp: {
    doc: ['The inbound SMTP listener. It accepts bounces, complaints and mail to postmaster, and relays', 'nothing.'],
    keys: {
      host: {
        type: 'text',
        shape: 'host',
        default: '0.0.0.0',
        doc: ['Address to listen on. All IPv4 addresses, because bounces come from everywhere; "::" adds IPv6.'],
      },
      port: {
        type: 'int',
        default: 25,
        min: 0,
        max: 65535,
        doc: ['Port to listen on; 0 picks any free port. Other mail servers only ever try 25.'],
      },
      tls_cert: {
        type: 'path',
        default: null,
        example: '/etc/postrider/smtp.crt',
        mustExist: true,
        doc: ['PEM file with the certificate for STARTTLS; reloaded when it changes. Not set: no STARTTLS.'],
      },
      tls_key: {
        type: 'path',
        default: null,
        example: '/etc/postrider/smtp.key',
        mustExist: true,
        doc: ['PEM file with the private key of tls_cert.'],
      },
      max_mail_mib: {
        type: 'int',
        default: 16,
        min: 1,
        max: 100,
        doc: [
          'Largest mail in MiB. A bounce can return the whole message: of a larger one the first part is kept,',
          'and the rest is read and dropped.',
        ],
      },
      max_role_mail_mib: {
        type: 'int',
        default: 1,
        min: 1,
        max: 100,
        doc: [
          'Largest mail to postmaster, abuse and fbl in MiB. Anyone can write to them; real mail from people',
          'and complaint feedback loops is far smaller.',
        ],
      },
      role_store_mib: {
        type: 'int',
        default: 1024,
        min: 1,
        max: 1_048_576,
        doc: [
          'Space in the database, in MiB, for the contents of mail that anyone can send (to these roles, and',
          'DMARC reports). Beyond it the oldest contents are deleted; the entry in `inbound list` remains.',
        ],
      },
      report_store_mib: {
        type: 'int',
        default: 1024,
        min: 1,
        max: 1_048_576,
        doc: [
          'Space in the database, in MiB, for the contents of all mail to return paths and unsubscribe',
          'addresses. Beyond it the oldest contents that were acted on are deleted; the entry in `inbound list`',
          'remains.',
        ],
      },
      connections: {
        type: 'int',
        default: 500,
        min: 1,
        max: 10_000,
        doc: [
          'Open connections in total; each needs a file descriptor. Beyond the limit, peers get 421 and retry',
          'later.',
        ],
      },
      connections_per_peer: {
        type: 'int',
        default: 50,
        min: 1,
        max: 10_000,
        doc: ['Open connections per peer (an IPv4 address, or an IPv6 /64). Large senders open 20 or more.'],
      },
      connections_per_minute: {
        type: 'int',
        default: 600,
        min: 1,
        max: 1_000_000,
        doc: ['New connections per peer and minute. Honest bounces rarely need ten a second.'],
      },
      mails_per_minute: {
        type: 'int',
        default: 60_000,
        min: 1,
        max: 10_000_000,
        doc: ['Mails per peer and minute: about what two processor cores can process. Beyond it the peer gets 450.'],
      },
      refusals_per_minute: {
        type: 'int',
        default: 100,
        min: 1,
        max: 1_000_000,
        doc: ['Rejected recipients per peer and minute; then the peer gets 421. So many rejections mean guessing.'],
      },
    },
  },

  dmarc: {
    doc: [
      'How much space DMARC reports may use in the database. Anyone can send them, and 1 KB of mail can',
      'unpack to 1 MB. `postrider inbound list --kind dmarc` shows what was not stored, and why.',
    ],
    keys: {
      max_rows_per_report: {
        type: 'int',
        default: 1000,
        min: 1,
        max: 50_000,
        doc: ['Sources of one report that are stored individually; those with the fewest messages are summed up.'],
      },
      max_rows_per_domain_and_day: {
        type: 'int',
        default: 10_000,
        min: 100,
        max: 1_000_000,
        doc: [
          'Rows of all reports for one domain and day. A proven sender gets at most a quarter of them; further',
          'sources are summed up. Reports without a proven sender are counted separately.',
        ],
      },
      max_mib_per_day: {
        type: 'int',
        default: 32,
        min: 1,
        max: 1_048_576,
        doc: [
          'Space for all reports that arrive in one day, in MiB: enough for several thousand domains. A proven',
          'sender gets at most an eighth of it; all senders that are not proven together get at most half.',
        ],
      },
      large_reporters: {
        type: 'text-list',
        shape: 'domain',
        default: ['google.com', 'microsoft.com', 'yahoo.com', 'comcast.net', 'amazonses.com'],
        doc: [
          'Receivers that report on very many domains, by the organizational domain of their proven sender. The',
          'share of a single sender does not apply to them, and a quarter of each limit is reserved for them.',
        ],
      },
    },
  },

  suppression: {
    doc: [
      'When a receiver is flagged as unreliable (doubted): its hard-bounce rate has spiked. From then on',
      'its hard bounces count as soft and suppress no address until an operator decides (postrider',
      'suppression doubts). The same thresholds apply to mail without a route in DNS: if its share spikes,',
      'all of it is held.',
    ],
    keys: {
      spike_window: {
        type: 'duration',
        default: '1h',
        min: '1m',
        max: '7d',
        doc: ["Time over which the rate is measured: long enough to catch a provider's bad hour."],
      },
      spike_hard_bounces: {
        type: 'int',
        default: 100,
        min: 2,
        max: 1_000_000,
        doc: ['Minimum number of hard bounces in that time. One bad address list can cause fewer.'],
      },
      spike_share: {
        type: 'number',
        default: 0.5,
        min: 0.01,
        max: 1,
        doc: [
          'Share of messages to one MX group (domains with the same mail servers) that must bounce hard to',
          'count as a spike.',
        ],
      },
      spike_factor: {
        type: 'number',
        default: 5,
        min: 1,
        max: 1000,
        doc: [
          "And how many times the receiver's usual rate that must be (2 % if little is known about the",
          'receiver).',
        ],
      },
    },
  },
} as const satisfies Table;
