// Configuration keys of `postrider doctor`: the hosts that it contacts.
// Part of the one table in keys.ts.
import type { Table } from './key-types.ts';

export const DOCTOR_KEYS = {
  doctor: {
    doc: ['Hosts that `postrider doctor` contacts. An empty list skips that check.'],
    keys: {
      mail_domains: {
        type: 'text-list',
        shape: 'domain',
        default: ['gmail.com', 'outlook.com'],
        doc: [
          'Domains whose mail servers are contacted to see whether outbound port 25 is open. Nothing is sent.',
          'Two, because one may be unavailable.',
        ],
      },
      known_domains: {
        type: 'text-list',
        shape: 'domain',
        default: ['gmail.com', 'outlook.com', 'yahoo.com', 'icloud.com'],
        doc: [
          'Domains that certainly exist and accept mail. Each DNS server is asked about each of them: mail',
          'waits if a server denies that a domain exists.',
        ],
      },
      time_sources: {
        type: 'text-list',
        shape: 'origin',
        default: ['https://mta-sts.gmail.com', 'https://mta-sts.outlook.com'],
        doc: [
          "Web servers whose Date header this machine's clock is compared with, over verified TLS. These serve",
          'MTA-STS policies, which the daemon fetches anyway.',
        ],
      },
      blocklists: {
        type: 'text-list',
        shape: 'domain',
        default: ['zen.spamhaus.org', 'bl.spamcop.net', 'psbl.surriel.com'],
        doc: [
          'DNS blocklists that are asked about every sending address. Receivers use these three the most, and',
          'they allow free queries in small numbers, but not through shared public resolvers.',
        ],
      },
    },
  },
} as const satisfies Table;
