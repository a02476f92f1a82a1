// The client library for Node.
import t from 'tap';
import { node } from '../../clients/languages/node.ts';
import { testClient } from '../../clients/test-client.ts';

await testClient(t, node);
