// The sessions of one group: to which hosts each is open, and which of them linger, connected and without mail.
import type { SessionHost } from '../session/session-host.ts';

export class GroupSessions {
  /** All, with the key of their hosts. */
  readonly #all = new Map<SessionHost, string>();
  readonly #lingering = new Map<SessionHost, string>();

  get size(): number {
    return this.#all.size;
  }

  add(host: SessionHost, hostsKey: string): void {
    this.#all.set(host, hostsKey);
  }

  delete(host: SessionHost): void {
    this.#all.delete(host);
    this.#lingering.delete(host);
  }

  noteLingering(host: SessionHost, lingers: boolean): void {
    const hostsKey = this.#all.get(host);
    if (lingers && hostsKey !== undefined) this.#lingering.set(host, hostsKey);
    else this.#lingering.delete(host);
  }

  lingeringTo(hostsKey: string): SessionHost | null {
    for (const [host, key] of this.#lingering) if (key === hostsKey) return host;
    return null;
  }

  all(): SessionHost[] {
    return [...this.#all.keys()];
  }

  stopAll(): void {
    for (const host of this.all()) host.stop();
  }

  stopOneLingering(): void {
    this.#lingering.keys().next().value?.stop();
  }

  /** Stops so many that no more than `most` go on, those without mail first. */
  stopAllBut(most: number): void {
    const going = this.all().filter((host) => !host.isEnding);
    const lingering = going.filter((host) => this.#lingering.has(host));
    const busy = going.filter((host) => !this.#lingering.has(host));
    for (const host of [...lingering, ...busy].slice(0, Math.max(0, going.length - most))) host.stop();
  }

  /** Those connected, but for one of them. Counted without lists: it is asked for every result. */
  connectedBeside(host: SessionHost | null, hostsKey: string): { working: number; sameHosts: number } {
    let [working, sameHosts] = [0, 0];
    for (const [other, key] of this.#all) {
      if (other === host || !other.connected) continue;
      working++;
      if (key === hostsKey) sameHosts++;
    }
    return { working, sameHosts };
  }
}
