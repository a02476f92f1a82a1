// How near a tenant is to a review: a pure function of its last messages. One recipient alone can't stop a
// tenant: there are minimum counts, a mailbox counts once, and the trouble must come from several separately
// registered domains. All subdomains of an owner are one domain, all spellings of a mailbox one mailbox.
import { counted } from '../base/text/counted.ts';
import { registeredDomain } from '../protocol/dns/registered-domain.ts';
import { aliasKeyOf } from '../protocol/mail/addresses/address.ts';
import type { JudgedMail, ProblemMessage } from '../store/suppressions.ts';

export interface ReviewLimits {
  hardBounceRate: number;
  complaintRate: number;
  /** The number of last messages by which a tenant is judged. */
  window: number;
  /** The rule of a mailbox provider's domain, whose users are unrelated; null for any other domain. */
  mailboxesAt(domain: string): MailboxRule | null;
}

/** Which addresses at a provider's domain are the same mailbox. */
export interface MailboxRule {
  /** The same for all domains at which a name is the same mailbox. */
  domain: string;
  /** Characters in the local part that are ignored. */
  ignored: string;
  /** Starts a part before the @ that is ignored, too. */
  aliasSeparator: string | null;
}

const MIN_HARD_BOUNCES = 25;
const MIN_COMPLAINT_WEIGHT = 10;
const MIN_DOMAINS = 5;
/** A provider's domain counts once per mailbox, up to this number. */
const MAX_PER_PROVIDER = 5;
const WARN_NEARNESS = 0.5;

export interface Measure {
  /** Recipients: each counts once, however many messages it got. */
  recipients: number;
  /** A complaint with a weak proof counts half. */
  weight: number;
  /** The share of all messages that were judged. */
  share: number;
  domains: number;
  /** How close to a review: 0 is far; from 1 on the tenant is stopped if there are enough domains. */
  nearness: number;
}

export interface BrakeState {
  decision: 'go_on' | 'warn' | 'review';
  /** Counts and limits, for the tenant as well as the operator. */
  reason: string;
  /** How far the tenant is from a review, in words. */
  distance: string;
  messages: number;
  hardBounces: Measure;
  complaints: Measure;
  /** The larger of the two. */
  nearness: number;
}

export function brakeOf({ messages, problems }: JudgedMail, limits: ReviewLimits): BrakeState {
  const measured = (weightOf: (message: ProblemMessage) => number, least: number, rate: number) =>
    measure(problems, { weightOf, messages, least, rate, limits });
  const hardBounces = measured(({ isHardBounce }) => (isHardBounce ? 1 : 0), MIN_HARD_BOUNCES, limits.hardBounceRate);
  const complaints = measured(({ complaintWeight }) => complaintWeight, MIN_COMPLAINT_WEIGHT, limits.complaintRate);
  const bounced = `${hardBounces.recipients} of the last ${messages} messages bounced hard (limit ${percent(limits.hardBounceRate)})`;
  const complained = `${counted(complaints.recipients, 'complaint')} in the last ${messages} messages (limit ${percent(limits.complaintRate)})`;
  const tooMany = isOver(hardBounces, MIN_HARD_BOUNCES, limits.hardBounceRate);
  const tooUnwanted = isOver(complaints, MIN_COMPLAINT_WEIGHT, limits.complaintRate);
  const nearness = Math.max(hardBounces.nearness, complaints.nearness);
  const reasons = tooMany ? bounced : tooUnwanted ? complained : `${bounced}, ${complained}`;
  return {
    decision: tooMany || tooUnwanted ? 'review' : nearness >= WARN_NEARNESS ? 'warn' : 'go_on',
    reason: reasons,
    distance: distanceOf({ hardBounces, complaints }, limits),
    messages,
    hardBounces,
    complaints,
    nearness,
  };
}

interface Counting {
  weightOf(message: ProblemMessage): number;
  messages: number;
  least: number;
  rate: number;
  limits: ReviewLimits;
}

function measure(problems: readonly ProblemMessage[], { weightOf, messages, least, rate, limits }: Counting): Measure {
  const weights = new Map<string, number>();
  const ownDomains = new Set<string>();
  const atProviders = new Map<string, Set<string>>();
  for (const message of problems) {
    const weight = weightOf(message);
    if (weight === 0) continue;
    const { mailbox, domain, isAtProvider } = mailboxOf(message.recipient, limits);
    weights.set(mailbox, Math.max(weight, weights.get(mailbox) ?? 0));
    if (isAtProvider) atProviders.set(domain, (atProviders.get(domain) ?? new Set()).add(mailbox));
    else ownDomains.add(domain);
  }
  let domains = ownDomains.size;
  for (const mailboxes of atProviders.values()) domains += Math.min(mailboxes.size, MAX_PER_PROVIDER);
  const weight = [...weights.values()].reduce((sum, one) => sum + one, 0);
  const share = messages === 0 ? 0 : weights.size / messages;
  const nearness = Math.min(weight / least, rate === 0 ? weight : share / rate);
  return { recipients: weights.size, weight, share, domains, nearness };
}

interface RecipientMailbox {
  /** Equal for all addresses that are known to reach one mailbox. */
  mailbox: string;
  domain: string;
  isAtProvider: boolean;
}

function mailboxOf(recipient: string, limits: ReviewLimits): RecipientMailbox {
  const address = aliasKeyOf(recipient);
  const at = address.lastIndexOf('@');
  const host = address.slice(at + 1);
  const rule = limits.mailboxesAt(host);
  if (rule === null) return { mailbox: address, domain: registeredDomain(host), isAtProvider: false };
  const { domain } = rule;
  return { mailbox: `${canonicalName(address.slice(0, at), rule)}@${domain}`, domain, isAtProvider: true };
}

function canonicalName(name: string, { ignored, aliasSeparator }: MailboxRule): string {
  const end = aliasSeparator === null ? -1 : name.indexOf(aliasSeparator);
  const base = end > 0 ? name.slice(0, end) : name;
  return [...base].filter((character) => !ignored.includes(character)).join('');
}

function isOver({ weight, share, domains }: Measure, least: number, rate: number): boolean {
  return weight >= least && share > rate && domains >= MIN_DOMAINS;
}

function distanceOf(
  { hardBounces, complaints }: Pick<BrakeState, 'hardBounces' | 'complaints'>,
  { hardBounceRate, complaintRate }: ReviewLimits,
): string {
  const of = ({ nearness, domains }: Measure) =>
    `${Math.floor(nearness * 100)} % of the way to a review, from ${counted(domains, 'domain')}`;
  const bounces = `Hard bounces: ${of(hardBounces)} (limit: ${MIN_HARD_BOUNCES} recipients and more than ${percent(hardBounceRate)} of the messages)`;
  const unwanted = `complaints: ${of(complaints)} (limit: a weight of ${MIN_COMPLAINT_WEIGHT} and more than ${percent(complaintRate)} of the messages)`;
  return `${bounces}; ${unwanted}; both limits need at least ${MIN_DOMAINS} domains.`;
}

function percent(rate: number): string {
  return `${Math.round(rate * 10_000) / 100} %`;
}
