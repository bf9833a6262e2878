#!/usr/bin/env node
/** Reports the changes of the OpenAPI documents since the last release that can break an app. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const HELP = `Usage: node tools/breaking-changes.mjs [--released <folder>] [--current <folder>]

Compares openapi.json and openapi.staff.json with those of the last release, which npm run freeze keeps in
test/released. Exits with 1 if a change can break an app. To accept a change, copy its line without the name
of the document to test/released/accepted-changes.txt.

Examples:
  node tools/breaking-changes.mjs
  node tools/breaking-changes.mjs --current ../other-checkout`;

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

/** Limits of a request field, and the changes that refuse earlier values. */
const LIMITS = {
  maxLength: (before, after) => after < before,
  maximum: (before, after) => after < before,
  maxItems: (before, after) => after < before,
  minLength: (before, after) => after > before,
  minimum: (before, after) => after > before,
  minItems: (before, after) => after > before,
  pattern: (before, after) => after !== before,
  format: (before, after) => after !== before,
};

function report(name, { released, current }) {
  const file = join(released, 'accepted-changes.txt');
  const accepted = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const [before, after] = [released, current].map((folder) => readDocument(join(folder, name), name));
  const changes = [...new Set(changesOf(before, after))].filter((change) => !accepted.includes(change));
  for (const change of changes) console.log(`${name}: ${change}`);
  if (changes.length === 0) console.log(`${name}: no change since the last release breaks an app.`);
  else process.exitCode = 1;
}

function readDocument(path, name) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`${name} cannot be compared: ${error.message}`, { cause: error });
  }
}

/** Returns a line for each change that can break an app. */
function changesOf(before, after) {
  const changes = [];
  for (const [path, item] of Object.entries(before.paths)) {
    for (const method of METHODS.filter((name) => item[name])) {
      const add = (text) => changes.push(`${method.toUpperCase()} ${path} ${text}`);
      const kept = after.paths[path];
      if (!kept?.[method]) add('removed the route');
      else compareOperations(new Side(before, item, method), new Side(after, kept, method), add);
    }
  }
  return changes;
}

/** An operation in one of the two documents. */
class Side {
  constructor(document, item, method) {
    this.document = document;
    this.operation = item[method];
    const parameters = [...(item.parameters ?? []), ...(this.operation.parameters ?? [])].map((one) =>
      this.resolve(one),
    );
    this.parameters = new Map(parameters.map((one) => [`${one.in} parameter ${one.name}`, one]));
    this.body = this.resolve(this.operation.requestBody);
    this.responses = this.operation.responses;
  }

  /** Follows a reference, such as `#/components/schemas/LimitsDto`. */
  resolve(value) {
    if (!value?.$ref) return value;
    const names = value.$ref.slice(2).split('/');
    return this.resolve(names.reduce((found, name) => found[name.replaceAll('~1', '/')], this.document));
  }

  /** Returns a schema with those of its `allOf` merged into it. */
  merged(schema) {
    const { allOf = [], ...own } = this.resolve(schema);
    const parts = [...allOf.map((part) => this.merged(part)), own];
    const properties = Object.assign({}, ...parts.map((part) => part.properties));
    const required = parts.flatMap((part) => part.required ?? []);
    return Object.assign({}, ...parts, { properties, required });
  }

  /** Returns the alternatives of a schema. A value has to match one. */
  alternatives(schema) {
    const merged = this.merged(schema);
    return merged.anyOf ? merged.anyOf.map((one) => this.merged(one)) : [merged];
  }

  schemaOf(content) {
    return this.resolve(content)?.content?.['application/json']?.schema;
  }
}

function compareOperations(before, after, add) {
  for (const [name, { required }] of after.parameters) {
    if (required && !before.parameters.get(name)?.required) add(`requires the ${name}`);
  }
  for (const [name, { schema }] of before.parameters) {
    const kept = after.parameters.get(name);
    if (!kept) add(`removed the ${name}`);
    else compareSchemas({ before, after, add, isRequest: true, open: [] }, schema, kept.schema, name);
  }
  if (after.body?.required && !before.body?.required) add('requires a body');
  const request = { before, after, add, isRequest: true, open: [] };
  compareSchemas(request, before.schemaOf(before.body), after.schemaOf(after.body), 'request');
  for (const [status, response] of Object.entries(before.responses)) {
    const kept = after.responses[status];
    const answer = { ...request, isRequest: false };
    if (!kept) add(`removed the response ${status}`);
    else compareSchemas(answer, before.schemaOf(response), after.schemaOf(kept), `response ${status}`);
  }
}

/** Compares two schemas and their fields. `open` holds the schemas around them, to end recursion. */
function compareSchemas(context, one, other, where) {
  const { add, isRequest } = context;
  if (!one || context.open.includes(one)) return;
  if (!other) return add(`${where}: removed the schema`);
  const inner = { ...context, open: [...context.open, one] };
  const before = context.before.alternatives(one);
  const after = context.after.alternatives(other);
  const [given, taken] = (isRequest ? [before, after] : [after, before]).map(typesOf);
  if (!given.every((type) => taken.includes(type)))
    add(`${where}: changed the type to ${typesOf(after).join(' or ')}`);
  const kept = after.filter(isNotNull);
  for (const [index, schema] of before.filter(isNotNull).entries()) {
    if (kept[index]) compareAlternatives(inner, schema, kept[index], where);
    else if (isRequest) add(`${where}: removed an alternative`);
  }
}

function compareAlternatives(context, before, after, where) {
  if (context.isRequest) compareValues(before, after, (text) => context.add(`${where}: ${text}`));
  compareFields(context, before, after, where);
  if (before.items) compareSchemas(context, before.items, after.items, `${where}[]`);
}

/** Reports values that a request may no longer have. */
function compareValues(before, after, add) {
  if (after.enum && !before.enum) add('allows only listed values');
  for (const value of before.enum ?? [])
    if (after.enum && !after.enum.includes(value)) add(`refuses the value ${value}`);
  for (const [limit, isNarrower] of Object.entries(LIMITS)) {
    if (after[limit] === undefined) continue;
    if (before[limit] === undefined || isNarrower(before[limit], after[limit])) add(`narrowed ${limit}`);
  }
}

function compareFields(context, before, after, where) {
  for (const [name, schema] of Object.entries(before.properties)) {
    if (!after.properties[name]) context.add(`${where}: removed the field ${name}`);
    else compareSchemas(context, schema, after.properties[name], `${where}.${name}`);
  }
  for (const name of context.isRequest ? after.required : before.required) {
    const isKept = (context.isRequest ? before : after).required.includes(name);
    if (isKept || (!context.isRequest && !after.properties[name])) continue;
    context.add(`${where}: ${context.isRequest ? 'requires' : 'may leave out'} the field ${name}`);
  }
}

/** Returns the types of alternatives. One without a type allows any. */
function typesOf(alternatives) {
  return alternatives.flatMap(({ type }) => type);
}

function isNotNull({ type }) {
  return type !== 'null';
}

const { values } = parseArgs({
  options: {
    released: { type: 'string', default: 'test/released' },
    current: { type: 'string', default: '.' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) console.log(HELP);
else for (const name of ['openapi.json', 'openapi.staff.json']) report(name, values);
