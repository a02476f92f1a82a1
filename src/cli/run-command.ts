// Carries out a store command with the services at hand: in the daemon or beside none.
// Whatever is thrown becomes a failure with a message that an operator can use.
import { systemTrouble } from '../base/text/system-words.ts';
import { type Answer, failed } from '../operator/answer.ts';
import type { OperatorServices } from '../operator/operator-services.ts';
import { findTenant } from '../tenants/find-tenant.ts';
import type { StoreCommand } from './command.ts';
import { readValues } from './parse-arguments.ts';
import { fromRefused } from './refusal.ts';

export async function runStoreCommand(
  command: StoreCommand,
  raw: Record<string, unknown>,
  services: OperatorServices,
): Promise<Answer> {
  const read = readValues(command, raw);
  if (read.kind === 'wrong_usage') return read;
  try {
    const values = await withTenantIds(command, read.values, services);
    return 'kind' in values ? values : await command.run(services, values.known);
  } catch (error) {
    return failed(systemTrouble(error));
  }
}

async function withTenantIds(
  { options }: StoreCommand,
  values: Record<string, unknown>,
  { store }: Pick<OperatorServices, 'store'>,
): Promise<{ known: Record<string, unknown> } | Answer<never>> {
  const named = Object.keys(options).filter((name) => options[name]!.isTenant && values[name] !== undefined);
  if (named.length === 0) return { known: values };
  const tenants = await store.tenants.listTenants();
  const known = { ...values };
  for (const name of named) {
    const found = findTenant(values[name] as string, tenants);
    if (found.kind === 'refused') return fromRefused(found);
    known[name] = found.id;
  }
  return { known };
}
