// Adding an address to the suppression list by hand, and taking one off.
import { parseAddress, suppressionKey } from '../../protocol/mail/addresses/address.ts';
import { onPlatformList } from '../../suppression/platform-list.ts';
import { type PageResult, redirect, type VisitOf } from '../page.ts';
import { showSuppressions } from './suppression-list.ts';
import { LIST, type SuppressionServices } from './suppression-services.ts';

export async function addAddress(services: SuppressionServices, visit: VisitOf<'member'>): Promise<PageResult> {
  const text = (visit.form.get('address') ?? '').trim();
  const parsed = parseAddress(text);
  if (!parsed.ok) return showSuppressions(services, visit, { address: text.slice(0, 1000), problem: parsed.reason });
  const address = suppressionKey(parsed.address);
  const entry = { address, reason: 'manual' as const, messageId: null, createdAt: visit.now };
  const outcome = await services.store.suppressions.addSuppression(visit.visitor.tenant.id, entry);
  const found = `${LIST}?${new URLSearchParams({ search: address })}`;
  if (outcome === 'exists')
    return redirect(found, `${address} was already on the list; its reason is unchanged.`, 'warn');
  await visit.audit('suppression.added', { address });
  return redirect(found, `${address} was added to the list; mail to it is not accepted.`);
}

export async function removeAddress(services: SuppressionServices, visit: VisitOf<'member'>): Promise<PageResult> {
  const address = (visit.form.get('address') ?? '').slice(0, 1000);
  const { removed, platform } = await services.store.suppressions.removeSuppression(
    visit.visitor.tenant.id,
    address,
    visit.now,
  );
  if (removed) await visit.audit('suppression.removed', { address });
  const done = removed ? `${address} is no longer on the list.` : `${address} is not on the list.`;
  const still = platform ? ` Mail to it is still not accepted: it is ${onPlatformList(platform)}` : '';
  return redirect(LIST, `${done}${still}`, removed && !platform ? 'good' : 'warn');
}
