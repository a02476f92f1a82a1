// Reads notifications of Amazon SES over SNS by mail: JSON in a text part, about a bounce, a complaint or a delivery.
// Lines may have been folded on the way, so line ends within it have no meaning.
import type { InboundMail, ReportedRecipient } from './inbound-mail.ts';

type Json = Record<string, unknown>;

const MAX_CHARACTERS = 256 * 1024;
const MAX_RECIPIENTS = 200;

export function readAmazonNotification(text: string): InboundMail | null {
  const start = text.search(/\{\s*"(?:notificationType|eventType)"/);
  if (start < 0) return null;
  const json = parsed(text.slice(start, start + MAX_CHARACTERS));
  if (json === null) return null;
  const type = String(json.notificationType ?? json.eventType).toLowerCase();
  const facts = object(json[type]);
  if (type === 'complaint') return complaintOf(facts);
  const recipients = type === 'bounce' ? bounced(facts) : type === 'delivery' ? delivered(facts) : [];
  if (recipients.length === 0) return null;
  return { kind: 'report', recipients, reportingMta: mtaOf(facts.reportingMTA), original: null, expansions: [] };
}

/** The JSON object at the beginning, ignoring anything after it. */
function parsed(text: string): Json | null {
  const joined = text.replace(/\n ?/g, '');
  for (
    let end = joined.lastIndexOf('}'), tries = 0;
    end > 0 && tries < 50;
    end = joined.lastIndexOf('}', end - 1), tries++
  ) {
    try {
      return object(JSON.parse(joined.slice(0, end + 1)));
    } catch {
      // The following text may contain braces, too.
    }
  }
  return null;
}

function bounced(facts: Json): ReportedRecipient[] {
  // `Transient` is final, too: it only means that a later message may succeed.
  const isPermanent = String(facts.bounceType).toLowerCase() === 'permanent';
  return list(facts.bouncedRecipients).map((recipient) => {
    const status = word(recipient.status);
    const diagnostic = word(recipient.diagnosticCode)?.replace(/^\s*[\w-]{1,20}\s*;\s*/, '');
    const diagnostics = [diagnostic, `${facts.bounceSubType ?? ''}`].filter(
      (text) => text !== undefined && text !== '',
    );
    return {
      address: word(recipient.emailAddress),
      originalAddress: null,
      action: 'failed',
      status: status ?? (isPermanent ? '5.0.0' : '4.0.0'),
      diagnostics: diagnostics as string[],
      context: null,
      remoteMta: null,
    };
  });
}

function delivered(facts: Json): ReportedRecipient[] {
  const reply = word(facts.smtpResponse);
  const addresses = Array.isArray(facts.recipients) ? facts.recipients.slice(0, MAX_RECIPIENTS) : [];
  return addresses.map((address) => ({
    address: word(address),
    originalAddress: null,
    action: 'delivered',
    status: /\b(2\.\d{1,3}\.\d{1,3})\b/.exec(reply ?? '')?.[1] ?? null,
    diagnostics: reply === null ? [] : [reply],
    context: null,
    remoteMta: null,
  }));
}

function complaintOf(facts: Json): InboundMail {
  return {
    kind: 'complaint',
    feedbackType: word(facts.complaintFeedbackType)?.toLowerCase() ?? 'abuse',
    recipients: list(facts.complainedRecipients).flatMap(({ emailAddress }) => word(emailAddress) ?? []),
    userAgent: word(facts.userAgent),
    arrivalDate: word(facts.arrivalDate),
    reportedDomain: null,
    sourceIp: null,
    reportingMta: null,
    original: null,
  };
}

function object(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.slice(0, MAX_RECIPIENTS).map(object) : [];
}

function word(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function mtaOf(value: unknown): string | null {
  return word(value)?.replace(/^\s*[\w-]{1,20}\s*;\s*/, '') ?? null;
}
