// Names our sender in words where a reply names it only by its address or domain: `<b1@bounces.acme.test>: User unknown`
// is the answer to a call-back (sender verification), and not about the recipient. wordsOf() erases whose name it was.
import { ADDRESS, addressesIn, tidyAddress } from '../protocol/mail/inbound/addresses-in-text.ts';

/** Whom a message is from, and whom it is for. */
export interface Parties {
  /** Addresses, and domains whose addresses are all ours. */
  senders: readonly string[];
  /** Never taken for a sender, nor are their domains: a tenant may write to its own domain. */
  recipients: readonly string[];
}

const ADDRESSES = new RegExp(ADDRESS, 'g');
const DOMAINS = /(?<![\w.@-])(?:[\w-]{1,63}\.){1,9}[\w-]{2,63}(?![\w@-]|\.\w)/g;

/** The same text if it names no sender, or another address as well: that is the one that it may be about. */
export function namingSender(reply: string, { senders, recipients }: Parties): string {
  const kept = new Set(recipients.flatMap((address) => [address.toLowerCase(), domainOf(address)]));
  const own = senders.map((name) => name.toLowerCase()).filter((name) => name !== '' && !kept.has(name));
  const domains = new Set(own.map(domainOf).filter((domain) => !kept.has(domain)));
  const isOurs = (address: string) =>
    own.some((name) => name === address || name === domainOf(address) || domainOf(address).endsWith(`.${name}`));
  if (addressesIn(reply).some((address) => !isOurs(address.toLowerCase()))) return reply;
  return reply
    .replace(ADDRESSES, (address) => (isOurs(tidyAddress(address).toLowerCase()) ? 'sender address' : address))
    .replace(DOMAINS, (name) => (domains.has(name.toLowerCase()) ? 'sender domain' : name));
}

function domainOf(name: string): string {
  return name.slice(name.lastIndexOf('@') + 1).toLowerCase();
}
