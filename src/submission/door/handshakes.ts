// TLS handshakes on the port with TLS from the start. The limits of connections count from the greeting, which comes after
// the handshake; without one of its own, silent sockets of a single peer would take all places and close the port.

import type { Socket } from 'node:net';
import { networkOf } from '../../base/ip-address.ts';
import type { DoorServer } from './door-server.ts';

export interface HandshakeLimits {
  /** Under way at once, of one network. */
  perPeer: number;
  withinMs: number;
}

/** smtp-server 3.21.6, smtp-server.js: by the raw socket, the one that has to be destroyed. */
interface Pending {
  _pendingSockets: Map<Socket, Socket>;
}

export class Handshakes {
  readonly #limits: HandshakeLimits;
  readonly #refused: (ip: string) => void;
  /** How many are under way, by network. */
  readonly #ofPeer = new Map<string, number>();
  /** What ends one, by the peer's address and port. */
  readonly #underWay = new Map<string, () => void>();

  constructor(limits: HandshakeLimits, refused: (ip: string) => void) {
    this.#limits = limits;
    this.#refused = refused;
  }

  watch(server: DoorServer): void {
    const accept = server.server.listeners('connection') as ((socket: Socket) => void)[];
    server.server.removeAllListeners('connection');
    // smtp-server must never see a socket that is destroyed: Node crashes when it puts TLS over it.
    server.server.on('connection', (socket: Socket) => {
      if (this.#begin(server, socket)) for (const each of accept) each.call(server.server, socket);
      else socket.destroy();
    });
    server.connecting = (socket) => this.#underWay.get(nameOf(socket))?.();
  }

  /** False: it has no place. */
  #begin(server: DoorServer, socket: Socket): boolean {
    const ip = socket.remoteAddress;
    if (ip === undefined) return false; // gone already
    const network = networkOf(ip);
    const count = this.#ofPeer.get(network) ?? 0;
    if (count >= this.#limits.perPeer) {
      this.#refused(ip);
      return false;
    }
    this.#ofPeer.set(network, count + 1);
    const name = nameOf(socket);
    const late = setTimeout(() => {
      const { _pendingSockets: pending } = server as unknown as Pending;
      (pending.get(socket) ?? socket).destroy();
    }, this.#limits.withinMs);
    const end = () => {
      clearTimeout(late);
      socket.off('close', end);
      this.#underWay.delete(name);
      const left = (this.#ofPeer.get(network) ?? 0) - 1;
      if (left > 0) this.#ofPeer.set(network, left);
      else this.#ofPeer.delete(network);
    };
    this.#underWay.set(name, end);
    socket.once('close', end);
    return true;
  }
}

function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
