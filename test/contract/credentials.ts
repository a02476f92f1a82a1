// Tenants and keys with every combination of what can be wrong with them, made when first asked for.
import { RECEIVER } from '../support/world.ts';
import type { ContractWorld, TestTenant } from './contract-world.ts';
import { goodMail } from './stage.ts';

export interface CredentialFaults {
  /** The tenant is suspended. */
  inactive?: boolean;
  /** The key has used up its rate. */
  exhausted?: boolean;
  /** The key has none of the scopes that the call needs. */
  noScope?: boolean;
  /** The key is bound to a domain that the tenant does not have. */
  bound?: boolean;
}

export interface Credentials {
  key: string;
  /** Verified, of this tenant. */
  domain: string;
  domainId: string;
}

/** A submission with this key was accepted for each tenant before anything went wrong with it. */
export const USED_IDEMPOTENCY_KEY = 'used before';

/** On the suppression list of each tenant. */
export const SUPPRESSED = `no@${RECEIVER}`;

interface FaultyTenant extends TestTenant {
  domain: string;
  domainId: string;
  keys: Map<string, string>;
}

/** The world's first tier must allow one call a minute: so a key that has called once is exhausted. */
export class CredentialMaker {
  readonly #world: ContractWorld;
  readonly #tenants = new Map<string, Promise<FaultyTenant>>();

  constructor(world: ContractWorld) {
    this.#world = world;
  }

  async get(faults: CredentialFaults): Promise<Credentials> {
    const { inactive = false, exhausted = false, noScope = false, bound = false } = faults;
    const name = `${inactive ? 'inactive-' : ''}${exhausted ? 'exhausted-' : ''}tenant.test`;
    let tenant = this.#tenants.get(name);
    if (!tenant) {
      tenant = this.#make(name, { inactive, exhausted });
      this.#tenants.set(name, tenant);
    }
    const { domain, domainId, keys } = await tenant;
    const key = keys.get(keyName(noScope, bound))!;
    // Uses up what has come back since the last time.
    if (exhausted) await this.#world.call('GET /domains', { key });
    return { domain, domainId, key };
  }

  async #make(domain: string, { inactive, exhausted }: CredentialFaults): Promise<FaultyTenant> {
    const world = this.#world;
    const tenant = await world.addSender(domain);
    await world.suppress(tenant.id, SUPPRESSED, 'manual');
    const headers = { 'Idempotency-Key': USED_IDEMPOTENCY_KEY };
    await world.call('POST /emails', { key: tenant.key, body: goodMail(domain), headers });
    const keys = new Map<string, string>();
    for (const noScope of [false, true]) {
      for (const bound of [false, true]) {
        const scopes = noScope ? (['webhooks:write'] as const) : undefined;
        keys.set(keyName(noScope, bound), await world.addKey(tenant.id, scopes, bound ? 'bound.test' : undefined));
      }
    }
    if (exhausted) await world.postrider.json('tenant', 'set', tenant.id, '--tier', '1k');
    if (inactive) await world.postrider.json('tenant', 'set', tenant.id, '--status', 'suspended');
    return { ...tenant, keys };
  }
}

function keyName(noScope: boolean, bound: boolean): string {
  return `${noScope ? 'no scope' : 'all scopes'}, ${bound ? 'bound' : 'free'}`;
}
