import { applyDecorators, Get, HttpCode, Post, SetMetadata } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtension, ApiExtraModels, ApiOperation, ApiProduces, ApiResponse, ApiSecurity } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { ApiEnvelopeProblems } from '../../platform/errors/api-problems';
import { AnyEnvelope, PendingApproval } from '../../platform/errors/envelope.dto';
import {
  INTERFACE_PREFIX,
  methodOf,
  movesValue,
  OperationName,
  pathOf,
  PREVIEW_PREFIX,
  rowOf,
  scopesOf,
} from '../../operations/catalogue';
import { Preview } from '../preview/preview.dto';

export const OPERATION = 'payout-proxy:operation';

/**
 * Makes a method the handler of one operation, and of its preview where it is no read: its routes, the scopes it needs, its
 * place in the record and in the documentation (src/app/openapi.ts describes previews). The method's name becomes the
 * `operationId`, so no other handler has the same name.
 * @param method another method that the interface's text allows for the same operation.
 */
export function Operation(name: OperationName, method = methodOf(name)): MethodDecorator {
  const { title, effect, source } = rowOf(name);
  const scopes = scopesOf(name);
  const path = pathOf(name);
  const paths = [INTERFACE_PREFIX + path, ...(effect === 'read' ? [] : [PREVIEW_PREFIX + path])];
  return applyDecorators(
    method === 'GET' ? Get(paths) : Post(paths),
    HttpCode(200),
    Allow(...scopes),
    SetMetadata(OPERATION, name),
    RouteConfig({ operation: name, scopes }),
    ApiSecurity('key'),
    ApiExtraModels(Preview),
    ApiOperation({
      summary: method === methodOf(name) ? title : `${title}; forwarded as ${methodOf(name)}`,
      description: `${scopes.length > 1 ? 'Scopes' : 'Scope'} ${scopes.map((scope) => `\`${scope}\``).join(' and ')}. ${source === 'documented' ? 'Documented by the upstream.' : 'Observed, not documented: confirm it with the provider.'}`,
    }),
    ApiExtension('x-source', source),
    ApiProduces('application/json'),
    ApiResponse({ status: 200, type: AnyEnvelope, description: "The upstream's own answer, byte for byte." }),
    ...(movesValue(name)
      ? [ApiResponse({ status: 202, type: PendingApproval, description: 'It waits for an approval.' })]
      : []),
    ApiEnvelopeProblems(effect),
  );
}
