// Which addresses may be connected to when a stranger chose them: a tenant's webhook, the MX or the MTA-STS host of a
// recipient's domain. The only place that decides it: public addresses, those that the operator also allows, none that
// the operator refuses, and none of our own. Resolves nothing.
import { NO_OWN_ADDRESSES, type OwnAddresses } from './own-addresses.ts';
import { isPublicAddress, networkList, networksWithWrapped } from './private-address.ts';

export interface AddressRefusal {
  /** The problem, for people: "127.0.0.1 is not a public address". */
  fact: string;
  /** The configuration key that allows or refuses it. */
  key: string;
  /** Whether `key` lists refused networks, so that an entry must be removed instead of added. */
  listed: boolean;
}

export interface AddressPolicy {
  allows(ip: string): boolean;
  /** Null: the address may be connected to. */
  refusal(ip: string): AddressRefusal | null;
  /** Changes whenever the answers may have changed, for callers that cache them. */
  version(): number;
}

export interface AddressPolicyOptions {
  /** The configuration key that `allowPrivate` comes from. */
  key: string;
  /** false: only public addresses; true: all; a list: these networks as well, even if they are our own addresses. */
  allowPrivate: boolean | readonly string[];
  own?: OwnAddresses;
  /** Refused regardless of `allowPrivate`. */
  refused?: { key: string; networks: readonly string[] };
}

export function createAddressPolicy(options: AddressPolicyOptions): AddressPolicy {
  const { key, allowPrivate, own = NO_OWN_ADDRESSES, refused = null } = options;
  const allowed = networkList(typeof allowPrivate === 'boolean' ? [] : allowPrivate);
  const refusedList = networksWithWrapped(refused?.networks ?? []);
  const refusal = (ip: string): AddressRefusal | null => {
    if (refused && refusedList.contains(ip)) {
      return { fact: `${ip} is in a network that the operator has blocked`, key: refused.key, listed: true };
    }
    if (allowPrivate === true || allowed.contains(ip)) return null;
    if (!isPublicAddress(ip)) return { fact: `${ip} is not a public address`, key, listed: false };
    const whose = own.describe(ip);
    return whose === null ? null : { fact: `${ip} is ${whose}`, key, listed: false };
  };
  return { refusal, allows: (ip) => refusal(ip) === null, version: () => own.version() };
}
