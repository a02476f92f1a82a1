// Configuration keys that shape what the service does: stopping, intake, limits, retention.
// Part of the one table in keys.ts.
import type { Table } from './key-types.ts';

export const SERVICE_KEYS = {
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

  intake: {
    doc: [
      'When POST /emails answers 500 with Retry-After for a while. What is queued is delivered all the',
      'same, and that makes room again.',
    ],
    keys: {
      min_disk_free: {
        type: 'number',
        default: 0.1,
        min: 0,
        max: 0.9,
        doc: [
          "Share of the data folder's disk that must be free. A tenth is room for the database to work in",
          'while it empties; mail is taken again at a fifth more. 0: the disk is not looked at.',
        ],
      },
      max_memory_mib: {
        type: 'int',
        default: 0,
        min: 0,
        max: 1_048_576,
        doc: [
          'Memory of the process (resident, in MiB) beyond which nothing new is taken, until it is down by a',
          'tenth. 0: three quarters of what the machine has, or of what its cgroup allows.',
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
        doc: [
          'A share of hard bounces above this stops a tenant for review, before all tenants suffer: from',
          '25 recipients on, at 5 domains or more.',
        ],
      },
      review_complaint_rate: {
        type: 'number',
        default: 0.005,
        min: 0,
        max: 1,
        doc: [
          'A share of complaints above this stops a tenant for review: from a weight of 10 on (half for one',
          'that only the return path proves), from 5 domains or more.',
        ],
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

  portal: {
    doc: ['The customer portal, at /portal of service.base_url.'],
    keys: {
      sign_up: {
        type: 'bool',
        default: false,
        doc: [
          'Whether people can sign up by themselves. They confirm their mail address, and an operator approves',
          'before anything is sent. Off, because a form that anybody can fill in draws those who send spam.',
        ],
      },
      require_second_step: {
        type: 'choice',
        default: 'operators',
        values: ['nobody', 'operators', 'everybody'],
        doc: [
          'Who has to set up a second step (a code of an authenticator app) before any other page opens.',
          'Operators by default: their password alone would open the mail of every tenant.',
        ],
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
          'Whether endpoints on private and loopback addresses, on addresses of this machine, and at the hosts',
          'of service.base_url and service.links_url are called: false, true, or a list of networks such as',
          '["10.1.0.0/16"]. Off, because tenants choose the address.',
        ],
      },
      refused_networks: {
        type: 'text-list',
        shape: 'network',
        default: [],
        doc: [
          'Networks that no endpoint may be in, whatever allow_private says: public addresses of your own that',
          'trust this machine, or that NAT leads back to it. Example: ["192.0.2.0/24", "2001:db8:1::/48"]',
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
      audit_days: {
        type: 'int',
        default: 400,
        min: 1,
        max: 3650,
        doc: ['Days for which the audit log is kept: who changed what, with names and addresses of people.'],
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
