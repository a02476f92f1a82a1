// Words for the states of domains and of their records, the same in the list and on the page.
import { type Html, html } from '../../http/html.ts';
import type { Domain, DomainCheck, DomainState } from '../../store/domains.ts';
import { badge, type Tone, time } from '../elements.ts';

const TONES: Record<DomainState, Tone> = { pending: 'busy', verified: 'good', failed: 'bad', revoked: 'quiet' };
const NAMES: Record<DomainState, string> = {
  pending: 'not verified yet',
  verified: 'verified',
  failed: 'failed',
  revoked: 'removed',
};

export function domainBadge({ state }: Pick<Domain, 'state'>): Html {
  return badge(NAMES[state], TONES[state]);
}

const REASONS: Record<string, string> = {
  not_found: 'the DKIM record is missing',
  mismatch: 'the DKIM record differs from the expected one',
  invalid_record: 'the DKIM record is invalid',
  multiple_records: 'there are several DKIM records',
  dns_unavailable: 'the name servers did not answer',
};

/** In the list: the state with its reason. */
export function stateInWords({ state, failureReason, verifiedAt }: Domain): Html {
  switch (state) {
    case 'pending':
      return html`Waiting for its DKIM record.`;
    case 'verified':
      return html`Ready to send since ${time(verifiedAt)}.`;
    case 'failed':
      return html`Can’t send: ${REASONS[failureReason ?? ''] ?? 'its DKIM record was not found'}.`;
    case 'revoked':
      return html`Mail accepted before the removal is still delivered.`;
  }
}

export const RECORD_NAMES: Record<DomainCheck['record'], string> = { dkim: 'DKIM', spf: 'SPF', dmarc: 'DMARC' };

export function checkBadge(check: Pick<DomainCheck, 'ok' | 'required' | 'reason'> | undefined): Html {
  if (!check) return badge('not checked yet');
  if (check.ok) return badge('OK', 'good');
  if (check.reason === 'dns_unavailable') return badge('no answer from DNS', 'warn');
  const word = check.reason === 'not_found' ? 'missing' : 'incorrect';
  return badge(word, check.required ? 'bad' : 'warn');
}
