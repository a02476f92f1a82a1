// Entry of the writer's thread in the daemon: the store, and the recorder of opens and clicks, which reads
// and writes for every few of them.
import { IdSource } from './base/ids.ts';
import { serveWriter } from './store/sqlite/serve-writer.ts';
import { hitDesk } from './tracking/hit-desk.ts';

serveWriter((store, log) => hitDesk({ store, log, ids: new IdSource() }));
