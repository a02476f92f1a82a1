// Configuration keys of what the service does: stopping, intake, limits, retention.
// Part of the one table in keys.ts.
import type { Table } from './key-types.ts';

export const SERVICE_KEYS = {
  stop: {
    doc: ['Shutdown (SIGTERM, SIGINT).'],
    keys: {
      grace: {
        type: 'duration',
        default: '25s',
        min: '100ms',
        max: '10m',
        doc: [
          'How long running calls and SMTP sessions may take to finish; nothing new starts meanwhile. Keep it',
          'below TimeoutStopSec of the systemd unit (40 s).',
        ],
      },
    },
  },

  intake: {
    doc: [
      'When POST /emails temporarily answers 500 with Retry-After. Queued mail is still delivered, which',
      'frees space.',
    ],
    keys: {
      min_disk_free: {
        type: 'number',
        default: 0.1,
        min: 0,
        max: 0.9,
        doc: [
          "Share of the data folder's disk that must be free. A tenth leaves the database room to work while",
          'the queue empties; new mail is accepted again at a fifth more. 0: the disk is not checked.',
        ],
      },
      max_memory_mib: {
        type: 'int',
        default: 0,
        min: 0,
        max: 1_048_576,
        doc: [
          'Memory of the process (resident, in MiB) above which no new mail is accepted, until usage falls by a',
          'tenth. 0: three quarters of the memory of the machine or its cgroup.',
        ],
      },
    },
  },

  limits: {
    doc: ['Limits for tenants. Lists per tier are in the order 1k, 10k, uncapped.'],
    keys: {
      requests_per_minute: {
        type: 'int-list',
        default: [1000, 10_000],
        min: 1,
        max: 10_000_000,
        doc: ['Calls per minute and API key in the tiers 1k and 10k; the third tier has no limit.'],
      },
      escalation_days: {
        type: 'int-list',
        default: [10, 30],
        min: 0,
        max: 3650,
        doc: ['Age in days at which a tenant in good standing moves to the tiers 10k and uncapped.'],
      },
      escalation_hard_bounce_rate: {
        type: 'number',
        default: 0.05,
        min: 0,
        max: 1,
        doc: ['Good standing: a hard-bounce rate below this. Receivers throttle senders above 5 %.'],
      },
      escalation_complaint_rate: {
        type: 'number',
        default: 0.003,
        min: 0,
        max: 1,
        doc: ['Good standing: a complaint rate below this. Large receivers begin to block at 0.3 %.'],
      },
      review_hard_bounce_rate: {
        type: 'number',
        default: 0.1,
        min: 0,
        max: 1,
        doc: [
          'A hard-bounce rate above this puts a tenant under review, before other tenants are affected: from 25',
          'recipients at 5 or more domains.',
        ],
      },
      review_complaint_rate: {
        type: 'number',
        default: 0.005,
        min: 0,
        max: 1,
        doc: [
          'A complaint rate above this puts a tenant under review: from a total weight of 10 (a complaint',
          'proven only by the return path counts half), from 5 or more domains.',
        ],
      },
      review_window: {
        type: 'int',
        default: 1000,
        min: 10,
        max: 1_000_000,
        doc: ['Number of last messages by which a tenant is judged: with fewer, chance would decide.'],
      },
      messages_per_hour: {
        type: 'int-list',
        default: [0, 0, 0],
        min: 0,
        max: 100_000_000,
        doc: [
          "Paces a tenant's delivery per tier, over all daemons: messages over the limit are queued, never",
          'rejected. 0 is unlimited.',
        ],
      },
      keys_per_tenant: {
        type: 'int',
        default: 50,
        min: 1,
        max: 10_000,
        doc: ['Active API keys per tenant: enough for one per application, too few for one per user.'],
      },
      domains_per_tenant: {
        type: 'int',
        default: 1000,
        min: 1,
        max: 100_000,
        doc: ['Sending domains per tenant, without those that it has deleted.'],
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
          'Whether people can register themselves. They confirm their mail address, and an operator must',
          'approve them before they can send. Off, because spammers look for open sign-up forms.',
        ],
      },
      require_second_step: {
        type: 'choice',
        default: 'operators',
        values: ['nobody', 'operators', 'everybody'],
        doc: [
          'Who must set up a second step (a code from an authenticator app) before any other page opens.',
          'Operators by default: their password alone would give access to the mail of every tenant.',
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
          'Whether to call endpoints at private and loopback addresses, at addresses of this machine, and at',
          'the hosts of service.base_url and service.links_url: false, true, or a list of networks such as',
          '["10.1.0.0/16"]. Off, because tenants choose the address.',
        ],
      },
      refused_networks: {
        type: 'text-list',
        shape: 'network',
        default: [],
        doc: [
          'Networks in which endpoints are never called, whatever allow_private says: your own public addresses',
          'that trust this machine, or that NAT leads back to it. Example: ["192.0.2.0/24", "2001:db8:1::/48"]',
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
        doc: ["Whether DNS records are re-checked on a schedule, in addition to a tenant's own checks."],
      },
    },
  },

  retention: {
    doc: ['When old data is deleted. Queued messages are never deleted.'],
    keys: {
      content_days: {
        type: 'int',
        default: 30,
        min: 0,
        max: 3650,
        doc: ['Days to keep the content of a finished message: long enough to investigate a complaint.'],
      },
      records_days: {
        type: 'int',
        default: 90,
        min: 1,
        max: 3650,
        doc: ['Days to keep finished messages and their events, without content.'],
      },
      audit_days: {
        type: 'int',
        default: 400,
        min: 1,
        max: 3650,
        doc: ['Days to keep the audit log: who changed what, with names and addresses of people.'],
      },
      platform_suppression_days: {
        type: 'int',
        default: 90,
        min: 1,
        max: 3650,
        doc: ["Days that an address stays on the platform's hard-bounce list: mailboxes can be created again."],
      },
    },
  },
} as const satisfies Table;
