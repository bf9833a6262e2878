import { Fault } from '../../platform/errors/problem';

/** A rejected operator command. The message names the remedy. */
export class ClientError extends Error {
  /**
   * @param code the error code. Undefined for an invalid request.
   * @param faults the faults of an invalid request, for the API.
   */
  constructor(
    message: string,
    readonly code?:
      | 'client_not_found'
      | 'client_exists'
      | 'key_not_found'
      | 'public_client'
      | 'provider_taken'
      | 'person_not_found'
      | 'sign_in_exists',
    readonly faults: Fault[] = [],
  ) {
    super(message);
  }
}
