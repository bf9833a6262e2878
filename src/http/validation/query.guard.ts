import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { FastifyRequest } from 'fastify';
import { Problem } from '../../platform/errors/problem';
import { pointerTo } from './faults';

const DETAIL =
  'must not be sent as a query parameter, because this operation has none. Send its input as JSON in the body';

/** Rejects query parameters that an operation does not read, instead of ignoring them silently. */
@Injectable()
export class QueryGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { routeOptions, query } = context.switchToHttp().getRequest<FastifyRequest>();
    const names = Object.keys(query as object);
    if (routeOptions.config.operation === undefined || names.length === 0 || readsQuery(context)) return true;
    const faults = names.map((name) => ({ pointer: pointerTo('', name), detail: DETAIL }));
    throw new Problem('invalid_request', { faults });
  }
}

/** Returns whether the handler has a `@Query()`, whose class checks the query. */
function readsQuery(context: ExecutionContext): boolean {
  const handler = context.getHandler().name;
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, context.getClass(), handler) ?? {}) as object;
  return Object.keys(parameters).some((kind) => kind.startsWith(`${RouteParamtypes.QUERY}:`));
}
