// What a check of a domain by hand came to, in the words of a tenant's and of an operator's page.
import { isRefusal, type Refusal } from '../base/refusals.ts';
import type { VerifiedDomain } from '../domains/domains.ts';
import type { Domain } from '../store/domains.ts';
import type { NoticeTone } from './notice.ts';
import { refusalSentence } from './refusal-words.ts';

interface CheckEnd {
  /** For the audit log; null: nothing was checked. */
  outcome: string | null;
  said: string;
  tone: NoticeTone;
}

/** Where too many wait for their turn, it came to nothing. */
export function endOfCheck({ name }: Domain, result: VerifiedDomain | Refusal): CheckEnd {
  if (!isRefusal(result)) {
    return { outcome: 'verified', said: `${name} is verified: its DKIM record is correct.`, tone: 'good' };
  }
  const problem = refusalSentence(result.message);
  return result.refused === 'internal_error'
    ? { outcome: null, said: `DNS was not checked. ${problem}`, tone: 'warn' }
    : { outcome: result.refused, said: `DNS was checked. ${problem}`, tone: 'warn' };
}
