// The proven sender of a mail with a report: the domain of its From field, if a DKIM signature (RFC 6376) or SPF
// (RFC 7208) of an aligned domain proves it, as in DMARC (RFC 7489 section 3.1, relaxed). It doesn't prove that
// the reporter knows anything about the reported domain.

import type { Resolver } from '../protocol/dns/lookup/resolver.ts';
import { organizationalDomain } from '../protocol/dns/published/dmarc-record.ts';
import { spfOfAddress } from '../protocol/dns/published/spf-of-address.ts';
import { parseAddress } from '../protocol/mail/addresses/address.ts';
import { addressesIn } from '../protocol/mail/inbound/addresses-in-text.ts';
import { readHeaderBlock } from '../protocol/mail/inbound/header-block.ts';
import type { NewInboundMail } from '../store/inbound.ts';
import { isVerifiable, wholeSignersOf } from './embedded-signature.ts';

export interface ReportSender {
  /** Null: the sender is not proven. */
  domain: string | null;
  /** A clause, without a full stop. */
  reason: string;
}

export type ReceivedReport = Pick<NewInboundMail, 'remoteIp' | 'ehloName' | 'mailFrom' | 'content'>;

export async function proveSender(mail: ReceivedReport, resolver: Resolver): Promise<ReportSender> {
  const from = fromDomain(mail.content);
  if (from === null) return { domain: null, reason: 'its sender is not proven: it does not have one From address' };
  const isAligned = (domain: string) => organizationalDomain(domain) === organizationalDomain(from);
  if (isVerifiable(mail.content)) {
    const signer = (await wholeSignersOf(mail.content, 'from', resolver)).find(isAligned);
    if (signer !== undefined) return { domain: from, reason: `sent by ${from} (DKIM of ${signer})` };
  }
  const domain = envelopeDomain(mail);
  if (domain !== null && isAligned(domain)) {
    const { kind } = await spfOfAddress({ ip: mail.remoteIp, domain, ehloName: mail.ehloName }, resolver);
    if (kind === 'pass') return { domain: from, reason: `sent by ${from} (SPF of ${domain})` };
  }
  return { domain: null, reason: `its sender is not proven: neither DKIM nor SPF confirms ${from}` };
}

/** Null with two fields or addresses: it is unclear which one counts. */
function fromDomain(content: Buffer): string | null {
  const text = content.toString('latin1');
  const { header } = readHeaderBlock(text, 0, text.length);
  const fields = header.fields.filter(({ name }) => name === 'from');
  const addresses = fields.length === 1 ? addressesIn(fields[0]!.value) : [];
  return addresses.length === 1 ? domainOf(addresses[0]!) : null;
}

/** RFC 7208 section 2.4: without a sender, SPF checks the EHLO name. */
function envelopeDomain({ mailFrom, ehloName }: ReceivedReport): string | null {
  return domainOf(mailFrom === '' ? `postmaster@${ehloName}` : mailFrom);
}

function domainOf(address: string): string | null {
  const parsed = parseAddress(address);
  return parsed.ok ? parsed.address.asciiDomain : null;
}
