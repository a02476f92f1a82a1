// A process that copies a database in small pieces, to be killed: node move-slowly.ts FILE URL
import { moveToPostgres } from '../../../../src/store/moving/move.ts';

const [file, url] = process.argv.slice(2);
await moveToPostgres({
  file: file!,
  url: url!,
  now: () => Date.now(),
  piece: { rows: 3, bytes: 1000 },
  progress: () => {},
});
process.stdout.write('moved');
