// Configuration keys that shape what the service does: delivery, limits, retention.
// Part of the one table in keys.ts.
import type { Table } from './key-types.ts';

export const SERVICE_KEYS = {
  delivery: {
    doc: ["Sending mail to the receivers' MX hosts."],
    keys: {
      port: {
        type: 'int',
        default: 25,
        min: 1,
        max: 65535,
        doc: ['Port at which MX hosts are called. Anything but 25 is for tests and closed networks.'],
      },
      allow_private: {
        type: 'bool',
        default: false,
        doc: [
          'Whether an MX on a private or loopback address is connected to. Off, because whoever owns a',
          "recipient's domain chooses that address.",
        ],
      },
      starttls: {
        type: 'choice',
        default: 'opportunistic',
        values: ['opportunistic', 'required', 'none'],
        doc: [
          '"opportunistic" encrypts where the other side offers it and accepts any certificate; "required"',
          'sends nothing in clear text and loses receivers without TLS; "none" is for debugging.',
        ],
      },
      workers: {
        type: 'int',
        default: 2,
        min: 1,
        max: 64,
        doc: ['Threads that compose, sign and send. Signing takes the most: one per processor core is plenty.'],
      },
      connections: {
        type: 'int',
        default: 200,
        min: 1,
        max: 10_000,
        doc: ['Open connections in all; each needs a file descriptor, of which systems often give 1,024.'],
      },
      connections_per_destination: {
        type: 'int',
        default: 10,
        min: 1,
        max: 1000,
        doc: ['Open connections to one destination. Large receivers turn to 421 above 10 to 20 per sender.'],
      },
      messages_per_connection: {
        type: 'int',
        default: 100,
        min: 1,
        max: 10_000,
        doc: ['Messages after which a connection is replaced: many receivers close it around 100.'],
      },
      linger: {
        type: 'duration',
        default: '2s',
        min: '0s',
        max: '1m',
        doc: ['How long an idle connection waits for more mail. Longer holds a slot at the receiver for nothing.'],
      },
      timeout_factor: {
        type: 'number',
        default: 1,
        min: 0.001,
        max: 10,
        doc: ['Stretches or shrinks all SMTP waits (RFC 5321 section 4.5.3.2). Under 1 risks duplicates; for tests.'],
      },
      retry_steps: {
        type: 'duration-list',
        default: ['1m', '2m', '5m', '10m', '20m', '40m', '1h', '2h', '4h', '8h'],
        min: '10ms',
        max: '7d',
        doc: [
          'Pauses after the first, second, … failed attempt; the last one repeats. Short at first, because',
          'greylisting ends within minutes and a password mail is worthless after an hour.',
        ],
      },
      retry_jitter: {
        type: 'number',
        default: 0.2,
        min: 0,
        max: 0.9,
        doc: ['Share by which each pause varies at random, so that what failed together does not return together.'],
      },
      lifetime: {
        type: 'duration',
        default: '72h',
        min: '1s',
        max: '30d',
        doc: [
          'How long a message is tried before it is given up. RFC 5321 section 4.5.4.1 asks for 4 to 5 days;',
          'for transactional mail three outlast a weekend, and the sender hears of it within the week.',
        ],
      },
    },
  },

  stop: {
    doc: ['Stopping (SIGTERM, SIGINT).'],
    keys: {
      grace: {
        type: 'duration',
        default: '25s',
        min: '100ms',
        max: '10m',
        doc: [
          'How long running calls and SMTP sessions may take to finish; nothing new starts meanwhile. Keep it',
          'under TimeoutStopSec of the systemd unit (40 s).',
        ],
      },
    },
  },

  limits: {
    doc: ['What tenants may do. Lists per tier are in the order 1k, 10k, uncapped.'],
    keys: {
      requests_per_minute: {
        type: 'int-list',
        default: [1000, 10_000],
        min: 1,
        max: 10_000_000,
        doc: ['Calls per minute and API key in the tiers 1k and 10k; the third has no cap.'],
      },
      escalation_days: {
        type: 'int-list',
        default: [10, 30],
        min: 0,
        max: 3650,
        doc: ['Age in days at which a tenant in good standing reaches the tiers 10k and uncapped.'],
      },
      escalation_hard_bounce_rate: {
        type: 'number',
        default: 0.05,
        min: 0,
        max: 1,
        doc: ['Good standing: a share of hard bounces under this. Receivers throttle senders above 5 %.'],
      },
      escalation_complaint_rate: {
        type: 'number',
        default: 0.003,
        min: 0,
        max: 1,
        doc: ['Good standing: a share of complaints under this. 0.3 % is where large receivers begin to block.'],
      },
      review_hard_bounce_rate: {
        type: 'number',
        default: 0.1,
        min: 0,
        max: 1,
        doc: ['A share of hard bounces above this stops a tenant for review, before all tenants suffer.'],
      },
      review_complaint_rate: {
        type: 'number',
        default: 0.005,
        min: 0,
        max: 1,
        doc: ['A share of complaints above this stops a tenant for review.'],
      },
      review_window: {
        type: 'int',
        default: 1000,
        min: 10,
        max: 1_000_000,
        doc: ['Over how many of its last messages a tenant is judged: fewer would judge by accident.'],
      },
      messages_per_hour: {
        type: 'int-list',
        default: [0, 0, 0],
        min: 0,
        max: 100_000_000,
        doc: ["Paces a tenant's delivery: more is queued, never refused. 0 is no limit."],
      },
      keys_per_tenant: {
        type: 'int',
        default: 50,
        min: 1,
        max: 10_000,
        doc: ['Live API keys of one tenant: enough for one per application, too few for one per user.'],
      },
    },
  },

  webhooks: {
    doc: ["Delivery of events to tenants' endpoints."],
    keys: {
      allow_private: {
        type: 'networks',
        default: false,
        doc: [
          'Whether endpoints on private and loopback addresses are called: false, true, or a list of networks',
          'such as ["10.1.0.0/16"]. Off, because tenants choose the address.',
        ],
      },
    },
  },

  domains: {
    doc: ["Tenants' sending domains."],
    keys: {
      recheck: {
        type: 'bool',
        default: true,
        doc: ['Whether DNS records are looked at again by timers, besides when a tenant asks for it.'],
      },
    },
  },

  retention: {
    doc: ['When finished things are deleted. Nothing that is queued ever is.'],
    keys: {
      content_days: {
        type: 'int',
        default: 30,
        min: 0,
        max: 3650,
        doc: ['Days for which the content of a finished message is kept: long enough to look into a complaint.'],
      },
      records_days: {
        type: 'int',
        default: 90,
        min: 1,
        max: 3650,
        doc: ['Days for which finished messages and their events are kept, without their content.'],
      },
      platform_suppression_days: {
        type: 'int',
        default: 90,
        min: 1,
        max: 3650,
        doc: ["Days for which an address stays on the platform's hard-bounce list: mailboxes come back."],
      },
    },
  },
} as const satisfies Table;
