// How much one peer may do: connections at once, connections, mails and refused recipients in a
// minute. Somebody with one address must not take what bounces from everywhere else need.
import { type Clock, MINUTE_MS } from '../base/clock.ts';
import { networkOf } from '../base/ip-address.ts';

export interface PeerLimits {
  /** Open at once, of all peers together. */
  connections: number;
  connectionsPerPeer: number;
  connectionsPerMinute: number;
  mailsPerMinute: number;
  /** Recipients that were refused: somebody is guessing. */
  refusalsPerMinute: number;
}

export type GateDecision = { decision: 'welcome' } | { decision: 'refuse'; reason: string };

interface Peer {
  open: number;
  minuteStartedAt: number;
  connections: number;
  mails: number;
  refusals: number;
}

const WELCOME: GateDecision = { decision: 'welcome' };
/** Peers without a connection are forgotten when there are so many; a minute later they would be anyway. */
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

  /** Counts the connection when it is welcome; `leave` is owed only then. */
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
    return WELCOME;
  }

  leave(ip: string): void {
    this.#peer(ip).open--;
    this.#open--;
  }

  mail(ip: string): GateDecision {
    const peer = this.#peer(ip);
    if (peer.mails >= this.#limits.mailsPerMinute) return refuse('too many mails from your address in a minute');
    peer.mails++;
    return WELCOME;
  }

  /** A recipient was refused; says when there were too many. */
  refused(ip: string): GateDecision {
    const peer = this.#peer(ip);
    peer.refusals++;
    return peer.refusals < this.#limits.refusalsPerMinute ? WELCOME : refuse('too many recipients were rejected');
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
