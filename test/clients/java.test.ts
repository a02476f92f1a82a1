// The client library for Java.
import t from 'tap';
import { java } from './languages/java.ts';
import { testClient } from './test-client.ts';

await testClient(t, java);
