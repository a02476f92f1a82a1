// user create | reset

import { done } from '../../operator/answer.ts';
import type { OperatorServices } from '../../operator/operator-services.ts';
import { USER_ROLES } from '../../store/tenants.ts';
import { isSecondStepRequired } from '../../tenants/second-step-rule.ts';
import { createUser, resetPassword, type UserWithPassword } from '../../tenants/users.ts';
import { storeCommand } from '../command.ts';
import { flag, mailAddress, oneOf, required, uuid } from '../option.ts';
import { recordAct } from '../record-act.ts';
import { fromRefused } from '../refusal.ts';
import { renderFacts } from '../table.ts';

const TENANT_ROLES = USER_ROLES.filter((role) => role !== 'operator');

export const userCreate = storeCommand({
  name: 'user create',
  begins: true,
  summary: 'Makes a portal login for a tenant or for an operator, with a generated password.',
  options: {
    tenant: uuid('ID', 'the tenant that the user belongs to'),
    operator: flag('an operator of the platform, who belongs to no tenant'),
    email: required(mailAddress('the login')),
    role: oneOf('ROLE', TENANT_ROLES, 'what the user may do for the tenant; owner when not given'),
  },
  check({ tenant, operator, role }) {
    if ((tenant === undefined) === (operator === undefined)) return 'exactly one of --tenant and --operator is needed';
    return operator && role !== undefined ? '--role goes with --tenant: an operator has no other role' : null;
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
  summary: 'Gives a user a new generated password; the old one and all sessions end at once.',
  options: {
    email: required(mailAddress('the login')),
    'drop-second-step': flag('sign-in asks for no code any more: the device and the recovery codes are lost'),
  },
  async run(services, { email, 'drop-second-step': drop = false }) {
    const result = await resetPassword(services, email);
    if (result.kind === 'refused') return fromRefused(result);
    const { user } = result;
    const dropped = drop && (await services.store.dropSecondFactor(user.id));
    const data = { email: user.email, second_step_dropped: dropped };
    await recordAct(services, user.tenantId, 'user.password_reset', data);
    const factor = await services.store.findSecondFactor(user.id);
    return done(showLogin(services, result, factor?.confirmedAt == null));
  },
  render: (login) => renderLogin(login),
  toJson: ({ id, password }) => ({ id, password }),
});

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
  return `${facts}\nThe password is shown this once only.${next}`;
}
