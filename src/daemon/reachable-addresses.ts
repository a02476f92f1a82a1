// Which addresses the daemon connects to when strangers chose them, as configured. A part of the wiring list in
// daemon.ts. In the sandbox no address counts as our own, since its user runs endpoint and mailbox on the same machine.
import type { Clock } from '../base/clock.ts';
import type { Config } from '../config/keys.ts';
import { sourcePool } from '../config/source-address.ts';
import { type AddressPolicy, createAddressPolicy } from '../protocol/dns/addresses/address-policy.ts';
import { createOwnAddresses, NO_OWN_ADDRESSES } from '../protocol/dns/addresses/own-addresses.ts';
import { type TargetPolicy, targetPolicy } from '../webhooks/target.ts';

export interface ReachableAddresses {
  /** For mail, and for MTA-STS policies of receiving domains. */
  mail: AddressPolicy;
  webhooks: TargetPolicy;
}

export function reachableAddresses(
  { delivery, webhooks, service }: Config,
  { clock, isSandbox }: { clock: Clock; isSandbox: boolean },
): ReachableAddresses {
  const sources = sourcePool(delivery.source_addresses).map(({ ip }) => ip);
  const own = isSandbox ? NO_OWN_ADDRESSES : createOwnAddresses({ sources, clock });
  const ownHosts = isSandbox ? [] : [service.base_url, service.links_url].map((url) => new URL(url).hostname);
  const refusedNetworks = webhooks.refused_networks;
  return {
    mail: createAddressPolicy({ key: 'delivery.allow_private', allowPrivate: delivery.allow_private, own }),
    webhooks: targetPolicy(webhooks.allow_private, { own, ownHosts, refusedNetworks }),
  };
}
