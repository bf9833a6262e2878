import { ClientError } from '../../access/clients/client-error';
import { Problem } from '../../platform/errors/problem';

/** The API's words for what cannot be done with clients: the commands' own speak of commands. */
export function asProblem(error: unknown): never {
  if (error instanceof ClientError) throw new Problem(error.code ?? 'invalid_request', { cause: error });
  throw error;
}
