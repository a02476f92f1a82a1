// The mail that the capture server took in: one .eml file each, exactly as it came, and an index
// of what only the envelope knows. Survives a restart; the oldest go when there are too many.
// Leaves out fsync: what is lost here after a power cut was a test.
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { toTimestamp } from '../base/clock.ts';
import { isUuid } from '../base/ids.ts';
import type { CapturedLimits, CapturedMail, CapturedMails } from '../portal/captured-mails.ts';

/** All that the portal sees of it, and what the capture server does with it. */
export interface CapturedFolder extends Omit<CapturedMails, 'ownerTenantId'> {
  readonly dir: string;
  add(mail: CapturedMail, raw: Buffer): Promise<void>;
  close(): Promise<void>;
}

const DEFAULT_LIMITS: CapturedLimits = { messages: 1000, octets: 256 * 1024 * 1024 };
const INDEX = 'index.jsonl';
/** A mail that is being written. */
const ARRIVING = 'arriving';
// Lines of deleted mail are swept out of the index when they outnumber the living this far.
const INDEX_SLACK_LINES = 1000;

export async function openCapturedFolder(dir: string, limits = DEFAULT_LIMITS): Promise<CapturedFolder> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const mails = await readIndex(dir);
  const folder = new Folder(dir, mails, limits);
  await folder.tidy();
  return folder;
}

class Folder implements CapturedFolder {
  readonly dir: string;
  readonly limits: CapturedLimits;
  readonly #mails: Map<string, CapturedMail>;
  #octets: number;
  #index: FileHandle | null = null;
  #indexLines = 0;
  /** Changes happen one after the other, whoever asks for them. */
  #queue: Promise<void> = Promise.resolve();

  constructor(dir: string, mails: CapturedMail[], limits: CapturedLimits) {
    this.dir = dir;
    this.limits = limits;
    this.#mails = new Map(mails.map((mail) => [mail.id, mail]));
    this.#octets = mails.reduce((sum, mail) => sum + mail.sizeBytes, 0);
  }

  add(mail: CapturedMail, raw: Buffer): Promise<void> {
    const added = this.#queue.then(async () => {
      // First the mail, whole at once since programs look for new ones, then the line that speaks of it.
      const draft = path.join(this.dir, ARRIVING);
      await writeFile(draft, raw, { mode: 0o600 });
      await rename(draft, fileOf(this.dir, mail.id));
      await this.#index!.appendFile(indexLine(mail));
      this.#indexLines++;
      this.#mails.set(mail.id, mail);
      this.#octets += mail.sizeBytes;
      await this.#dropOldest();
      if (this.#indexLines > this.#mails.size + INDEX_SLACK_LINES) await this.#rewriteIndex();
    });
    this.#queue = added.catch(() => {});
    return added;
  }

  list(after: string | null, limit: number): CapturedMail[] {
    const all = [...this.#mails.values()];
    const from = after === null ? 0 : all.findIndex((mail) => mail.id > after);
    return from < 0 ? [] : all.slice(from, from + limit);
  }

  async get(id: string): Promise<{ mail: CapturedMail; raw: Buffer } | null> {
    const mail = this.#mails.get(id);
    if (!mail) return null;
    try {
      return { mail, raw: await readFile(fileOf(this.dir, id)) };
    } catch (error) {
      // Somebody may have cleared the folder by hand.
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async head(id: string, octets: number): Promise<Buffer | null> {
    if (!this.#mails.has(id)) return null;
    let file: FileHandle | null = null;
    try {
      file = await open(fileOf(this.dir, id));
      const { buffer, bytesRead } = await file.read(Buffer.alloc(octets), 0, octets, 0);
      return buffer.subarray(0, bytesRead);
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    } finally {
      await file?.close();
    }
  }

  async close(): Promise<void> {
    await this.#queue;
    await this.#index?.close();
    this.#index = null;
  }

  /** At the start: what has no line in the index is removed, and the index holds nothing else. */
  async tidy(): Promise<void> {
    for (const name of await readdir(this.dir)) {
      const id = idOfFile(name);
      if (id !== null && !this.#mails.has(id)) await rm(path.join(this.dir, name), { force: true });
    }
    await this.#dropOldest();
    await this.#rewriteIndex();
  }

  async #dropOldest(): Promise<void> {
    for (const mail of this.#mails.values()) {
      if (this.#mails.size <= this.limits.messages && this.#octets <= this.limits.octets) return;
      this.#mails.delete(mail.id);
      this.#octets -= mail.sizeBytes;
      await rm(fileOf(this.dir, mail.id), { force: true });
    }
  }

  async #rewriteIndex(): Promise<void> {
    const file = path.join(this.dir, INDEX);
    const draft = `${file}.new`;
    await writeFile(draft, [...this.#mails.values()].map(indexLine).join(''), { mode: 0o600 });
    await rename(draft, file);
    await this.#index?.close();
    this.#index = await open(file, 'a', 0o600);
    this.#indexLines = this.#mails.size;
  }
}

async function readIndex(dir: string): Promise<CapturedMail[]> {
  const text = await readFile(path.join(dir, INDEX), 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return '';
    throw error;
  });
  const files = new Set((await readdir(dir)).map(idOfFile));
  const mails = text.split('\n').flatMap((line) => readLine(line) ?? []);
  return mails.filter((mail) => files.has(mail.id)).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** As people read it: times as times, and names with underscores as in the API. */
function indexLine(mail: CapturedMail): string {
  const { id, receivedAt, mailFrom, rcptTo, sizeBytes, remoteIp, ehloName, tls } = mail;
  const line = {
    id,
    received_at: toTimestamp(receivedAt),
    mail_from: mailFrom,
    rcpt_to: rcptTo,
    size_octets: sizeBytes,
    remote_ip: remoteIp,
    ehlo_name: ehloName,
    tls,
  };
  return `${JSON.stringify(line)}\n`;
}

/** Null for a line that a crash has cut off. */
function readLine(text: string): CapturedMail | null {
  try {
    const line = JSON.parse(text);
    if (!isUuid(line.id) || !Array.isArray(line.rcpt_to) || typeof line.size_octets !== 'number') return null;
    return {
      id: line.id,
      receivedAt: Date.parse(line.received_at),
      mailFrom: line.mail_from,
      rcptTo: line.rcpt_to,
      sizeBytes: line.size_octets,
      remoteIp: line.remote_ip,
      ehloName: line.ehlo_name,
      tls: line.tls,
    };
  } catch {
    return null;
  }
}

function fileOf(dir: string, id: string): string {
  return path.join(dir, `${id}.eml`);
}

/** Null for files that are not ours: they are left alone. */
function idOfFile(name: string): string | null {
  const id = name.endsWith('.eml') ? name.slice(0, -'.eml'.length) : '';
  return isUuid(id) ? id : null;
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
