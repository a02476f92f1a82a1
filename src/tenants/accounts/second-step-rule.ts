// Which users need a second step (`portal.require_second_step`), and which have yet to set it up.
import type { User } from '../../store/tenants.ts';
import type { SecondFactors } from './second-factors.ts';

export type SecondStepFor = 'nobody' | 'operators' | 'everybody';

export function isSecondStepRequired(requiredFor: SecondStepFor, { role }: Pick<User, 'role'>): boolean {
  return requiredFor === 'everybody' || (requiredFor === 'operators' && role === 'operator');
}

/** Checked at each request: a second step can be removed while the user is signed in. */
export async function lacksSecondStep(
  kit: { secondStepFor: SecondStepFor; secondFactors: Pick<SecondFactors, 'findConfirmed'> },
  user: Pick<User, 'id' | 'role'>,
): Promise<boolean> {
  return isSecondStepRequired(kit.secondStepFor, user) && (await kit.secondFactors.findConfirmed(user.id)) === null;
}
