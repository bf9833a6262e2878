import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The members of a JSON Schema that tests read. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  format?: string;
  pattern?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  allOf?: Schema[];
  additionalProperties?: boolean | Schema;
}

type Content = Record<string, { schema: Schema; example?: unknown }>;

interface Response {
  description: string;
  headers?: Record<string, object>;
  content?: Content;
}

interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  description: string;
  schema: Schema;
}

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, Response>;
  'x-source'?: string;
}

export type Method = 'get' | 'post' | 'patch' | 'delete';

type Path = Partial<Record<Method, Operation>> & { parameters: Parameter[] };

export interface ApiDocument {
  openapi: string;
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Path>;
  components: {
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    headers: Record<string, object>;
    securitySchemes: Record<string, { description: string }>;
  };
}

const METHODS: Method[] = ['get', 'post', 'patch', 'delete'];

/** The documents in the repository: of apps, and of operators and auditors. */
export const API_DOCUMENTS = { apps: read('openapi.json'), staff: read('openapi.staff.json') };

/** All routes. A component has the same name in each document. */
export const API_DOCUMENT = joined(API_DOCUMENTS.apps, API_DOCUMENTS.staff);

function read(file: string): ApiDocument {
  return JSON.parse(readFileSync(join(__dirname, '..', '..', '..', file), 'utf8')) as ApiDocument;
}

function joined(apps: ApiDocument, staff: ApiDocument): ApiDocument {
  const { schemas, parameters, headers, securitySchemes } = apps.components;
  return {
    ...apps,
    paths: { ...apps.paths, ...staff.paths },
    components: {
      schemas: { ...schemas, ...staff.components.schemas },
      parameters: { ...parameters, ...staff.components.parameters },
      headers: { ...headers, ...staff.components.headers },
      securitySchemes: { ...securitySchemes, ...staff.components.securitySchemes },
    },
  };
}

/** Returns the target of a reference, or the value itself. */
export function follow<Part extends { $ref?: string }>(part: Part, document = API_DOCUMENT): Part {
  if (part.$ref === undefined) return part;
  const [, , section = '', name = ''] = part.$ref.split('/');
  const parts = document.components[section as keyof ApiDocument['components']] as unknown as Record<
    string,
    Part
  >;
  if (!parts[name]) throw new Error(`The API document lacks the target of ${part.$ref}.`);
  return { ...parts[name], ...part, $ref: undefined };
}

/** Returns every operation of the document, with its own and its path's headers. */
export function operationsIn(
  document = API_DOCUMENT,
): { path: string; method: Method; operation: Operation; shared: string[] }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      if (!operation) return [];
      return {
        path,
        method,
        shared: item.parameters.map(({ $ref = '' }) => $ref.split('/').at(-1) ?? ''),
        operation: {
          ...operation,
          parameters: (operation.parameters ?? []).map((parameter) => follow(parameter, document)),
        },
      };
    }),
  );
}
