// Configuration keys of `postrider doctor`: whom it asks about us.
// Part of the one table in keys.ts.
import type { Table } from './key-types.ts';

export const DOCTOR_KEYS = {
  doctor: {
    doc: ['Whom postrider doctor asks. An empty list leaves that check out.'],
    keys: {
      mail_domains: {
        type: 'text-list',
        shape: 'domain',
        default: ['gmail.com', 'outlook.com'],
        doc: [
          'Domains whose mail servers are called to see whether port 25 is open on the way out. Nothing is',
          'sent. Two, because one may just be away.',
        ],
      },
      known_domains: {
        type: 'text-list',
        shape: 'domain',
        default: ['gmail.com', 'outlook.com', 'yahoo.com', 'icloud.com'],
        doc: [
          'Domains that surely exist and take mail. Each DNS server is asked about each of them: a server that',
          'denies them would make mail wait.',
        ],
      },
      time_sources: {
        type: 'text-list',
        shape: 'origin',
        default: ['https://mta-sts.gmail.com', 'https://mta-sts.outlook.com'],
        doc: [
          "Web servers whose Date this machine's clock is compared with, over verified TLS. These serve",
          'MTA-STS policies, which the daemon fetches anyway.',
        ],
      },
      blocklists: {
        type: 'text-list',
        shape: 'domain',
        default: ['zen.spamhaus.org', 'bl.spamcop.net', 'psbl.surriel.com'],
        doc: [
          'DNS blocklists that are asked about every sending address. These three are what receivers use',
          'most and may be asked for free in small numbers, but not through shared public resolvers.',
        ],
      },
    },
  },
} as const satisfies Table;
