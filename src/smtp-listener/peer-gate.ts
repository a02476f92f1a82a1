// Limits per peer: concurrent connections, and connections, mails and refused recipients per minute. One
// peer must not use up what bounces from everyone else need.
import { type Clock, MINUTE_MS } from '../base/clock.ts';
import { networkOf } from '../base/ip-address.ts';

export interface PeerLimits {
  /** Concurrent connections of all peers together. */
  connections: number;
  connectionsPerPeer: number;
  connectionsPerMinute: number;
  mailsPerMinute: number;
  /** Refused recipients: the peer is guessing addresses. */
  refusalsPerMinute: number;
}

export type GateDecision = { decision: 'allow' } | { decision: 'refuse'; reason: string };

interface Peer {
  open: number;
  minuteStartedAt: number;
  connections: number;
  mails: number;
  refusals: number;
}

const ALLOWED: GateDecision = { decision: 'allow' };
/** At this number, peers without a connection are forgotten; their counts expire after a minute anyway. */
const MAX_REMEMBERED_PEERS = 20_000;

export class PeerGate {
  readonly #clock: Clock;
  readonly #limits: PeerLimits;
  readonly #peers = new Map<string, Peer>();
  #open = 0;

  constructor(clock: Clock, limits: PeerLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Counts an allowed connection; only that one must call `leave`. */
  enter(ip: string): GateDecision {
    const { connections, connectionsPerPeer, connectionsPerMinute, refusalsPerMinute } = this.#limits;
    const peer = this.#peer(ip);
    if (this.#open >= connections) return refuse('too many connections are open at the moment');
    if (peer.open >= connectionsPerPeer) return refuse('too many connections from your address are open');
    if (peer.connections >= connectionsPerMinute) return refuse('too many connections from your address in a minute');
    if (peer.refusals >= refusalsPerMinute) return refuse('too many recipients from your address were rejected');
    peer.open++;
    peer.connections++;
    this.#open++;
    return ALLOWED;
  }

  leave(ip: string): void {
    this.#peer(ip).open--;
    this.#open--;
  }

  mail(ip: string): GateDecision {
    const peer = this.#peer(ip);
    if (peer.mails >= this.#limits.mailsPerMinute) return refuse('too many mails from your address in a minute');
    peer.mails++;
    return ALLOWED;
  }

  /** Counts a refused recipient, and refuses the peer after too many. */
  refused(ip: string): GateDecision {
    const peer = this.#peer(ip);
    peer.refusals++;
    return peer.refusals < this.#limits.refusalsPerMinute ? ALLOWED : refuse('too many recipients were rejected');
  }

  #peer(ip: string): Peer {
    const name = networkOf(ip);
    const now = this.#clock.now();
    const known = this.#peers.get(name);
    if (known) {
      if (now - known.minuteStartedAt >= MINUTE_MS || now < known.minuteStartedAt) {
        Object.assign(known, { minuteStartedAt: now, connections: 0, mails: 0, refusals: 0 });
      }
      return known;
    }
    if (this.#peers.size >= MAX_REMEMBERED_PEERS) this.#forget();
    const peer = { open: 0, minuteStartedAt: now, connections: 0, mails: 0, refusals: 0 };
    this.#peers.set(name, peer);
    return peer;
  }

  #forget(): void {
    for (const [name, peer] of this.#peers) if (peer.open === 0) this.#peers.delete(name);
  }
}

function refuse(reason: string): GateDecision {
  return { decision: 'refuse', reason };
}
