// What happened to a message, in the order in which it happened: attempts, events that are not an attempt's own,
// and the events' calls to webhooks. Pure: facts in, entries out.
import type { SmtpStage } from '../../base/outcome.ts';
import { replyLine } from '../../protocol/smtp/reply.ts';
import type { EventType, StoredEvent } from '../../store/events.ts';
import type { MessageView } from '../../store/message-view.ts';
import type { AttemptRecord } from '../../store/queue.ts';
import type { Suppression } from '../../store/suppressions.ts';
import type { Tone } from '../elements.ts';
import type { TimelineEntry } from './timeline-entry.ts';
import { webhookEntry } from './webhook-calls.ts';

/** `suppression`: the recipient's entry. No event says that one has unsubscribed. */
export function timelineOf(
  { message, events, webhookCalls, apiKey }: MessageView,
  suppression: Suppression | null,
): TimelineEntry[] {
  const facts: TimelineEntry['facts'] = apiKey === null ? [] : [['API key', apiKey.name]];
  const accepted: TimelineEntry = {
    at: message.createdAt,
    tone: 'busy',
    title: 'Accepted and stored',
    facts,
    reason: null,
  };
  const own = events.filter((event) => !isOfAttempt(event, message.attemptList));
  const hasLeft = suppression?.reason === 'unsubscribe' && suppression.messageId === message.id;
  const entries = [
    ...message.attemptList.map(attemptEntry),
    ...own.map(eventEntry),
    ...webhookCalls.map(webhookEntry),
    ...(hasLeft ? [unsubscribedEntry(suppression)] : []),
  ];
  return [accepted, ...entries.sort((one, other) => one.at - other.at)];
}

function unsubscribedEntry({ address, createdAt }: Suppression): TimelineEntry {
  return {
    at: createdAt,
    tone: 'warn',
    title: 'Unsubscribed',
    facts: factsOf(suppressed({ suppressed: true })),
    reason: null,
    path: `/portal/suppressions?${new URLSearchParams({ search: address })}`,
  };
}

const OUTCOMES: Record<AttemptRecord['outcome'], [title: string, tone: Tone]> = {
  delivered: ['accepted by the receiving server', 'good'],
  temporary: ['deferred', 'warn'],
  permanent: ['failed permanently', 'bad'],
};

function attemptEntry({ attempt, startedAt, outcome, peer }: AttemptRecord): TimelineEntry {
  const [title, tone] = OUTCOMES[outcome];
  const server = [peer.mx, peer.remoteIp && `(${peer.remoteIp})`].filter(Boolean).join(' ');
  const reason = replyLine(peer.smtpCode, peer.enhancedCode, peer.response);
  const facts: [string, string | null][] = [
    ['Server', server],
    ['TLS', server === '' ? null : tlsText(peer)],
    ['Policy', policyText(peer)],
    ['Stage', outcome === 'delivered' ? null : STAGES[peer.stage]],
    ['Duration', durationText(peer.elapsedMs)],
  ];
  return {
    at: startedAt,
    tone,
    title: `Attempt ${attempt}: ${title}`,
    reason,
    facts: facts.filter((fact): fact is [string, string] => fact[1] !== null && fact[1] !== ''),
  };
}

const STAGES: Record<SmtpStage, string> = {
  resolve: 'DNS lookup',
  connect: 'connecting',
  greeting: 'waiting for the greeting',
  ehlo: 'introduction (EHLO)',
  starttls: 'switching to TLS',
  mail: 'sender (MAIL)',
  rcpt: 'recipient (RCPT)',
  data: 'before the content (DATA)',
  dot: 'after the content',
  prepare: 'preparing the message',
};

function tlsText({ tls }: AttemptRecord['peer']): string {
  if (tls === null) return 'none';
  return `${tls.version}, ${tls.cipher}, certificate ${tls.verified ? 'valid for the server’s name' : 'not verified'}`;
}

function policyText({ tlsPolicy: { mode, failure } }: AttemptRecord['peer']): string | null {
  if (mode === 'none' && failure === null) return null;
  return [mode === 'none' ? 'no MTA-STS' : `MTA-STS ${mode}`, failure].filter(Boolean).join(': ');
}

function durationText(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Delivered, deferred and bounced over SMTP are told by their attempt; a notice of delay is about one that was delivered. */
function isOfAttempt({ type, data }: StoredEvent, attempts: readonly AttemptRecord[]): boolean {
  const delivery = partOf(data, 'delivery');
  const bounce = partOf(data, 'bounce');
  const isOwn =
    type === 'email.delivered' || type === 'email.deferred' || (type === 'email.bounced' && bounce.source === 'smtp');
  const number = delivery.attempt ?? bounce.attempt;
  return (
    isOwn &&
    attempts.some(
      ({ attempt, outcome }) => attempt === number && (type !== 'email.deferred' || outcome === 'temporary'),
    )
  );
}

const EVENTS: Record<EventType, [title: string, tone: Tone]> = {
  'email.delivered': ['Delivered', 'good'],
  'email.deferred': ['Delay reported by the receiving server', 'warn'],
  'email.bounced': ['Bounced', 'bad'],
  'email.failed': ['Failed', 'bad'],
  'email.canceled': ['Canceled', 'quiet'],
  'email.complained': ['Complaint', 'bad'],
  'email.opened': ['Opened', 'good'],
  'email.clicked': ['Clicked', 'good'],
};

function eventEntry({ type, at, data }: StoredEvent): TimelineEntry {
  const [title, tone] = EVENTS[type] ?? [type, 'quiet'];
  const machine = partOf(data, 'open').machine === true || partOf(data, 'click').machine === true;
  return {
    at,
    title: machine ? `${title}, most likely by a machine` : title,
    tone: machine ? 'quiet' : tone,
    ...eventDetails(type, data),
  };
}

function eventDetails(type: EventType, data: Part): Pick<TimelineEntry, 'reason' | 'facts'> {
  switch (type) {
    case 'email.opened':
    case 'email.clicked': {
      const part = partOf(data, type === 'email.opened' ? 'open' : 'click');
      const facts = { Link: part.url, Address: part.ip, Program: part.user_agent };
      return { reason: textOf(part.machine_reason), facts: factsOf(facts) };
    }
    case 'email.complained': {
      const part = partOf(data, 'complaint');
      const facts = {
        Kind: part.feedback_type,
        'Reported by': part.reported_domain ?? part.user_agent,
        ...suppressed(part),
      };
      return {
        reason: 'A provider reported that the recipient marked the message as unwanted.',
        facts: factsOf(facts),
      };
    }
    case 'email.bounced':
    case 'email.failed': {
      const part = partOf(data, 'bounce');
      const by = { Server: part.mx, 'Reported by': part.reporting_mta, 'Forwarded to': part.forwarded_to };
      const source = part.source === 'dsn' ? 'bounce mail, after the server had accepted the message' : null;
      const facts = { Type: part.type, ...by, 'Reply code': codeOf(part), Source: source, ...suppressed(part) };
      return { reason: textOf(part.diagnostic), facts: factsOf(facts) };
    }
    default: {
      const part = partOf(data, 'delivery');
      return { reason: textOf(part.response), facts: factsOf({ Server: part.mx, 'Reply code': codeOf(part) }) };
    }
  }
}

type Part = Record<string, unknown>;

function partOf(data: Part, name: string): Part {
  return (data[name] ?? {}) as Part;
}

function suppressed({ suppressed }: Part): Part {
  return { 'Suppression list': suppressed === true ? 'the address was added' : null };
}

function codeOf({ smtp_code, enhanced_code }: Part): string {
  return [smtp_code, enhanced_code].filter((part) => part !== null && part !== undefined).join(' ');
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function factsOf(named: Part): [string, string][] {
  return Object.entries(named).flatMap(([name, value]): [string, string][] => {
    const text = textOf(value);
    return text === null ? [] : [[name, text]];
  });
}
