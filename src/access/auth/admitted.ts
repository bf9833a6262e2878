import { FastifyRequest } from 'fastify';
import { rowOf } from '../../operations/catalogue';

/** Whether admission decides about the request, and checks the rights of its caller again. */
export function isAdmitted({ routeOptions }: FastifyRequest): boolean {
  const { operation, isPreview } = routeOptions.config;
  return operation !== undefined && isPreview !== true && rowOf(operation).effect !== 'read';
}
