// address explain: what the service makes of an address, and why. Asks neither daemon nor DNS.
import { parseAddress, policyRefusal } from '../../protocol/mail/address.ts';
import { done, localCommand } from '../command.ts';
import { positional, required, verbatim } from '../option.ts';
import { renderFacts } from '../table.ts';

export const addressExplain = localCommand({
  name: 'address explain',
  summary: 'Says whether an address is valid syntax and would be accepted, and why not.',
  options: { address: required(positional(verbatim('ADDRESS', 'the address, bare and as written'))) },
  run: async (_, { address }) => done(explain(address)),
  render: ({ syntax_ok, form, accepted, reason }) =>
    renderFacts([
      ['syntax', syntax_ok ? 'valid' : 'not valid'],
      ['form', form],
      ['accepted', accepted ? 'yes' : 'no'],
      ['reason', reason],
    ]),
});

interface Explanation {
  syntax_ok: boolean;
  /** How the local part is written; null when there is none. */
  form: 'dot-string' | 'quoted' | null;
  accepted: boolean;
  /** Why it is not accepted; null when it is. */
  reason: string | null;
}

function explain(text: string): Explanation {
  const parsed = parseAddress(text);
  if (!parsed.ok) return { syntax_ok: false, form: null, accepted: false, reason: parsed.reason };
  const reason = policyRefusal(parsed.address);
  return { syntax_ok: true, form: parsed.address.form, accepted: reason === null, reason };
}
