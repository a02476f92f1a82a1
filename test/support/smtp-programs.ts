// Programs that applications send with, over SMTP: each sends the same mail, with the same login.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createTransport } from 'nodemailer';

export interface Login {
  host: string;
  port: number;
  user: string;
  key: string;
}

export interface SentMail {
  from: string;
  to: string[];
  subject: string;
  text: string;
  attachment: { filename: string; content: Buffer };
}

/** What the program ended with, and all it said. */
export interface Sent {
  ok: boolean;
  said: string;
}

export interface SmtpProgram {
  name: string;
  /** For `skip`: false when it is there. */
  missing: string | false;
  /** `folder`: for files that it needs. */
  send(login: Login, mail: SentMail, folder: string): Promise<Sent>;
}

const PYTHON = `
import json, sys, smtplib
from email.message import EmailMessage
login, mail = json.load(sys.stdin)
message = EmailMessage()
message["From"] = mail["from"]
message["To"] = ", ".join(mail["to"])
message["Subject"] = mail["subject"]
message.set_content(mail["text"])
with open(mail["file"], "rb") as file:
    message.add_attachment(file.read(), maintype="application", subtype="octet-stream", filename=mail["filename"])
with smtplib.SMTP(login["host"], login["port"]) as smtp:
    smtp.set_debuglevel(1)
    smtp.login(login["user"], login["key"])
    smtp.send_message(message)
`;

const PHP = `
[$login, $mail] = json_decode(stream_get_contents(STDIN), true);
$boundary = "b" . bin2hex(random_bytes(8));
$headers = [
  "From" => $mail["from"],
  "MIME-Version" => "1.0",
  "Content-Type" => "multipart/mixed; boundary=$boundary",
];
$body = "--$boundary\\r\\nContent-Type: text/plain; charset=utf-8\\r\\nContent-Transfer-Encoding: base64\\r\\n\\r\\n"
  . chunk_split(base64_encode($mail["text"]))
  . "--$boundary\\r\\nContent-Type: application/octet-stream\\r\\n"
  . "Content-Disposition: attachment; filename=\\"{$mail["filename"]}\\"\\r\\nContent-Transfer-Encoding: base64\\r\\n\\r\\n"
  . chunk_split(base64_encode(file_get_contents($mail["file"]))) . "--$boundary--\\r\\n";
$subject = mb_encode_mimeheader($mail["subject"], "UTF-8");
exit(mail(implode(", ", $mail["to"]), $subject, $body, $headers) ? 0 : 1);
`;

const JAVA = `
import java.io.File;
import java.util.Properties;
import javax.mail.*;
import javax.mail.internet.*;

public class SendMail {
  public static void main(String[] args) throws Exception {
    Properties settings = new Properties();
    settings.put("mail.smtp.host", args[0]);
    settings.put("mail.smtp.port", args[1]);
    settings.put("mail.smtp.auth", "true");
    Session session = Session.getInstance(settings, new Authenticator() {
      protected PasswordAuthentication getPasswordAuthentication() {
        return new PasswordAuthentication(args[2], System.getenv("KEY"));
      }
    });
    MimeMessage message = new MimeMessage(session);
    message.setFrom(args[3]);
    message.setRecipients(Message.RecipientType.TO, InternetAddress.parse(args[4]));
    message.setSubject(System.getenv("SUBJECT"), "UTF-8");
    MimeBodyPart text = new MimeBodyPart();
    text.setText(System.getenv("TEXT"), "UTF-8");
    MimeBodyPart file = new MimeBodyPart();
    file.attachFile(new File(args[5]));
    message.setContent(new MimeMultipart(text, file));
    Transport.send(message);
  }
}
`;
const JAVA_MAIL = ['javax.mail.jar', 'javax.activation.jar'].map((name) => `/usr/share/java/${name}`);

const nodemailer: SmtpProgram = {
  name: 'Nodemailer',
  missing: false,
  async send({ host, port, user, key }, { attachment, ...mail }) {
    const transport = createTransport({ host, port, auth: { user, pass: key }, tls: { rejectUnauthorized: false } });
    try {
      const { response } = await transport.sendMail({ ...mail, attachments: [attachment] });
      return { ok: true, said: response };
    } catch (error) {
      return { ok: false, said: String(error) };
    } finally {
      transport.close();
    }
  },
};

const python: SmtpProgram = {
  name: 'Python smtplib',
  missing: needs('python3', 'python3'),
  send: (login, mail, folder) => run('python3', ['-c', PYTHON], asJson(login, mail, folder)),
};

const swaks: SmtpProgram = {
  name: 'swaks',
  missing: needs('swaks', 'swaks'),
  send(login, mail, folder) {
    const { file } = fileOf(mail, folder);
    const auth = ['--auth', 'PLAIN', '--auth-user', login.user, '--auth-password', login.key];
    const envelope = ['--from', mail.from, '--to', mail.to.join(',')];
    const content = ['--header', `Subject: ${encoded(mail.subject)}`, '--body', mail.text, '--attach', `@${file}`];
    const server = ['--server', login.host, '--port', String(login.port)];
    return run('swaks', [...server, ...auth, ...envelope, ...content], '');
  },
};

const msmtp: SmtpProgram = {
  name: 'msmtp',
  missing: needs('msmtp', 'msmtp'),
  async send(login, mail, folder) {
    const options = ['--from', mail.from, '--', ...mail.to];
    return run('msmtp', ['-v', accountOfMsmtp(login, folder), ...options], await composed(mail));
  },
};

const php: SmtpProgram = {
  name: 'PHP mail() through msmtp',
  missing: needs('php', 'php-cli') || needs('msmtp', 'msmtp'),
  send(login, mail, folder) {
    const command = `msmtp ${accountOfMsmtp(login, folder)} --from=${mail.from} -t`;
    return run('php', ['-d', `sendmail_path="${command}"`, '-r', PHP], asJson(login, mail, folder));
  },
};

const curl: SmtpProgram = {
  name: 'curl',
  missing: needs('curl', 'curl'),
  async send({ host, port, user, key }, mail, folder) {
    const file = path.join(folder, 'curl.eml');
    writeFileSync(file, await composed(mail));
    const recipients = mail.to.flatMap((address) => ['--mail-rcpt', address]);
    const login = ['--user', `${user}:${key}`, '--mail-from', mail.from, ...recipients];
    return run('curl', ['-sSv', `smtp://${host}:${port}/client.test`, ...login, '--upload-file', file], '');
  },
};

const java: SmtpProgram = {
  name: 'Java Mail',
  missing:
    needs('javac', 'default-jdk-headless') ||
    (!JAVA_MAIL.every((file) => existsSync(file)) && 'needs Java Mail: apt-get install libmail-java'),
  send({ host, port, user, key }, mail, folder) {
    const source = path.join(folder, 'SendMail.java');
    writeFileSync(source, JAVA);
    const { file } = fileOf(mail, folder);
    const env = { KEY: key, SUBJECT: mail.subject, TEXT: mail.text, LC_ALL: 'C.UTF-8' };
    const args = [host, String(port), user, mail.from, mail.to.join(','), file];
    return run('java', ['-cp', JAVA_MAIL.join(':'), source, ...args], '', env);
  },
};

export const SMTP_PROGRAMS: readonly SmtpProgram[] = [nodemailer, python, swaks, msmtp, php, curl, java];

function needs(program: string, debianPackage: string): string | false {
  return spawnSync(program, ['--version']).error !== undefined && `needs ${program}: apt-get install ${debianPackage}`;
}

function fileOf({ attachment }: SentMail, folder: string): { file: string } {
  const file = path.join(folder, attachment.filename);
  writeFileSync(file, attachment.content);
  return { file };
}

function asJson(login: Login, mail: SentMail, folder: string): string {
  return JSON.stringify([login, { ...mail, ...fileOf(mail, folder), filename: mail.attachment.filename }]);
}

/** A file: the password must not be seen in the list of processes. */
function accountOfMsmtp({ host, port, user, key }: Login, folder: string): string {
  const file = path.join(folder, 'msmtprc');
  const settings = { account: 'default', host, port, auth: 'plain', user, password: key, tls: 'off' };
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
  writeFileSync(file, lines.join(''), { mode: 0o600 });
  return `--file=${file}`;
}

/** As Nodemailer writes it, for programs that send what they are given. */
async function composed({ attachment, ...mail }: SentMail): Promise<Buffer> {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const { message } = await transport.sendMail({ ...mail, attachments: [attachment] });
  return message as Buffer;
}

function encoded(subject: string): string {
  return `=?utf-8?B?${Buffer.from(subject).toString('base64')}?=`;
}

function run(program: string, args: string[], input: string | Buffer, env: NodeJS.ProcessEnv = {}): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: { ...process.env, ...env } });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (said += part.toString()));
    child.stdin.on('error', () => {}); // it may end without reading
    child.stdin.end(input);
    child.once('error', reject);
    child.once('close', (code) => resolve({ ok: code === 0, said }));
  });
}
