// A portal full of what attackers would store: markup in every name, subject, template, URL, reply of a
// receiving server, program's name and inbound mail. None of it may become markup of a page.
import type { Test } from 'tap';
import { type Login, type PortalWorld, startPortal } from '../support/portal.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { RECEIVER, send } from '../support/world.ts';

/** An element and an attribute that no page of ours has; closes whatever it may stand in. */
export const HOSTILE = `x" onxss="1' onxss='1><xss-probe></xss-probe></title></textarea></script>{{xss}}`;
const IN_URL = '?a="><xss-probe></xss-probe>&b=\'onxss=1';

export interface HostileWorld extends PortalWorld {
  operator: Login;
  member: Login;
  viewer: Login;
  /** Of another tenant. */
  stranger: Login;
  messageIds: string[];
}

export async function startHostileWorld(t: Test): Promise<HostileWorld> {
  const world = await startPortal(t, {
    tenantName: HOSTILE,
    sink: { onRcpt: (address) => (address.startsWith('joe@') ? null : { code: 550, text: `5.7.1 ${HOSTILE}` }) },
    settings: { webhooks: { allow_private: true } },
  });
  const { daemon, sender, postrider, addUser } = world;
  await postrider.json('key', 'create', '--tenant', sender.tenantId, '--name', HOSTILE, '--scopes', SCOPES);
  const { key } = await postrider.json(
    'key',
    'create',
    '--tenant',
    sender.tenantId,
    '--name',
    'all',
    '--scopes',
    SCOPES,
  );
  const call = async (route: string, body: unknown) => {
    const answer = await daemon.call(String(key), route, { body });
    t.ok(answer.status < 300, `${route}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await call('POST /webhooks', { url: `http://127.0.0.1:9/${IN_URL}`, description: HOSTILE });
  await call('POST /templates', {
    name: HOSTILE,
    html: `<p>${HOSTILE.replace('{{xss}}', '')}</p>`,
    text: 'Hello {{ name }}',
  });
  await call('POST /domains', { domain: 'waits.acme.test' });
  const mail = {
    subject: HOSTILE,
    html: `<p onclick="x">${HOSTILE}</p>`,
    text: HOSTILE,
    headers: { 'X-Note': HOSTILE },
    reply_to: `"${HOSTILE.replaceAll('"', '')}" <answers@${sender.domain}>`,
    tags: { kind: 'hostile' },
    metadata: { [HOSTILE.slice(0, 60)]: HOSTILE },
    // No name has a slash.
    attachments: [{ filename: `${HOSTILE.replaceAll('/', '')}.html`, content: btoa(HOSTILE), content_id: 'cid' }],
  };
  const from = `"${HOSTILE.replaceAll('"', '')}" <app@${sender.domain}>`;
  const messageIds = await send(daemon, sender, [`"${HOSTILE.replaceAll('"', '')}" <joe@${RECEIVER}>`], {
    ...mail,
    from,
  });
  messageIds.push(...(await send(daemon, sender, `ann@${RECEIVER}`, { ...mail, from })));
  for (const [id, fact] of [
    [messageIds[0], 'delivered'],
    [messageIds[1], 'bounced'],
  ] as const) {
    await daemon.logged({ message_id: id!, fact });
  }
  await postrider.json(
    'suppression',
    'add',
    '--tenant',
    sender.tenantId,
    '--address',
    '"<xss-probe>"@x.test',
    '--reason',
    'manual',
  );
  await postrider.json('suppression', 'add', '--platform', '--address', '"<xss-probe>"@y.test', '--reason', 'manual');
  await bringInboundMail(world);
  const people = {
    operator: await addUser('operator'),
    member: await addUser('member'),
    viewer: await addUser('viewer'),
  };
  const visitor = world.guest();
  visitor.userAgent = HOSTILE;
  await visitor.signIn(people.member);
  return { ...world, ...people, stranger: await addStranger(world), messageIds };
}

const SCOPES = 'emails:send,domains:write,webhooks:write,templates:write,suppressions:write';

/** What people write to the service itself is kept for the operator. */
async function bringInboundMail({ daemon }: PortalWorld): Promise<void> {
  const { smtp_port: port } = await daemon.logged({ msg: 'ready' });
  const client = await SmtpClient.hello(Number(port));
  const data = [
    ...[`From: "${HOSTILE.replaceAll('"', '')}" <a@b.test>`, `Subject: ${HOSTILE}`, 'Content-Type: text/html', ''],
    ...[`<b>${HOSTILE}</b><script>alert(1)</script>`, ''],
  ].join('\r\n');
  const to = 'postmaster@bounces.mail.postrider.test';
  const reply = await client.send({ from: 'a@b.test', to, data });
  if (!reply.startsWith('250')) throw new Error(`the inbound mail was not taken: ${reply}`);
}

async function addStranger({ postrider }: PortalWorld): Promise<Login> {
  const { id } = await postrider.json('tenant', 'create', '--name', 'Stranger', '--status', 'active');
  const email = 'owner@stranger.test';
  const { password } = await postrider.json(
    'user',
    'create',
    '--tenant',
    String(id),
    '--role',
    'owner',
    '--email',
    email,
  );
  return { email, password: String(password) };
}
