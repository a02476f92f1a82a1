// The refusal of a field of a send request.
import { type Refusal, refuse } from '../base/refusals.ts';

/** `problem` is a sentence, which follows the field's name. */
export function invalid(field: string, problem: string): Refusal {
  return refuse('validation_failed', `${field}: ${problem[0]?.toLowerCase()}${problem.slice(1)}`);
}
