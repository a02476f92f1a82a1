// schema/openapi.yaml as a document: valid by a validator that is not ours, held to the routes
// and registries of the code, its examples true. That each operation is answered as it says is
// shown in openapi-answers.test.ts.
import fs from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { API_DESCRIPTION, writtenDescription } from '../../scripts/describe-api.ts';
import { REFUSALS } from '../../src/base/refusals.ts';
import { EVENT_CHOICES, EVENT_TYPES } from '../../src/events/event-types.ts';
import { SCOPES } from '../../src/store/tenants.ts';
import { startApiHarness } from '../support/api-harness.ts';
import {
  apiDescription,
  type Described,
  errorCodesOf,
  isDescribed,
  locate,
  misfit,
  operations,
  pointerTo,
} from '../support/openapi-check.ts';

/** Every object of the document, with the pointer to it. */
function* objectsOf(
  value: Described = apiDescription,
  pointer = '#',
): Generator<{ pointer: string; value: Described }> {
  if (typeof value !== 'object' || value === null) return;
  yield { pointer, value };
  for (const name of Object.keys(value)) yield* objectsOf(value[name], `${pointer}/${pointerTo(name).slice(2)}`);
}

t.test('an independent validator finds nothing wrong', async (t) => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(apiDescription));
  t.same(errors, undefined);
  t.equal(valid, true);
  t.equal(validator.version, '3.1');
});

t.test('the schemas of request bodies are what the schema of schemas wants', async (t) => {
  const ajv = new Ajv2020();
  for (const folder of ['api', 'resend'].map((name) => new URL(`../../schema/${name}/`, import.meta.url))) {
    for (const file of fs.readdirSync(folder)) {
      const isSchema = ajv.validateSchema(JSON.parse(fs.readFileSync(new URL(file, folder), 'utf8')));
      t.equal(isSchema, true, file, { errors: ajv.errors });
    }
  }
});

t.test('the daemon serves this document', async (t) => {
  t.equal(fs.readFileSync(API_DESCRIPTION, 'utf8'), writtenDescription(), 'else: npm run openapi');
});

t.test('it stands alone: every reference leads to something in the document itself', async (t) => {
  const references = [...objectsOf()].map(({ value }) => value.$ref).filter((ref) => typeof ref === 'string');
  t.ok(references.length > 100);
  t.same(
    references.filter((ref) => !ref.startsWith('#/') || locate(ref) === null),
    [],
  );
});

t.test('the operations are the routes of the API', async (t) => {
  const api = await startApiHarness();
  t.teardown(() => api.close());
  const described = api.routes.filter(({ pattern }) => isDescribed(pattern));
  const routes = described.map(({ method, pattern }) => `${method} ${pattern.replaceAll(/:(\w+)/g, '{$1}')}`);
  t.same(operations.map(({ method, path }) => `${method} ${path}`).toSorted(), routes.toSorted());
  const ids = operations.map(({ pointer }) => locate(pointer)!.value.operationId);
  t.equal(new Set(ids).size, ids.length, 'each has an id of its own');

  const tenant = await api.addTenant();
  for (const { method, path, pointer } of operations) {
    const [requirement] = (locate(pointer)!.value.security ?? apiDescription.security) as { apiKey: string[] }[];
    const [scope] = requirement?.apiKey ?? [];
    const others = SCOPES.filter((other) => other !== scope);
    const target = path.replace('{id}', '018f0000-0000-7000-8000-000000000000');
    const { body } = await api.call(method, target, { key: await api.addKey(tenant.id, scope ? others : []) });
    t.equal(body.error === 'scope_required', scope !== undefined, `${method} ${path} needs ${scope ?? 'no scope'}`);
    if (!scope) continue;
    t.match(body.message, scope);
    t.match(locate(pointer)!.value.description, `Requires the scope \`${scope}\`.`);
  }
});

t.test('the error codes are those of the registry', async (t) => {
  const described = new Map<string, Set<string>>();
  for (const { pointer, value } of objectsOf()) {
    const statuses = pointer === '#/x-outside-operations' ? value : (value.responses ?? {});
    const base = statuses === value ? pointer : `${pointer}/responses`;
    // `components.responses` has names in place of statuses.
    for (const status of Object.keys(statuses).filter((name) => /^[45]\d\d$/.test(name))) {
      const schema = locate(`${base}/${status}/content/application~1json/schema`)!.value;
      for (const code of errorCodesOf(schema)) described.set(code, (described.get(code) ?? new Set()).add(status));
    }
  }
  const found = [...described].map(([code, statuses]) => [code, ...statuses]);
  const registered = Object.entries(REFUSALS).map(([code, { status }]) => [code, String(status)]);
  t.same(found.toSorted(), registered.toSorted());
  const examples = Object.entries<Described>(apiDescription.components.examples);
  t.same(
    examples.map(([name, { value }]) => [name, value.error]).toSorted(),
    Object.keys(REFUSALS)
      .map((code) => [code, code])
      .toSorted(),
    'one example per code',
  );
});

t.test('the event types and families are those of the registry', async (t) => {
  const registered = Object.entries(EVENT_TYPES).map(([type, { family }]) => [type, family]);
  const schemas = apiDescription.components.schemas;
  const inFeed = schemas.Event.oneOf.map(({ $ref }: Described) => locate($ref)!.value.properties);
  t.same(inFeed.map(({ type, family }: Described) => [type.const, family.const]).toSorted(), registered.toSorted());
  t.same(Object.keys(schemas.Event.discriminator.mapping).toSorted(), Object.keys(EVENT_TYPES).toSorted());
  for (const [type, reference] of Object.entries<string>(schemas.Event.discriminator.mapping)) {
    t.equal(locate(reference)!.value.properties.type.const, type);
  }
  t.same(Object.keys(apiDescription.webhooks).toSorted(), Object.keys(EVENT_TYPES).toSorted());
  for (const type of Object.keys(apiDescription.webhooks)) {
    const body = locate(`#/webhooks/${type}/post/requestBody/content/application~1json/schema`)!;
    t.equal(body.value.properties.type.const, type, 'what is sent is that event');
  }
});

t.test('a webhook can be restricted to the types and families of the registry', async (t) => {
  const { EventChoice, RegisterWebhookRequest, ChangeWebhookRequest } = apiDescription.components.schemas;
  t.same(EventChoice.enum, EVENT_CHOICES);
  for (const { properties } of [RegisterWebhookRequest, ChangeWebhookRequest]) {
    t.same(properties.events.items.enum, EVENT_CHOICES);
  }
});

t.test('the examples are true', async (t) => {
  for (const { pointer, value } of objectsOf()) {
    if (pointer.endsWith('/content/application~1json')) {
      t.ok(Object.keys(value.examples ?? {}).length > 0, `${pointer} has examples`);
    }
    if (value.schema === undefined) continue;
    const schema = locate(`${pointer}/schema`)!.pointer;
    if (value.example !== undefined) t.equal(misfit(schema, value.example), null, pointer);
    for (const name of Object.keys(value.examples ?? {})) {
      const example = locate(`${pointer}/examples/${pointerTo(name).slice(2)}`)!.value;
      t.equal(misfit(schema, example.value), null, `${pointer} ${name}`);
    }
    for (const code of errorCodesOf(locate(schema)!.value)) {
      t.equal(locate(`${pointer}/examples/${code}`)?.value.value.error, code, `${pointer} shows ${code}`);
    }
  }
});

t.test('request bodies are described by the schemas that they are checked with', async (t) => {
  const folder = new URL('../../schema/api/', import.meta.url);
  const described = Object.values<Described>(apiDescription.components.schemas);
  for (const file of fs.readdirSync(folder)) {
    const { $schema, ...schema } = JSON.parse(fs.readFileSync(new URL(file, folder), 'utf8'));
    t.match($schema, '2020-12', file);
    t.same(
      described.find(({ title }) => title === schema.title),
      schema,
      file,
    );
  }
  for (const { method, path, pointer } of operations) {
    const body = locate(`${pointer}/requestBody/content/application~1json/schema`);
    if (body) t.match(body.value.description, `${method} ${path}`);
  }
});
