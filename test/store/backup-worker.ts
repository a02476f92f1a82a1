// Makes a backup in a thread of its own, as the command line does in a process of its own.
import { workerData } from 'node:worker_threads';
import { backupDatabase } from '../../src/store/sqlite/engine/backup.ts';

const { file, copy } = workerData as { file: string; copy: string };
await backupDatabase(file, copy);
