// Entry of the writer's thread with nothing but the store.
import { serveWriter } from './serve-writer.ts';

serveWriter();
