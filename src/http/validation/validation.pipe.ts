import {
  ArgumentMetadata,
  CanActivate,
  ExecutionContext,
  Inject,
  Injectable,
  PipeTransform,
} from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { FastifyRequest } from 'fastify';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { runInTurns } from '../../platform/cooperative-task';
import { Problem } from '../../platform/errors/problem';
import { isObject } from '../../platform/json/is-object';
import { FaultList, pointerTo } from './faults';
import { instantiate, Limits } from './instantiate';
import { findFaults, findFaultsInSteps, hasLongList } from './passes-rules';
import { addSuggestions } from './rules/people-rules';
import { isForwarded, mayBeLeftOut } from './rules/rules';

const NO_FIELDS: ReadonlySet<string> = new Set();

/** Converts bodies and queries into instances of their classes, or lists all of their faults. */
@Injectable()
export class RequestValidationPipe implements PipeTransform {
  private readonly limits: Limits;

  constructor(@Inject(SETTINGS) { maxItems, extraFieldsAllowed }: RunningConfig) {
    this.limits = { maxItems, extras: new Set(extraFieldsAllowed) };
  }

  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || !metatype) return value;
    const checked = type === 'body' ? this.checkBody(value, metatype) : this.check(value, metatype, false);
    return checked instanceof Promise ? checked.then(instanceOf) : instanceOf(checked);
  }

  /**
   * Converts a body into an instance of its class, with all faults. Without an instance if the body is not an
   * object. Checks a body with a long list in steps.
   */
  checkBody(value: unknown, bodyClass: new () => object): CheckedInput | Promise<CheckedInput> {
    return this.check(value, bodyClass, isForwarded(bodyClass.name));
  }

  /**
   * @param mayHaveExtras false for queries and for bodies that are not forwarded.
   */
  private check(
    value: unknown,
    metatype: new () => object,
    mayHaveExtras: boolean,
  ): CheckedInput | Promise<CheckedInput> {
    return check(value, metatype, mayHaveExtras ? this.limits : { ...this.limits, extras: NO_FIELDS });
  }
}

interface CheckedInput {
  instance?: object;
  found: FaultList;
}

/** @throws Problem `invalid_request` if there is a fault. */
function instanceOf({ instance, found }: CheckedInput): object | undefined {
  if (found.total === 0) return instance;
  throw new Problem('invalid_request', { faults: found.faults, faultsTotal: found.total });
}

function check(
  value: unknown,
  metatype: new () => object,
  limits: Limits,
): CheckedInput | Promise<CheckedInput> {
  if (value === undefined && mayBeLeftOut(metatype))
    return { instance: new metatype(), found: new FaultList() };
  if (value === undefined) return { found: faultOfAll('the body is required and must be a JSON object') };
  if (!isObject(value)) return { found: faultOfAll('the body must be a JSON object') };
  const checked = instantiate(value, metatype, limits);
  const { instance, found } = checked;
  const withSuggestions = () => {
    addSuggestions(found.faults, value);
    return checked;
  };
  if (hasLongList(instance)) return runInTurns(findFaultsInSteps(instance, found)).then(withSuggestions);
  findFaults(instance, found);
  return withSuggestions();
}

function faultOfAll(detail: string): FaultList {
  const found = new FaultList();
  found.add(
    () => '',
    () => detail,
  );
  return found;
}

const DETAIL =
  'must not be sent as a query parameter, because this operation has none. Send its input as JSON in ' +
  'the body';

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
