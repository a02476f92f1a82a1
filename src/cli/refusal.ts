// A service's refusal as a command's failure: fields of the services are called as the options are.

import { type Answer, failed } from '../operator/answer.ts';
import type { Refused } from '../tenants/refused.ts';

export function fromRefused({ field, message }: Refused): Answer<never> {
  return failed(field === null ? message : `${field}: ${message}`);
}
