// What `postrider sandbox` prints when everything runs: how to send, where to read, what the
// magic recipients do. One JSON value instead with --json.
import type { Access } from './access.ts';
import { MAGIC } from './magic-recipient.ts';
import { VERIFIED_ZONE } from './sandbox-zone.ts';

export interface Welcome {
  url: string;
  /** To other machines. */
  isOpen: boolean;
  /** The usual port, when something else had it. */
  busyHttpPort: number | null;
  /** Where applications submit by SMTP; null: it is off. */
  smtp: { host: string; port: number } | null;
  access: Access;
  /** Null when this daemon has no portal. */
  portalUrl: string | null;
  capturedDir: string;
  logFile: string;
  /** `ip:port`; another one at every start. */
  dnsServer: string;
}

export function welcomeText(welcome: Welcome): string {
  const { access } = welcome;
  const busy =
    welcome.busyHttpPort === null ? '' : `   (port ${welcome.busyHttpPort} is taken; POSTRIDER_HTTP_PORT chooses one)`;
  const facts: [string, string][] = [
    ['API', `${welcome.url}${busy}`],
    ['API key', access.apiKey],
    ['Domain', `${access.domain}   (all under ${VERIFIED_ZONE} verify)`],
    ...(welcome.smtp === null ? [] : ([['SMTP', submissionFact(welcome.smtp)]] satisfies [string, string][])),
    ...(welcome.portalUrl === null ? [] : ([['Portal', welcome.portalUrl]] satisfies [string, string][])),
    ['Login', `${access.email}   ${access.password}`],
    ['Operator', `${access.operator.email}   ${access.operator.password}`],
    ['Mail', `${welcome.capturedDir}   (one .eml file each)`],
    ['Log', welcome.logFile],
  ];
  const magic = Object.entries(MAGIC).map(([name, { meaning }]): [string, string] => [`${name}@`, meaning]);
  return [
    'The sandbox of Postrider is running. No mail leaves this machine.',
    ...(welcome.isOpen
      ? ['It listens at all addresses: other machines reach it, unless its container or a firewall is in between.']
      : []),
    '',
    ...columns(facts),
    '',
    'Send a message:',
    '',
    `  ${curlLine(welcome)}`,
    '',
    ...smtpLines(welcome),
    'Magic recipients simulate failures. The domain does not matter, and each can be used as often as you like.',
    'With +anything before the @ the choice is the same, but the address behaves as in production: after its',
    'first bounce or complaint, calls reject it.',
    '',
    ...columns([...magic, ['any other', 'accepted']]),
    '',
    'Ctrl-C stops it. Key and logins stay the same.',
  ].join('\n');
}

export function welcomeJson(welcome: Welcome): string {
  const { access } = welcome;
  return JSON.stringify({
    url: welcome.url,
    api_key: access.apiKey,
    tenant_id: access.tenantId,
    domain: access.domain,
    smtp: welcome.smtp,
    login: { email: access.email, password: access.password },
    operator_login: access.operator,
    portal_url: welcome.portalUrl,
    captured_dir: welcome.capturedDir,
    log_file: welcome.logFile,
    dns_server: welcome.dnsServer,
    curl: curlLine(welcome),
  });
}

/** One line that a POSIX shell takes as it is: nothing in it needs more than single quotes. */
function curlLine({ url, access }: Welcome): string {
  const body = JSON.stringify({
    from: `Sandbox <hello@${access.domain}>`,
    to: 'you@example.com',
    subject: 'Hello from the sandbox',
    text: 'It works.',
  });
  const headers = [`Authorization: Bearer ${access.apiKey}`, 'Content-Type: application/json'];
  return `curl -sS ${url}/emails ${headers.map((header) => `-H '${header}'`).join(' ')} -d '${body}'`;
}

function submissionFact({ host, port }: NonNullable<Welcome['smtp']>): string {
  return `${host}:${port}   (any user name, the API key as the password)`;
}

/** Settings of frameworks, to be pasted into an application. */
function smtpLines({ smtp, access: { apiKey } }: Welcome): string[] {
  if (smtp === null) return [];
  const { host, port } = smtp;
  const ofRails = `address: '${host}', port: ${port}, user_name: 'apikey', password: '${apiKey}', authentication: :plain`;
  const settings: [string, string][] = [
    ['Nodemailer', `createTransport({ host: '${host}', port: ${port}, auth: { user: 'apikey', pass: '${apiKey}' } })`],
    ['Django', `EMAIL_HOST='${host}'; EMAIL_PORT=${port}; EMAIL_HOST_USER='apikey'; EMAIL_HOST_PASSWORD='${apiKey}'`],
    ['Rails', `config.action_mailer.smtp_settings = { ${ofRails} }`],
    ['Laravel', `MAIL_MAILER=smtp MAIL_HOST=${host} MAIL_PORT=${port} MAIL_USERNAME=apikey MAIL_PASSWORD=${apiKey}`],
  ];
  return ['Or by SMTP, from an application as it is:', '', ...columns(settings), ''];
}

function columns(rows: [string, string][]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}   ${right}`);
}
