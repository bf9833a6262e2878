import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import { FastifyRequest } from 'fastify';
import { Problem } from '../../platform/errors/problem';
import { AuthenticatedCall, isAuthenticated } from './call';

/**
 * Injects the call into a handler. An operation of the interface declares it as an `OperationCall`, because its route
 * names the operation. Every other route declares it as an `AuthenticatedCall`.
 */
export const CurrentCall = createParamDecorator((_data: unknown, context: ExecutionContext): AuthenticatedCall => {
  const { call } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!isAuthenticated(call)) throw new Problem('missing_key');
  return call;
});
