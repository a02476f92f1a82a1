// Which trace a message belongs to. By default its ID is the trace's, too: nothing has to be stored, each span finds the
// others after a restart, and whoever knows the message finds the trace. A call that brings a `traceparent` (W3C Trace
// Context) decides for its messages; that is remembered in memory only.
import { hash } from 'node:crypto';
import { BoundedMap } from '../../base/bounded-map.ts';

export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** The caller's span; null: the message's first span is the root. */
  parentId: string | null;
  sampled: boolean;
}

/** Calls with a `traceparent`: enough for several minutes at full load, at some 20 MB. */
const MAX_REMEMBERED = 100_000;
const SPAN_ID_DIGITS = 16;
/** What is compared with the share: 52 bits are exact in a number, and the last 62 of a message's ID are random. */
const SAMPLED_DIGITS = 13;

const TRACE_PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ONLY_ZEROS = /^0+$/;

/** Null: there is none, or not in a form that must be followed. */
export function readTraceParent(text: string | undefined): TraceContext | null {
  const [, version, traceId = '', parentId = '', flags = '', more] = TRACE_PARENT.exec(text ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (ONLY_ZEROS.test(traceId) || ONLY_ZEROS.test(parentId)) return null;
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The ID of a message's span, by the span's name in the message. */
export function spanIdOf(messageId: string, name: string): string {
  return hash('sha256', `${messageId} ${name}`, 'hex').slice(0, SPAN_ID_DIGITS);
}

export class TraceContexts {
  readonly #share: number;
  readonly #callers = new BoundedMap<string, TraceContext>(MAX_REMEMBERED);

  /** Of all messages, so many are traced: from 0 to 1. */
  constructor(share: number) {
    this.#share = share;
  }

  remember(messageId: string, caller: TraceContext): void {
    this.#callers.set(messageId, caller);
  }

  of(messageId: string): TraceContext {
    return this.#callers.get(messageId) ?? this.#derived(messageId);
  }

  #derived(messageId: string): TraceContext {
    const traceId = messageId.replaceAll('-', '');
    const at = Number.parseInt(traceId.slice(-SAMPLED_DIGITS), 16) / 16 ** SAMPLED_DIGITS;
    return { traceId, parentId: null, sampled: at < this.#share };
  }
}
