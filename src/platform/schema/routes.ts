import { ApiOperation, ApiParam } from '@nestjs/swagger';

/**
 * Describes a route in the OpenAPI documents. Its `operationId` is the name of its method, and its scopes
 * precede its description (src/app/openapi-security.ts).
 */
export const ApiSummary = (summary: string, description = '') => ApiOperation({ summary, description });

/** Describes a UUID in the path of a route. */
export const ApiId = (description: string, name = 'id') =>
  ApiParam({ name, schema: { type: 'string', format: 'uuid' }, description });

/** Describes the name of a client in the path of a route. */
export const ApiClientName = () =>
  ApiParam({ name: 'name', schema: { type: 'string' }, description: "The client's name." });
