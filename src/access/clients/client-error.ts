import { Fault } from '../../platform/errors/problem';

/** A command of the operator that cannot be carried out. The message says what to do instead. */
export class ClientError extends Error {
  /**
   * @param code for programs, if the error is not an invalid request.
   * @param faults of an invalid request, for the API.
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
