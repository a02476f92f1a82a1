// The JSON form of OTLP's spans (opentelemetry-proto, "JSON Protobuf Encoding"): IDs in hexadecimal, enums as numbers,
// 64-bit numbers as decimal strings.

const SPAN_KINDS = { internal: 1, server: 2, client: 3 } as const;
const STATUS_ERROR = 2;

export type AttributeValue = string | number | boolean;

/** Names to values; null is left out. */
export type Attributes = Readonly<Record<string, AttributeValue | null>>;

export interface SpanFacts {
  traceId: string;
  spanId: string;
  parentId: string | null;
  name: string;
  kind: keyof typeof SPAN_KINDS;
  /** In milliseconds since 1970. */
  startedAt: number;
  endedAt: number;
  attributes: Attributes;
  /** Why the step failed; null: it did not. */
  error: string | null;
}

type OtlpValue = { stringValue: string } | { intValue: string } | { boolValue: boolean };

export interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: OtlpValue }[];
  status: { code?: number; message?: string };
}

export function toOtlp(span: SpanFacts): OtlpSpan {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentId !== null && { parentSpanId: span.parentId }),
    name: span.name,
    kind: SPAN_KINDS[span.kind],
    startTimeUnixNano: nanoseconds(span.startedAt),
    // A clock may be set back in between.
    endTimeUnixNano: nanoseconds(Math.max(span.startedAt, span.endedAt)),
    attributes: attributesOf(span.attributes),
    status: span.error === null ? {} : { code: STATUS_ERROR, message: span.error },
  };
}

function attributesOf(attributes: Attributes): OtlpSpan['attributes'] {
  const given = Object.entries(attributes).filter((entry): entry is [string, AttributeValue] => entry[1] !== null);
  return given.map(([key, value]) => ({ key, value: toValue(value) }));
}

function toValue(value: AttributeValue): OtlpValue {
  if (typeof value === 'string') return { stringValue: value };
  return typeof value === 'boolean' ? { boolValue: value } : { intValue: String(Math.round(value)) };
}

function nanoseconds(ms: number): string {
  return `${Math.round(ms)}000000`;
}

/** The body of a request: `resource` says whose spans they are. */
export function exportRequest(resource: Attributes, version: string, spans: readonly OtlpSpan[]): string {
  const scopeSpans = [{ scope: { name: 'postrider', version }, spans }];
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans }] });
}

/** How many spans the receiver refused although it accepted the request, and why. */
export function readPartialSuccess(body: string): { rejected: number; why: string } {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    return { rejected: 0, why: '' };
  }
  const partial = memberOf(answer, 'partialSuccess');
  const rejected = Number(memberOf(partial, 'rejectedSpans') ?? 0);
  const why = memberOf(partial, 'errorMessage');
  return { rejected: Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0, why: String(why ?? '') };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
