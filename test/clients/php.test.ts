// The client library for PHP.
import t from 'tap';
import { php } from './languages/php.ts';
import { testClient } from './test-client.ts';

await testClient(t, php);
