// restore: a backup in place of the database. What was unfinished in it may have been sent since, so it is held.
import fs from 'node:fs';
import path from 'node:path';
import { systemClock, toTimestamp } from '../../base/clock.ts';
import { counted } from '../../base/text/counted.ts';
import { done, failed } from '../../operator/answer.ts';
import { type DataFolder, sqliteFile } from '../../operator/data-folder.ts';
import type { HeldMail } from '../../store/restored.ts';
import { localCommand } from '../command.ts';
import { flag, positional, required, text } from '../option.ts';
import { folderOf, ownStore, recordHere } from './data.ts';

export const restore = localCommand({
  name: 'restore',
  summary: 'Replaces the database with a backup and holds its unfinished mail. The daemon must be stopped.',
  options: {
    file: required(positional(text('FILE', 'a backup'))),
    force: flag('overwrite the existing database; its data is lost'),
    'send-again': flag('send the unfinished mail at once, although it may have been sent after the backup'),
  },
  async run(context, { file, force, 'send-again': sendAgain }) {
    const folder = await folderOf(context);
    const own = await ownStore();
    const held = own.lockFolder(folder);
    try {
      if (!force && fs.existsSync(sqliteFile(folder))) {
        return failed(`${folder.dir} already has a database: back it up, then use --force to replace it`);
      }
      const backup = path.resolve(file);
      const unfinished = sendAgain ? await sendingAgain(folder, backup) : await holding(folder, backup);
      if (await own.isOfThisVersion(folder)) {
        const { messages, held } = unfinished;
        await recordHere(folder, 'platform.restored', { file: backup, unfinished: messages, held });
      }
      return done({ database: folder.storeName, schema: await own.currentSchema(folder), ...unfinished });
    } finally {
      held.release();
    }
  },
  render: ({ database, ...unfinished }) => `${database} restored. ${mailText(unfinished)}`,
});

interface Unfinished {
  /** Unfinished messages that were not parked. */
  messages: number;
  held: boolean;
  by_state: HeldMail | null;
  /** When the first held ones may expire. */
  held_until: string | null;
}

async function holding(folder: DataFolder, backup: string): Promise<Unfinished> {
  const { held, until } = await (await ownStore()).restoreHeld(folder, backup, systemClock.now());
  const messages = Object.values(held).reduce((sum, count) => sum + count, 0);
  return { messages, held: true, by_state: held, held_until: toTimestamp(until) };
}

async function sendingAgain(folder: DataFolder, backup: string): Promise<Unfinished> {
  const own = await ownStore();
  await own.restore(folder, backup);
  return { messages: await own.countUnfinished(folder), held: false, by_state: null, held_until: null };
}

function mailText({ messages, held, by_state: states, held_until: until }: Unfinished): string {
  if (messages === 0) return 'No mail was unfinished in it.';
  if (!held)
    return `The next start sends ${counted(messages, 'unfinished message')}, also what was sent after the backup.`;
  const those = Object.entries(states!).filter(([, count]) => count > 0);
  const list = those.map(([state, count]) => `${count.toLocaleString('en')} ${state}`).join(', ');
  return `${counted(messages, 'unfinished message')} held (${list}): they may have been sent after the backup.
To send them: postrider queue release. To see them: postrider queue list. They don't expire before ${until}.
Mail that is accepted from now on is sent as usual.`;
}
