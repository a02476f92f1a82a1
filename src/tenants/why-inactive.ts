// Why a tenant may not send, and who can change that: the sentence in refusals.
import type { Tenant } from '../store/tenants.ts';

/** Null while it may send. The reason is what a brake or an operator stored with the status. */
export function whyInactive({ status, statusReason }: Pick<Tenant, 'status' | 'statusReason'>): string | null {
  const because = statusReason === null ? '' : `: ${statusReason.replace(/[.\s]+$/, '')}`;
  switch (status) {
    case 'active':
      return null;
    case 'pending_verification':
      return `Sending is off until the account's e-mail address is confirmed${because}. Follow the link in the confirmation e-mail.`;
    case 'in_review':
      return because === ''
        ? 'Sending is off until the operator has approved the account. Contact the operator.'
        : `Sending is suspended while the account is under review${because}. Contact the operator.`;
    case 'suspended':
      return `The operator has suspended sending${because}. Contact the operator.`;
  }
}
