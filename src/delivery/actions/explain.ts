// Explains to people why mail waits: shaping's verdict on a message, a lane and each MX group, and the
// receiver's last reply.

import { type BounceRules, classifyReply } from '../../classify/classify-reply.ts';
import { asciiDomainOf } from '../../protocol/mail/addresses/address.ts';
import type { MessageDetail, QueueLane } from '../../store/queue.ts';
import type { OperatorNote, Suspension } from '../../store/shaping.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { GroupLoad } from '../queue/group-port.ts';
import { permittedConnections } from '../shaping/adaptive-limit.ts';
import type { ShapingVerdict } from '../shaping/shaping.ts';
import type { ShapingQuestion } from '../shaping/shaping-memory.ts';
import type { Shaping } from '../shaping/shaping-state.ts';

export interface ExplainKit {
  store: StoreVerbs<{ queue: 'findWaiting'; shaping: 'groupOfDomain' | 'findPause' | 'listOperatorNotes' }>;
  shaping: Shaping;
  now(): number;
  rules(): BounceRules;
  /** Null: no daemon is running. */
  load: ((group: string | null) => GroupLoad) | null;
  sessions: number;
}

export interface MessageExplanation extends ShapingVerdict {
  /** The group that its domain's mail went to last; null: unknown. */
  group: string | null;
  lastReply: LastReply | null;
  notes: OperatorNote[];
}

export interface LastReply {
  smtpCode: number;
  enhancedCode: string | null;
  response: string;
  /** The rule that matched, and its meaning; null for a reply that refused nothing. */
  rule: string | null;
  label: string | null;
  meaning: string | null;
}

export interface GroupExplanation extends ShapingVerdict {
  group: string;
  /** Why these limits; null: they are the defaults. */
  provider: string | null;
  open: number;
  permitted: number;
  ceiling: number;
  messagesPerConnection: number;
  messagesPerMinute: number | null;
  /** Whether the connections and the messages per minute are those of all daemons together. */
  perService: boolean;
  /** If so: how many connections may be open here at present; null: there is one daemon. */
  share: number | null;
  /** Lanes in its queue, which is in memory: their mail is due. Those whose next attempt is later don't count. */
  lanes: number;
  suspensions: Suspension[];
}

const MAX_NOTES = 20;
const IDLE: GroupLoad = { open: 0, lanes: 0, openInAll: 0 };

export class Explainer {
  readonly #kit: ExplainKit;

  constructor(kit: ExplainKit) {
    this.#kit = kit;
  }

  async message(detail: MessageDetail): Promise<MessageExplanation> {
    const { store, shaping } = this.#kit;
    const domain = asciiDomainOf(detail.recipient);
    const group = await store.shaping.groupOfDomain(domain);
    const waiting = await store.queue.findWaiting(detail.id);
    const target = { kind: 'message' as const, key: detail.id };
    const notes = await store.shaping.listOperatorNotes({ target, limit: MAX_NOTES });
    const about = { group, lastReply: this.#lastReply(detail), notes };
    if (!waiting) return { ...about, decision: 'go', reasons: [], until: null };
    await shaping.learnTenant(detail.tenantId);
    const { dueAt, parked, lastReason, state } = detail;
    const pause = await store.shaping.findPause(target);
    const verdict = this.#verdict(
      { tenantId: detail.tenantId, domain, group },
      {
        message: { dueAt, scheduled: state === 'scheduled', parked, pause, lastReason },
        senderDomain: waiting.fromDomain,
        sourceAddress: detail.sourceAddress,
      },
    );
    return { ...about, ...verdict };
  }

  async lane(lane: Omit<QueueLane, 'slot'>): Promise<ShapingVerdict & { group: string | null }> {
    const { store, shaping } = this.#kit;
    const group = await store.shaping.groupOfDomain(lane.domain);
    await shaping.learnTenant(lane.tenantId);
    const message = { dueAt: lane.dueAt, parked: false, pause: null, lastReason: null };
    return { group, ...this.#verdict({ ...lane, group }, { message }) };
  }

  /** The ids of the bounce rules. */
  ruleNames(): string[] {
    return this.#kit.rules().all.map(({ id }) => id);
  }

  isKnownGroup(name: string): Promise<boolean> {
    return this.#kit.shaping.isKnownGroup(name);
  }

  /** The groups with connections, waiting lanes or anything unusual. */
  groups(): GroupExplanation[] {
    const { shaping, now } = this.#kit;
    const { memory } = shaping;
    const known = new Set([...memory.groupNames(), ...memory.pausedGroups()]);
    for (const { mxGroup } of memory.suspensionsNow(now())) known.add(mxGroup);
    const isNotable = (each: GroupExplanation) =>
      each.open > 0 ||
      each.lanes > 0 ||
      each.permitted < each.ceiling ||
      each.reasons.length > 0 ||
      each.suspensions.length > 0;
    return [...known]
      .sort()
      .map((name) => this.group(name))
      .filter(isNotable);
  }

  group(name: string): GroupExplanation {
    const { shaping, now } = this.#kit;
    const { connections: ceiling, provider, ...limits } = shaping.limitsOf(name);
    const { messagesPerConnection, messagesPerMinute, perService } = limits;
    const { open, lanes } = this.#load(name);
    const at = now();
    return {
      // Not about a particular tenant or domain.
      ...shaping.verdict({ tenantId: '', domain: '', group: { name, open }, connections: null }),
      group: name,
      provider: provider?.reason ?? null,
      open,
      lanes,
      ceiling,
      messagesPerConnection,
      messagesPerMinute,
      perService,
      share: shaping.memory.shareOf(name),
      permitted: permittedConnections(shaping.memory.group(name).concurrency),
      suspensions: shaping.memory.suspensionsNow(at).filter(({ mxGroup }) => mxGroup === name),
    };
  }

  #verdict(
    { tenantId, domain, group }: { tenantId: string; domain: string; group: string | null },
    rest: Partial<ShapingQuestion>,
  ): ShapingVerdict {
    const { shaping, load, sessions } = this.#kit;
    const { open, openInAll } = this.#load(group);
    const about = group === null ? null : { name: group, open };
    const connections = load ? { open: openInAll, limit: sessions } : null;
    return shaping.verdict({ ...rest, tenantId, domain, group: about, connections, ...(!load && { stopped: true }) });
  }

  #load(group: string | null): GroupLoad {
    return this.#kit.load?.(group) ?? IDLE;
  }

  #lastReply({ attemptList }: MessageDetail): LastReply | null {
    const peer = attemptList.at(-1)?.peer;
    if (!peer || peer.smtpCode === null) return null;
    const { smtpCode, enhancedCode, response } = peer;
    const said = { smtpCode, enhancedCode, response };
    if (smtpCode < 400) return { ...said, rule: null, label: null, meaning: null };
    const { rule, label, reason: meaning } = classifyReply(peer, this.#kit.rules());
    return { ...said, rule, label, meaning };
  }
}
