// Numbers about the whole store in SQLite. Each domain knows how many of its messages are not finished,
// so nothing that grows with the mail is read.
import type { FiguresStore } from '../../figures.ts';
import type { Connection } from '../engine/connection.ts';

export function figuresVerbs(db: Connection): FiguresStore {
  return {
    countOpenMessages: () =>
      db.read(() => db.sql('SELECT coalesce(sum(open_messages), 0) FROM domains', 'column').get() as number),
  };
}
