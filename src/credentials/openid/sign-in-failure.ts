/** Reasons of failed sign-ins. */
export type FailureKind =
  | 'not_configured'
  | 'unreachable'
  | 'other_issuer'
  | 'refused'
  | 'invalid'
  | 'too_weak'
  | 'no_database';

/** A failed sign-in. Its message contains no person and no secret. */
export class SignInFailure extends Error {
  /** @param error the error code of the provider (RFC 6749, section 4.1.2.1). */
  constructor(
    readonly kind: FailureKind,
    readonly error?: string,
    cause?: unknown,
  ) {
    super(`sign-in failed: ${kind}`, { cause });
  }
}

/** The library's codes for an unreachable or broken provider. */
const UNREACHABLE = [
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
];

/** The form of an error code. */
const ERROR_CODE = /^[a-z_]{1,64}$/;

/** Maps a failure of the library to a SignInFailure. */
export function asSignInFailure(failure: unknown): SignInFailure {
  if (failure instanceof SignInFailure) return failure;
  const { name, code, error, cause } = failure as {
    name?: string;
    code?: string;
    error?: unknown;
    cause?: unknown;
  };
  if (failure instanceof TypeError && !('code' in failure))
    return new SignInFailure('unreachable', undefined, failure); // of fetch
  const isBroken =
    UNREACHABLE.includes(code ?? '') || Number((cause as { status?: unknown } | undefined)?.status) >= 500;
  if (isBroken) return new SignInFailure('unreachable', undefined, failure);
  const isRefusal = name === 'AuthorizationResponseError' || name === 'ResponseBodyError';
  if (!isRefusal) return new SignInFailure('invalid', undefined, failure);
  return new SignInFailure(
    'refused',
    typeof error === 'string' && ERROR_CODE.test(error) ? error : undefined,
    failure,
  );
}
