// Who has to have a second step (`portal.require_second_step`), and who still has to set it up.
import type { User } from '../store/tenants.ts';
import type { SecondFactors } from './second-factors.ts';

export type SecondStepFor = 'nobody' | 'operators' | 'everybody';

export function isSecondStepRequired(requiredFor: SecondStepFor, { role }: Pick<User, 'role'>): boolean {
  return requiredFor === 'everybody' || (requiredFor === 'operators' && role === 'operator');
}

/** Looked up at each visit: a second step can be taken away while somebody is signed in. */
export async function lacksSecondStep(
  kit: { secondStepFor: SecondStepFor; secondFactors: Pick<SecondFactors, 'inForce'> },
  user: Pick<User, 'id' | 'role'>,
): Promise<boolean> {
  return isSecondStepRequired(kit.secondStepFor, user) && (await kit.secondFactors.inForce(user.id)) === null;
}
