import { ClientError } from '../../access/clients/client-error';
import { Problem } from '../../platform/errors/problem';

/** Translates client errors for the API, because their texts name CLI commands. */
export function asProblem(error: unknown): never {
  if (error instanceof ClientError)
    throw new Problem(error.code ?? 'invalid_request', { cause: error, faults: error.faults });
  throw error;
}
