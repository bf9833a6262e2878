import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import { FastifyRequest } from 'fastify';
import { Call } from './call';

/** The request on its way, with its caller. */
export const CurrentCall = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Call => context.switchToHttp().getRequest<FastifyRequest>().call,
);
