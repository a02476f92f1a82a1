// user create | reset

import { done } from '../../operator/answer.ts';
import type { OperatorServices } from '../../operator/operator-services.ts';
import { USER_ROLES } from '../../store/tenants.ts';
import { isSecondStepRequired } from '../../tenants/accounts/second-step-rule.ts';
import { createUser, resetPassword, type UserWithPassword } from '../../tenants/accounts/users.ts';
import { storeCommand } from '../command.ts';
import { flag, mailAddress, oneOf, required, tenantName } from '../option.ts';
import { recordAct } from '../record-act.ts';
import { fromRefused } from '../refusal.ts';
import { renderFacts } from '../table.ts';

const TENANT_ROLES = USER_ROLES.filter((role) => role !== 'operator');

export const userCreate = storeCommand({
  name: 'user create',
  begins: true,
  summary: 'Creates a portal login for a tenant or an operator, with a generated password.',
  options: {
    tenant: tenantName("the user's tenant"),
    operator: flag('create an operator of the platform, who has no tenant'),
    email: required(mailAddress('the login')),
    role: oneOf('ROLE', TENANT_ROLES, "the user's role in the tenant; default: owner"),
  },
  check({ tenant, operator, role }) {
    if ((tenant === undefined) === (operator === undefined)) return 'give exactly one of --tenant and --operator';
    return operator && role !== undefined ? '--role needs --tenant: operators have no other role' : null;
  },
  async run(services, { tenant, email, role }) {
    const result = await createUser(services, { tenantId: tenant ?? null, email, ...(role && { role }) });
    if (result.kind === 'refused') return fromRefused(result);
    const { user } = result;
    await recordAct(services, user.tenantId, 'user.created', { email: user.email, role: user.role });
    return done(showLogin(services, result, true));
  },
  render: (login) => renderLogin(login),
  toJson: ({ id, password }) => ({ id, password }),
});

export const userReset = storeCommand({
  name: 'user reset',
  summary: 'Generates a new password for a user. The old one and all sessions end immediately.',
  options: {
    email: required(mailAddress('the login')),
    confirmed: flag("confirm the address of a sign-up by your word, for a user who can't open the link in our mail"),
    'drop-second-step': flag('turn off two-factor sign-in, when the device and the recovery codes are lost'),
  },
  async run(services, { email, confirmed = false, 'drop-second-step': drop = false }) {
    const { accounts } = services.store;
    const result = await resetPassword(services, email);
    if (result.kind === 'refused') return fromRefused(result);
    const { user } = result;
    const dropped = drop && (await accounts.dropSecondFactor(user.id));
    const nowConfirmed = confirmed && (await accounts.confirmAddress(user.id)) !== null;
    const data = { email: user.email, second_step_dropped: dropped, address_confirmed: nowConfirmed };
    await recordAct(services, user.tenantId, 'user.password_reset', data);
    const factor = await accounts.findSecondFactor(user.id);
    const isUnconfirmed = await accounts.isUnconfirmed(user.id);
    return done({ ...showLogin(services, result, factor?.confirmedAt == null), isUnconfirmed });
  },
  render: ({ isUnconfirmed, ...login }) => renderLogin(login) + (isUnconfirmed ? UNCONFIRMED : ''),
  toJson: ({ id, password, isUnconfirmed }) => ({ id, password, confirmed: !isUnconfirmed }),
});

const UNCONFIRMED =
  "\nThe address is not confirmed, so this user can't sign in yet. Signing in sends a link to it. If you know that the address is the user's, reset the password again with --confirmed.";

type Login = ReturnType<typeof showLogin>;

function showLogin(
  { config }: Pick<OperatorServices, 'config'>,
  { user, password }: UserWithPassword<string>,
  lacksSecondStep: boolean,
) {
  const setsUpFirst = lacksSecondStep && isSecondStepRequired(config.portal.require_second_step, user);
  return { id: user.id, email: user.email, role: user.role, password, setsUpFirst };
}

function renderLogin(login: Login): string {
  const facts = renderFacts([
    ['user', login.id],
    ['login', login.email],
    ['role', login.role],
    ['password', login.password],
  ]);
  const next = login.setsUpFirst
    ? '\nThe first sign-in asks to set up a second step, by an authenticator app (portal.require_second_step).'
    : '';
  return `${facts}\nThe password is shown only once.${next}`;
}
