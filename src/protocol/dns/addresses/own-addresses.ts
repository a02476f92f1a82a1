// The addresses of this machine: those of its interfaces, and the configured source addresses. For a stranger who
// chooses where we connect, a public one is as sensitive as loopback: from here it leads past the firewall, to services
// that trust this machine.
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { type Clock, SECOND_MS } from '../../../base/clock.ts';
import { isPublicAddress, type NetworkList, networksWithWrapped } from './private-address.ts';

export interface OwnAddresses {
  /** A description of our own address, or null. */
  describe(ip: string): string | null;
  /** Changes whenever the answers may have changed. */
  version(): number;
}

export interface OwnAddressesOptions {
  /** From `delivery.source_addresses`: an interface may get them only later. */
  sources: readonly string[];
  clock: Clock;
  /** Of this machine; replaced in tests. */
  readInterfaces?: () => NodeJS.Dict<NetworkInterfaceInfo[]>;
}

export const NO_OWN_ADDRESSES: OwnAddresses = { describe: () => null, version: () => 0 };

// Interfaces change at run time. Reading them took 50 µs with two of them (2026-11), and machines can have hundreds:
// too much for every address of every MX, but negligible every few seconds.
const READ_EVERY_MS = 5 * SECOND_MS;

export function createOwnAddresses(options: OwnAddressesOptions): OwnAddresses {
  const { sources, clock, readInterfaces = networkInterfaces } = options;
  let known = '';
  let list: NetworkList = networksWithWrapped(sources);
  let version = 0;
  let readAt: number | null = null;

  const refresh = () => {
    const now = clock.now();
    // An old list must not stay valid because the clock was set back.
    if (readAt !== null && now >= readAt && now - readAt < READ_EVERY_MS) return;
    readAt = now;
    const found = interfaceAddresses(readInterfaces);
    // If the system call fails, the last list stays valid.
    if (found === null) return;
    const ips = [...new Set([...sources, ...found])].sort();
    if (ips.join() === known) return;
    known = ips.join();
    list = networksWithWrapped(ips);
    version++;
  };

  return {
    describe(ip) {
      refresh();
      return list.contains(ip) ? 'an address of this machine' : null;
    },
    version() {
      refresh();
      return version;
    },
  };
}

function interfaceAddresses(readInterfaces: () => NodeJS.Dict<NetworkInterfaceInfo[]>): string[] | null {
  try {
    const all = Object.values(readInterfaces()).flatMap((list) => list ?? []);
    // A zone index (fe80::1%eth0) is valid on one link only, and link-local addresses are never public.
    return all.map(({ address }) => address).filter((address) => !address.includes('%'));
  } catch {
    return null;
  }
}

export interface MachineAddresses {
  public: string[];
  /** Of a network behind NAT, for the person who reads that no public one is known. */
  private: string[];
}

/** IPv4 first, in the order of the interfaces; loopback and link-local addresses are left out. */
export function machineAddresses(readInterfaces = networkInterfaces): MachineAddresses {
  const all = [...new Set(interfaceAddresses(readInterfaces) ?? [])].filter(
    (ip) => !/^(?:127\.|169\.254\.|fe80:|::1$)/.test(ip),
  );
  const sorted = [...all.filter((ip) => !ip.includes(':')), ...all.filter((ip) => ip.includes(':'))];
  return { public: sorted.filter(isPublicAddress), private: sorted.filter((ip) => !isPublicAddress(ip)) };
}
