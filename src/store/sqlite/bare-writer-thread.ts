// Entry of the writer thread with nothing but the store.
import { serveWriter } from './serve-writer.ts';

serveWriter();
