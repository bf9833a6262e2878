import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { ModulesContainer } from '@nestjs/core';
import { NestFastifyApplication } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants';
import { ALLOW, isForApps, SECRET_KEYS_ONLY, SHOWS } from '../access/auth/route-access';
import { Scope, SCOPES } from '../operations/catalogue/scopes';

/** A route of the proxy, with its callers. */
export interface Route {
  method: string;
  /** Below `/`, with its parameters as in `v1/calls/:id`. */
  path: string;
  /** `everyone` needs no key. */
  scopes: (Scope | 'everyone')[];
  /** Whether a key needs all scopes, as for an operation and its preview. Otherwise, one is enough. */
  needsAll: boolean;
  /** Whether the route is for apps. All others are for operators and auditors. */
  isForApps: boolean;
  /** Whether only the key of a server opens it. */
  needsSecretKey: boolean;
  /** The calls and objects that it reads or changes: those of the caller's client, or of all clients. */
  reaches: 'own' | 'all' | '';
  /** Whether reading it is recorded, because it shows the history to others. */
  isRecorded: boolean;
}

type Handlers = Record<string, object>;

/** Returns all routes of an application, by their paths. */
export function routesOf(app: NestFastifyApplication): Route[] {
  const controllers = new Set(
    [...app.get(ModulesContainer).values()].flatMap(({ controllers }) =>
      [...controllers.values()].map(({ metatype }) => metatype as (new () => object) | null),
    ),
  );
  return [...controllers]
    .flatMap((controller) => (controller ? routesOfController(controller) : []))
    .sort((one, other) => (`${one.path} ${one.method}` < `${other.path} ${other.method}` ? -1 : 1));
}

function routesOfController(controller: new () => object): Route[] {
  const prefix = Reflect.getMetadata(PATH_METADATA, controller) as string;
  const handlers = controller.prototype as Handlers;
  return Object.getOwnPropertyNames(handlers).flatMap((name) => {
    const handler = handlers[name];
    if (name === 'constructor' || !handler || !Reflect.hasMetadata(PATH_METADATA, handler)) return [];
    const path = Reflect.getMetadata(PATH_METADATA, handler) as string;
    const config = Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) as
      | { operation?: string }
      | undefined;
    const scopes = (Reflect.getMetadata(ALLOW, handler) as Route['scopes'] | undefined) ?? [];
    return [
      {
        method: RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod],
        path: [prefix, path].join('/').split('/').filter(Boolean).join('/'),
        scopes,
        needsAll: config?.operation !== undefined,
        isForApps: isForApps(scopes),
        needsSecretKey: Reflect.hasMetadata(SECRET_KEYS_ONLY, handler),
        reaches: reachOf(scopes),
        isRecorded: Reflect.hasMetadata(SHOWS, handler),
      },
    ];
  });
}

/** Returns the reach of scopes: those of apps reach their own client, all others every client. */
function reachOf(scopes: Route['scopes']): Route['reaches'] {
  if (scopes.includes('everyone') || scopes.length === SCOPES.length) return '';
  if (scopes.includes('account')) return 'all';
  return scopes.some((scope) => ['pay', 'write', 'read'].includes(scope)) ? 'own' : 'all';
}
