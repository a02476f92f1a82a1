// Entry of the writer thread in the daemon: the store, and the recorder of opens and clicks, which reads and writes for
// every few of them.
import { IdSource } from '../base/ids.ts';
import { createHitVerbs } from '../links/hit-verbs.ts';
import { loadMachineRules, SHIPPED_MACHINE_RULES } from '../links/machine-rules.ts';
import { serveWriter } from '../store/sqlite/serve-writer.ts';

// An error in the rules fails the start, and not the first click.
serveWriter((store, log) =>
  createHitVerbs({ store, log, ids: new IdSource(), rules: loadMachineRules(SHIPPED_MACHINE_RULES) }),
);
