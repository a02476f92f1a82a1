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
        doc: ['Port of MX hosts. Use another port than 25 only for tests and closed networks.'],
      },
      allow_private: {
        type: 'networks',
        default: false,
        doc: [
          'Whether to connect to an MX or MTA-STS host at a private or loopback address, or at an address of',
          "this machine: false, true, or a list of networks. Off, because the owner of a recipient's domain",
          'chooses that address. If a mailbox server runs on the same machine, list its address:',
          '["192.0.2.10"].',
        ],
      },
      starttls: {
        type: 'choice',
        default: 'opportunistic',
        values: ['opportunistic', 'required', 'none'],
        doc: [
          '"opportunistic" encrypts if the receiver offers it and accepts any certificate; "required" sends',
          'nothing in clear text, so mail to receivers without TLS fails; "none" is for debugging.',
        ],
      },
      mta_sts: {
        type: 'bool',
        default: true,
        doc: [
          'Whether to fetch MTA-STS policies (RFC 8461) of receiving domains over HTTPS and obey them, whatever',
          'starttls says. Turn it off only if the network blocks outbound port 443.',
        ],
      },
      source_addresses: {
        type: 'text-list',
        shape: 'source-address',
        default: [],
        doc: [
          "This machine's addresses to send from: each with its EHLO name, and optionally a weight (its share,",
          'default 1) and "warm" (in use for long, so source_ramp does not limit it). A message keeps its',
          'address for all attempts. IPv6 addresses are used only if their reverse name resolves back to them.',
          'Empty: the system picks the address, with service.ehlo_name. Example: ["192.0.2.10 out1.example.com',
          'weight=2 warm", "2001:db8::10 out1.example.com"]',
        ],
      },
      source_ramp: {
        type: 'count-list',
        default: [50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 102_400],
        min: 1,
        max: 10_000_000,
        doc: [
          'New messages that an address without "warm" may send to one provider (MX group) on its first,',
          'second, … day with mail there; unlimited after the last. Receivers treat a sudden flood from an',
          'unknown address as spam. Messages over the limit wait for the next day. Empty: no limit.',
        ],
      },
      workers: {
        type: 'int',
        default: 2,
        min: 1,
        max: 64,
        doc: ['Threads that compose, sign and send. Signing takes most of the time: one per core is enough.'],
      },
      connections: {
        type: 'int',
        default: 200,
        min: 1,
        max: 10_000,
        doc: ['Open connections in total; each needs a file descriptor, and many systems allow only 1,024.'],
      },
      connections_per_destination: {
        type: 'int',
        default: 10,
        min: 1,
        max: 1000,
        doc: ['Open connections per destination. Large receivers reply 421 above 10 to 20 per sender.'],
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
        doc: [
          'Messages per destination and minute; 0 is unlimited, because few receivers have such a limit. Of',
          'several daemons on one database, each has this limit: receivers count by address.',
        ],
      },
      provider_limits_file: {
        type: 'path',
        default: null,
        example: '/etc/postrider/provider-limits.toml',
        mustExist: true,
        doc: [
          'Changes and additions to config/provider-limits.toml, which lists the limits of large receivers and',
          'explains the format. Not set: that file alone. For the receivers in it, its limits override the keys',
          'above.',
        ],
      },
      linger: {
        type: 'duration',
        default: '2s',
        min: '0s',
        max: '1m',
        doc: ['How long an idle connection waits for more mail. Longer only occupies a slot at the receiver.'],
      },
      timeout_factor: {
        type: 'number',
        default: 1,
        min: 0.001,
        max: 10,
        doc: ['Scales all SMTP timeouts (RFC 5321 section 4.5.3.2). Below 1 risks duplicates; for tests only.'],
      },
      retry_steps: {
        type: 'duration-list',
        default: ['1m', '2m', '5m', '10m', '20m', '40m', '1h', '2h', '4h', '8h'],
        min: '10ms',
        max: '7d',
        doc: [
          'Delays after the first, second, … failed attempt; the last one repeats. Short at first, because',
          'greylisting ends within minutes and a password mail is worthless after an hour.',
        ],
      },
      retry_jitter: {
        type: 'number',
        default: 0.2,
        min: 0,
        max: 0.9,
        doc: [
          'Random variation of each delay, as a share, so that messages that failed together are not retried',
          'together.',
        ],
      },
      lifetime: {
        type: 'duration',
        default: '72h',
        min: '1s',
        max: '30d',
        doc: [
          'How long a message is retried before it fails. RFC 5321 section 4.5.4.1 asks for 4 to 5 days; for',
          'transactional mail three days outlast a weekend, and the sender learns of it within the week.',
        ],
      },
      no_route_lifetime: {
        type: 'duration',
        default: '4h',
        min: '10ms',
        max: '30d',
        doc: [
          'How long a message is retried if its domain has no mail server at an address that one of ours can',
          'reach, or if one DNS server says that the domain does not exist and no other server can be asked.',
          'Then the message fails, and the address is not suppressed. This leaves time to fix an error in DNS,',
          'and the sender learns of the failure the same day.',
        ],
      },
    },
  },
} as const satisfies Table;
