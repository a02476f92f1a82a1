// The client library for Node.
import t from 'tap';
import { node } from './languages/node.ts';
import { testClient } from './test-client.ts';

await testClient(t, node);
