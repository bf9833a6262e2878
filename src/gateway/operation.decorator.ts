import { applyDecorators, Get, HttpCode, Post, SetMetadata } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtension, ApiProduces, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { Allow } from '../access/auth/route-access';
import { ACCEPTED_CALL_HEADERS } from '../http/answers/accepted-headers';
import { answerExample, answerSchemaName } from '../operations/catalogue/answers';
import {
  INTERFACE_PREFIX,
  methodOf,
  mayBeQueued,
  movesValue,
  namedObjectOf,
  OperationName,
  pathOf,
  reachesOnlyOwn,
  rowOf,
  scopesOf,
  sourceOf,
} from '../operations/catalogue/catalogue';
import { ApiEnvelopeProblems } from '../platform/errors/api-problems';
import { AcceptedCall } from '../platform/errors/envelope.dto';
import { ApiSummary } from '../platform/schema/routes';
import { addPreview } from './preview/preview.controller';

export const OPERATION = 'payout-proxy:operation';

/**
 * Makes a method the handler of one operation: its route, scopes, record and documentation. The method's name
 * becomes the `operationId`, so it must be unique. An operation other than a read also gets a preview.
 * @param method another method that the interface allows for the same operation.
 */
export function Operation(name: OperationName, method = methodOf(name)): MethodDecorator {
  const { effect } = rowOf(name);
  const route = operationRoute(name, method);
  return (controller, handler, descriptor) => {
    route(controller, handler, descriptor);
    if (effect !== 'read') addPreview(name, String(handler), bodyClassOf(controller, handler));
  };
}

/** The class of a handler's `@Body()`. */
function bodyClassOf(controller: object, handler: string | symbol): new () => object {
  const types = Reflect.getMetadata('design:paramtypes', controller, handler) as (new () => object)[];
  const bound = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller.constructor, handler) as object;
  const [, body] =
    Object.entries<{ index: number }>({ ...bound }).find(([kind]) =>
      kind.startsWith(`${RouteParamtypes.BODY}:`),
    ) ?? [];
  const bodyClass = body && types[body.index];
  if (!bodyClass) throw new Error(`the handler ${String(handler)} pays or writes, so it must have a @Body()`);
  return bodyClass;
}

function operationRoute(name: OperationName, method: 'GET' | 'POST') {
  const { title, effect, answer } = rowOf(name);
  const source = sourceOf(name);
  const scopes = scopesOf(name);
  const path = INTERFACE_PREFIX + pathOf(name);
  return applyDecorators(
    method === 'GET' ? Get(path) : Post(path),
    HttpCode(200),
    Allow(...scopes),
    SetMetadata(OPERATION, name),
    RouteConfig({ operation: name }),
    ApiSummary(
      method === methodOf(name) ? title : `${title} (forwarded as ${methodOf(name)})`,
      (reachesOnlyOwn(name) ? 'Without `account`, only objects of your client. ' : '') +
        (source === 'documented'
          ? 'Documented by the upstream.'
          : 'Observed, not documented by the upstream. Confirm it with the provider.'),
    ),
    ApiExtension('x-source', source),
    ApiProduces('application/json'),
    ApiResponse({
      status: 200,
      description: "The upstream's own answer, byte for byte. It may lack fields, and have others.",
      content: {
        'application/json': {
          schema: { $ref: getSchemaPath(answerSchemaName(answer)) },
          example: answerExample(answer),
        },
      },
    }),
    ...(movesValue(name) || mayBeQueued(name)
      ? [
          ApiResponse({
            status: 202,
            type: AcceptedCall,
            description: 'The call waits for an approval or, with `Prefer: respond-async`, for its turn.',
            headers: ACCEPTED_CALL_HEADERS,
          }),
        ]
      : []),
    ApiEnvelopeProblems(effect, ...(namedObjectOf(name) ? (['object_not_found'] as const) : [])),
  );
}
