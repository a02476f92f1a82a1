// Worker thread: reads the API description, posts it as JSON, and ends.
import { parentPort } from 'node:worker_threads';
import { loadApiDescription } from './api-description.ts';

parentPort?.postMessage(JSON.stringify(loadApiDescription()));
