// All pages around accounts, for whoever wires the portal.
import type { PortalReads } from '../../store/reads.ts';
import type { AccountKit } from '../../tenants/accounts/account-kit.ts';
import { SignIn } from '../../tenants/accounts/sign-in.ts';
import type { PortalRoute } from '../page.ts';
import { ownAccountPages } from './account-page.ts';
import { joinPages } from './join-pages.ts';
import { resetPages } from './reset-pages.ts';
import { secondStepPages } from './second-step-pages.ts';
import { signInPages } from './sign-in-pages.ts';
import { signUpPages } from './sign-up-pages.ts';

export function accountPages(accounts: AccountKit, reads: Pick<PortalReads, 'warm'>): PortalRoute[] {
  const services = { accounts, signIn: new SignIn(accounts), reads };
  return [
    ...signInPages(services),
    ...signUpPages(services),
    ...resetPages(accounts),
    ...joinPages(services),
    ...ownAccountPages(services),
    ...secondStepPages(services),
  ];
}
