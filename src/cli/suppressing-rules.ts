// The names of all rules that can put an address on a suppression list, and what a name with `*` at its end stands for.
import type { Explainer } from '../delivery/actions/explain.ts';
import { SUPPRESSION_REASONS } from '../store/suppressions.ts';

/** A domain that does not exist, and a null MX. */
const DNS_RULES = ['route-5.1.2', 'route-5.1.10'];
/** Of a report that no rule recognises. */
const UNRECOGNISED_REPORT = 'report';

export function suppressingRules(explain: Pick<Explainer, 'ruleNames'>): string[] {
  return [...explain.ruleNames(), ...DNS_RULES, UNRECOGNISED_REPORT, ...SUPPRESSION_REASONS.map(operatorRule)];
}

export function operatorRule(reason: string): string {
  return `operator: ${reason}`;
}

export function isRule(wanted: string, names: readonly string[]): boolean {
  if (!wanted.endsWith('*')) return names.includes(wanted);
  return names.some((each) => each.startsWith(wanted.slice(0, -1)));
}
