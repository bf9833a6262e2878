import { applyDecorators, Get, HttpCode, Post, SetMetadata } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExtension, ApiOperation, ApiProduces, ApiResponse, ApiSecurity } from '@nestjs/swagger';
import { Allow } from '../auth/allow';
import { ApiEnvelopeProblems } from '../errors/api-problems';
import { AnyEnvelope, PendingApproval } from '../errors/envelope.dto';
import { methodOf, OperationName, pathOf, rowOf } from './operations';

export const OPERATION = 'payout-proxy:operation';

/**
 * Makes a method the handler of one operation: its route, the scope it needs, its place in the record and in the
 * documentation.
 * @param summary what it does, in a few words.
 * @param method another method that the interface's text allows for the same operation.
 */
export function Operation(name: OperationName, summary: string, method = methodOf(name)): MethodDecorator {
  const { effect, source } = rowOf(name);
  return applyDecorators(
    method === 'GET' ? Get(pathOf(name)) : Post(pathOf(name)),
    HttpCode(200),
    Allow(effect),
    SetMetadata(OPERATION, name),
    RouteConfig({ operation: name }),
    ApiSecurity('key'),
    ApiOperation({
      summary,
      operationId: `${method} ${pathOf(name)}`,
      description: `Scope \`${effect}\`. ${source === 'documented' ? 'Documented by the upstream.' : 'Observed, not documented: confirm it with the provider.'}`,
    }),
    ApiExtension('x-source', source),
    ApiProduces('application/json'),
    ApiResponse({ status: 200, type: AnyEnvelope, description: "The upstream's own answer, byte for byte." }),
    ...(effect === 'pay'
      ? [ApiResponse({ status: 202, type: PendingApproval, description: 'It waits for an approval.' })]
      : []),
    ApiEnvelopeProblems(effect),
  );
}
