// The client library for PHP.
import t from 'tap';
import { php } from '../../clients/languages/php.ts';
import { testClient } from '../../clients/test-client.ts';

await testClient(t, php);
