import { OpenAPIObject } from '@nestjs/swagger';
import { RESPONSE_NAME } from '../platform/errors/api-problems';

type Section = 'responses' | 'parameters';
type Holder = Record<string, object>;

interface Route {
  address: string;
  operation: { parameters?: object[]; responses: object };
}

/** A response or parameter of an operation, with the name for `components`. */
interface Place {
  holder: Holder;
  key: string;
  name: string;
  /** The name to use if another part of the same name is in more places. */
  longName: string;
}

/**
 * Moves every repeated response and parameter into `components`, and replaces it with a reference. Empty lists of
 * parameters are left out. A reader who follows the references sees the same document.
 */
export function shareEqualParts(document: OpenAPIObject): void {
  const routes = routesOf(document);
  share(document, 'responses', routes.flatMap(responsesOf));
  share(document, 'parameters', routes.flatMap(parametersOf));
  for (const { operation } of routes) if (operation.parameters?.length === 0) delete operation.parameters;
}

function routesOf({ paths }: OpenAPIObject): Route[] {
  return Object.entries(paths).flatMap(([address, { get, post, patch, delete: remove }]) =>
    [get, post, patch, remove].flatMap((operation) => (operation ? { address, operation } : [])),
  );
}

function responsesOf({ address, operation }: Route): Place[] {
  const holder = operation.responses as Holder;
  return Object.entries(holder).map(([key, response]) => {
    const { [RESPONSE_NAME]: given, ...rest } = response as { [RESPONSE_NAME]?: string };
    holder[key] = rest;
    const name = given ?? schemaName(rest) ?? `Status${key}`;
    return { holder, key, name, longName: `${resourceOf(address)}.${name}` };
  });
}

/** Returns the name of the schema of a response's content. */
function schemaName(response: object): string | undefined {
  return /"#\/components\/schemas\/(\w+)"/.exec(JSON.stringify(response))?.[1];
}

function parametersOf({ address, operation: { parameters = [] } }: Route): Place[] {
  const holder = parameters as unknown as Holder;
  return parameters.flatMap((parameter, index) => {
    if (!('name' in parameter)) return []; // already a reference
    const name = String(parameter.name);
    return { holder, key: String(index), name, longName: `${resourceOf(address, `{${name}}`)}.${name}` };
  });
}

/** Returns the last word of an address, or the one before a parameter: `calls` of `/v1/calls/{id}/receipt`. */
function resourceOf(address: string, parameter?: string): string {
  const segments = address.split('/');
  const end = parameter === undefined ? -1 : segments.indexOf(parameter);
  return segments.slice(0, end < 0 ? undefined : end).findLast((segment) => !segment.startsWith('{')) ?? '';
}

function share(document: OpenAPIObject, section: Section, places: Place[]): void {
  const groups = groupBy(places, ({ holder, key }) => JSON.stringify(holder[key]));
  const shared = [...groups].filter(([, { length }]) => length > 1);
  const namesakes = groupBy(shared, ([, [first]]) => first?.name);
  const parts = new Map<string, object>(Object.entries(document.components?.[section] ?? {}));
  for (const [json, group] of shared) {
    const [{ name, longName }] = group as [Place];
    const [most] = [...(namesakes.get(name) ?? [])].sort(([, one], [, other]) => other.length - one.length);
    const unique = json === most?.[0] ? name : longName;
    if (parts.has(unique)) throw new Error(`Two different ${section} of the API document are named ${unique}.`);
    parts.set(unique, JSON.parse(json) as object);
    for (const { holder, key } of group) holder[key] = { $ref: `#/components/${section}/${unique}` };
  }
  const sorted = [...parts].sort(([a], [b]) => (a < b ? -1 : 1));
  document.components = { ...document.components, [section]: Object.fromEntries(sorted) };
}

function groupBy<Element, Key>(elements: Element[], keyOf: (element: Element) => Key): Map<Key, Element[]> {
  const groups = new Map<Key, Element[]>();
  for (const element of elements) {
    const key = keyOf(element);
    groups.set(key, [...(groups.get(key) ?? []), element]);
  }
  return groups;
}
