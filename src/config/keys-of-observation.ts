// Configuration keys of what the daemon tells of itself: log, metrics, traces. Part of the one table in keys.ts.
import type { Table } from './key-types.ts';

export const OBSERVATION_KEYS = {
  log: {
    doc: ['Logs are JSON lines on standard output. They contain addresses, but never a subject, body or secret.'],
    keys: {
      level: {
        type: 'choice',
        default: 'info',
        values: ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
        doc: ['"info" logs every step in the life of a message.'],
      },
    },
  },

  metrics: {
    doc: ['The Prometheus endpoint.'],
    keys: {
      host: {
        type: 'text',
        shape: 'host',
        default: '127.0.0.1',
        doc: ['Address to listen on. Loopback, because the endpoint has no authentication.'],
      },
      port: {
        type: 'int',
        default: 0,
        min: 0,
        max: 65535,
        doc: [
          'Port to listen on; 0 turns the endpoint off. Off, because an open port that nobody scrapes is only a',
          'risk.',
        ],
      },
    },
  },

  traces: {
    doc: ["Traces of each message's way (OpenTelemetry, OTLP over HTTP); see docs/monitoring.md."],
    keys: {
      endpoint: {
        type: 'text',
        shape: 'otlp-endpoint',
        default: null,
        example: 'http://127.0.0.1:4318',
        doc: ['Where spans are sent, without /v1/traces. Not set: off, and nothing of it is loaded.'],
      },
      headers_file: {
        type: 'path',
        default: null,
        example: '/etc/postrider/traces.headers',
        mustExist: true,
        doc: ['File with header fields for the receiver, such as its key: one "Name: value" per line.'],
      },
      service_name: {
        type: 'text',
        shape: 'text',
        default: 'postrider',
        doc: ['The name (service.name) under which the receiver shows them.'],
      },
      sample: {
        type: 'number',
        default: 1,
        min: 0,
        max: 1,
        doc: ['Share of the messages that are traced; a call may decide for its own (follow_callers).'],
      },
      follow_callers: {
        type: 'bool',
        default: true,
        doc: [
          'Whether a call with a traceparent header continues its trace, and decides by its "sampled" flag.',
          'Turn it off if tenants are strangers: they could fill your receiver, and add spans to your traces.',
        ],
      },
    },
  },
} as const satisfies Table;
