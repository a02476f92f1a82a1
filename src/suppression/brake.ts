// How near a tenant is to a review: a pure function of its last messages. Nobody alone can stop a tenant: there are
// least numbers, a mailbox counts once, and what counts has to come from several domains that were registered
// apart. All subdomains of one owner are one, and so are all spellings of one mailbox at a provider.
import { counted } from '../base/counted.ts';
import { registeredDomain } from '../protocol/dns/registered-domain.ts';
import { aliasKeyOf } from '../protocol/mail/address.ts';
import type { JudgedMail, ProblemMessage } from '../store/suppressions.ts';

export interface ReviewLimits {
  hardBounceRate: number;
  complaintRate: number;
  /** Over how many of its last messages a tenant is judged. */
  window: number;
  /** For a domain whose addresses are those of many people who have nothing to do with each other; else null. */
  mailboxesAt(domain: string): MailboxRule | null;
}

/** Which addresses at a provider's own domain are one mailbox. */
export interface MailboxRule {
  /** One for all domains at which a name is the same mailbox. */
  domain: string;
  /** Characters before the @ that make no difference. */
  ignored: string;
  /** What follows it before the @ makes no difference either. */
  aliasSeparator: string | null;
}

const LEAST_HARD_BOUNCES = 25;
const LEAST_COMPLAINT_WEIGHT = 10;
const LEAST_DOMAINS = 5;
/** A provider's domain counts as often as it has recipients, and so often at most. */
const MOST_OF_A_PROVIDER = 5;
const WARNED_FROM = 0.5;

export interface Measure {
  /** Recipients: each counts once, however many messages it got. */
  recipients: number;
  /** What counts of them: a complaint with a weak proof counts half. */
  weight: number;
  /** Of all messages that were looked at. */
  share: number;
  domains: number;
  /** How much of the way to a review there is behind it, from 0 on; 1 and more stops if there are domains enough. */
  nearness: number;
}

export interface BrakeState {
  decision: 'go_on' | 'warn' | 'review';
  /** Counts and limit, for the tenant as well as for the operator. */
  reason: string;
  /** What is left until a review. */
  distance: string;
  messages: number;
  hardBounces: Measure;
  complaints: Measure;
  /** The larger one of the two. */
  nearness: number;
}

export function brakeOf({ messages, problems }: JudgedMail, limits: ReviewLimits): BrakeState {
  const measured = (weightOf: (message: ProblemMessage) => number, least: number, rate: number) =>
    measure(problems, { weightOf, messages, least, rate, limits });
  const hardBounces = measured(({ isHardBounce }) => (isHardBounce ? 1 : 0), LEAST_HARD_BOUNCES, limits.hardBounceRate);
  const complaints = measured(({ complaintWeight }) => complaintWeight, LEAST_COMPLAINT_WEIGHT, limits.complaintRate);
  const bounced = `${hardBounces.recipients} of the last ${messages} messages bounced hard (limit ${percent(limits.hardBounceRate)})`;
  const complained = `${counted(complaints.recipients, 'complaint')} in the last ${messages} messages (limit ${percent(limits.complaintRate)})`;
  const tooMany = isOver(hardBounces, LEAST_HARD_BOUNCES, limits.hardBounceRate);
  const tooUnwanted = isOver(complaints, LEAST_COMPLAINT_WEIGHT, limits.complaintRate);
  const nearness = Math.max(hardBounces.nearness, complaints.nearness);
  const reasons = tooMany ? bounced : tooUnwanted ? complained : `${bounced}, ${complained}`;
  return {
    decision: tooMany || tooUnwanted ? 'review' : nearness >= WARNED_FROM ? 'warn' : 'go_on',
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
    const { mailbox, domain, isProviders } = placeOf(message.recipient, limits);
    weights.set(mailbox, Math.max(weight, weights.get(mailbox) ?? 0));
    if (isProviders) atProviders.set(domain, (atProviders.get(domain) ?? new Set()).add(mailbox));
    else ownDomains.add(domain);
  }
  let domains = ownDomains.size;
  for (const mailboxes of atProviders.values()) domains += Math.min(mailboxes.size, MOST_OF_A_PROVIDER);
  const weight = [...weights.values()].reduce((sum, one) => sum + one, 0);
  const share = messages === 0 ? 0 : weights.size / messages;
  const nearness = Math.min(weight / least, rate === 0 ? weight : share / rate);
  return { recipients: weights.size, weight, share, domains, nearness };
}

interface RecipientPlace {
  /** Equal for all addresses that reach one mailbox, as far as is known. */
  mailbox: string;
  domain: string;
  isProviders: boolean;
}

function placeOf(recipient: string, limits: ReviewLimits): RecipientPlace {
  const address = aliasKeyOf(recipient);
  const at = address.lastIndexOf('@');
  const host = address.slice(at + 1);
  const rule = limits.mailboxesAt(host);
  if (rule === null) return { mailbox: address, domain: registeredDomain(host), isProviders: false };
  const { domain } = rule;
  return { mailbox: `${plainName(address.slice(0, at), rule)}@${domain}`, domain, isProviders: true };
}

function plainName(name: string, { ignored, aliasSeparator }: MailboxRule): string {
  const end = aliasSeparator === null ? -1 : name.indexOf(aliasSeparator);
  const base = end > 0 ? name.slice(0, end) : name;
  return [...base].filter((character) => !ignored.includes(character)).join('');
}

function isOver({ weight, share, domains }: Measure, least: number, rate: number): boolean {
  return weight >= least && share > rate && domains >= LEAST_DOMAINS;
}

function distanceOf(
  { hardBounces, complaints }: Pick<BrakeState, 'hardBounces' | 'complaints'>,
  { hardBounceRate, complaintRate }: ReviewLimits,
): string {
  const of = ({ nearness, domains }: Measure) =>
    `${Math.floor(nearness * 100)} % of the way to a review, from ${counted(domains, 'domain')}`;
  const bounces = `Hard bounces: ${of(hardBounces)} (limit: ${LEAST_HARD_BOUNCES} recipients and more than ${percent(hardBounceRate)} of the messages)`;
  const unwanted = `complaints: ${of(complaints)} (limit: a weight of ${LEAST_COMPLAINT_WEIGHT} and more than ${percent(complaintRate)} of the messages)`;
  return `${bounces}; ${unwanted}; both limits need at least ${LEAST_DOMAINS} domains.`;
}

function percent(rate: number): string {
  return `${Math.round(rate * 10_000) / 100} %`;
}
