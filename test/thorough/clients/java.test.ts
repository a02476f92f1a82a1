// The client library for Java.
import t from 'tap';
import { java } from '../../clients/languages/java.ts';
import { testClient } from '../../clients/test-client.ts';

await testClient(t, java);
