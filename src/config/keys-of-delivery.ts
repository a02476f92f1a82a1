// Configuration keys of sending mail to the receivers.
// Part of the one table in keys.ts.
import type { Table } from './key-types.ts';

export const DELIVERY_KEYS = {
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
        type: 'networks',
        default: false,
        doc: [
          'Whether an MX or MTA-STS host on a private or loopback address, or on an address of this machine, is',
          "connected to: false, true, or a list of networks. Off, because whoever owns a recipient's domain",
          'chooses that address. With a mailbox server on the same machine, list its address: ["192.0.2.10"].',
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
      mta_sts: {
        type: 'bool',
        default: true,
        doc: [
          'Whether MTA-STS policies (RFC 8461) of receiving domains are fetched over HTTPS and obeyed, whatever',
          'starttls says. Off only where the network has no way out to port 443.',
        ],
      },
      source_addresses: {
        type: 'text-list',
        shape: 'source-address',
        default: [],
        doc: [
          'Addresses of this machine that mail is sent from: each with the name that it says in EHLO, and',
          'perhaps a weight (its share, 1 if not given) and "warm" (it has been sending for long, so it is',
          'not held back by source_ramp). A message keeps its address for all tries. IPv6 addresses are used',
          'only with a reverse name that leads back to them. Empty: the system picks, with service.ehlo_name.',
          'Example: ["192.0.2.10 out1.example.com weight=2 warm", "2001:db8::10 out1.example.com"]',
        ],
      },
      source_ramp: {
        type: 'count-list',
        default: [50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 102_400],
        min: 1,
        max: 10_000_000,
        doc: [
          'New messages that an address without "warm" may send to one provider (MX group) on its first,',
          'second, … day with mail there; after the last day as many as it likes. Receivers take a sudden',
          'flood from an unknown address for spam. What is too much waits for the next day. Empty: no limit.',
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
      messages_per_minute: {
        type: 'int',
        default: 0,
        min: 0,
        max: 10_000_000,
        doc: ['Messages to one destination within a minute; 0 is no limit, because few receivers have one.'],
      },
      provider_limits_file: {
        type: 'path',
        default: null,
        example: '/etc/postrider/provider-limits.toml',
        mustExist: true,
        doc: [
          'Changes and additions to config/provider-limits.toml, which says what large receivers bear and how',
          'the file is written. Not set: that file alone. For receivers in it, its figures hold.',
        ],
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
      no_route_lifetime: {
        type: 'duration',
        default: '4h',
        min: '10ms',
        max: '30d',
        doc: [
          'How long a message is tried whose domain has no mail server with an address that one of ours can',
          'reach, or does not exist as far as one DNS server says and no other. Then it fails, and nobody is',
          'suppressed: time enough to mend an error in DNS, and the sender hears of it the same day.',
        ],
      },
    },
  },
} as const satisfies Table;
