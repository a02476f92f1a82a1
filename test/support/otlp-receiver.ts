// A receiver of traces (OTLP over HTTP, JSON): a real HTTP server that refuses what the protocol does not allow, keeps
// the spans, and answers as the test says.
import { once } from 'node:events';
import http, { type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  name: string;
  kind: number;
  /** In milliseconds since 1970. */
  startedAt: number;
  endedAt: number;
  attributes: Record<string, unknown>;
  /** Null: the step did not fail. */
  error: string | null;
}

export interface OtlpReceiver {
  url: string;
  /** What the last request said of its sender. */
  resource: Record<string, unknown>;
  headers: IncomingHttpHeaders;
  /** Of the requests that were accepted. */
  readonly spans: ReceivedSpan[];
  /** Spans per request, whether accepted or not. */
  readonly requests: number[];
  /** Against the protocol. */
  readonly offences: string[];
  /** The answer from now on; returns whether it has kept the spans. */
  answer(response: ServerResponse): boolean;
  /** Settles when the spans so far fit. */
  until(fits: (spans: readonly ReceivedSpan[]) => boolean): Promise<void>;
  close(): Promise<void>;
}

export function accept(response: ServerResponse): boolean {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  return true;
}

export async function startOtlpReceiver(t: Test, port = 0): Promise<OtlpReceiver> {
  const server = http.createServer();
  const waiting = new Set<() => void>();
  const receiver: OtlpReceiver = {
    url: '',
    resource: {},
    headers: {},
    spans: [],
    requests: [],
    offences: [],
    answer: accept,
    until: (fits) =>
      new Promise((resolve) => {
        const look = () => {
          if (!fits(receiver.spans)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    async close() {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
  server.on('request', async (request, response: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    receiver.headers = request.headers;
    const offend = (offence: string) => receiver.offences.push(offence);
    if (request.method !== 'POST' || request.url !== '/v1/traces') offend(`${request.method} ${request.url}`);
    if (request.headers['content-type'] !== 'application/json') offend(`type ${request.headers['content-type']}`);
    const spans = readExport(Buffer.concat(parts).toString(), receiver);
    receiver.requests.push(spans.length);
    if (!receiver.answer(response)) return;
    receiver.spans.push(...spans);
    for (const look of waiting) look();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.teardown(() => receiver.close());
  return receiver;
}

interface KeyValue {
  key: string;
  value: Record<string, unknown>;
}

interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: KeyValue[];
  status?: { code?: number; message?: string };
}

type Sent = {
  resourceSpans: {
    resource: { attributes: KeyValue[] };
    scopeSpans: { scope: { name: string; version: string }; spans: SentSpan[] }[];
  }[];
};

const SPAN_FIELDS = [
  ...['traceId', 'spanId', 'parentSpanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano', 'attributes'],
  'status',
];

/** opentelemetry-proto, `ExportTraceServiceRequest` and "JSON Protobuf Encoding". */
function readExport(text: string, receiver: Pick<OtlpReceiver, 'offences' | 'resource'>): ReceivedSpan[] {
  const offend = (offence: string) => receiver.offences.push(offence);
  const { resourceSpans, ...others } = JSON.parse(text) as Sent;
  if (Object.keys(others).length > 0) offend(`beside resourceSpans: ${Object.keys(others).join()}`);
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    receiver.resource = attributesOf(resource.attributes, offend);
    return scopeSpans.flatMap(({ scope, spans }) => {
      if (scope.name === '') offend('a scope without a name');
      if (spans.length === 0) offend('a request without a span');
      return spans.map((span) => readSpan(span, offend));
    });
  });
}

function readSpan(span: SentSpan, offend: (offence: string) => void): ReceivedSpan {
  const unknown = Object.keys(span).filter((field) => !SPAN_FIELDS.includes(field));
  if (unknown.length > 0) offend(`fields of a span: ${unknown.join()}`);
  const { traceId, spanId, parentSpanId = null, name, kind, status = {} } = span;
  if (!/^(?!0+$)[0-9a-f]{32}$/.test(traceId)) offend(`traceId ${traceId}`);
  for (const id of [spanId, ...(parentSpanId === null ? [] : [parentSpanId])]) {
    if (!/^(?!0+$)[0-9a-f]{16}$/.test(id)) offend(`span ID ${id}`);
  }
  if (name === '') offend('a span without a name');
  if (![1, 2, 3, 4, 5].includes(kind)) offend(`kind ${kind}`);
  const [startedAt, endedAt] = [span.startTimeUnixNano, span.endTimeUnixNano].map((nanos) => {
    if (typeof nanos !== 'string' || !/^\d{19}$/.test(nanos)) offend(`time ${nanos}`);
    return Number(BigInt(nanos) / 1_000_000n);
  }) as [number, number];
  if (endedAt < startedAt) offend(`${name} ends before it starts`);
  if (![undefined, 0, 1, 2].includes(status.code)) offend(`status ${status.code}`);
  const attributes = attributesOf(span.attributes, offend);
  const error = status.code === 2 ? (status.message ?? '') : null;
  return { traceId, spanId, parentSpanId, name, kind, startedAt, endedAt, attributes, error };
}

function attributesOf(list: readonly KeyValue[], offend: (offence: string) => void): Record<string, unknown> {
  const attributes: Record<string, unknown> = {};
  for (const { key, value } of list) {
    if (key in attributes) offend(`${key} twice`);
    const [[kind, content] = ['none', null], ...more] = Object.entries(value);
    const fits =
      (kind === 'stringValue' && typeof content === 'string') ||
      (kind === 'boolValue' && typeof content === 'boolean') ||
      (kind === 'intValue' && /^-?\d+$/.test(String(content)) && typeof content === 'string');
    if (!fits || more.length > 0) offend(`${key}: ${JSON.stringify(value)}`);
    attributes[key] = kind === 'intValue' ? Number(content) : content;
  }
  return attributes;
}
