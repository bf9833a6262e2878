import type { ProblemDetails } from './generated/schema';

/** An error response of the proxy, or a proxy that cannot be reached. */
export class ApiProblem extends Error {
  /** @param problem RFC 9457 problem details. Undefined if there was no response. */
  constructor(readonly problem: ProblemDetails | undefined) {
    super(
      problem?.detail ??
        'The proxy cannot be reached, so the result is unknown. Check your connection, then check ' +
          'the current state.',
    );
  }

  get status(): number | undefined {
    return this.problem?.status;
  }

  get code(): string | undefined {
    return this.problem?.code;
  }
}

const BAD_GATEWAY = 502;

/** Returns whether the proxy, or a service that it needs, is unreachable. A retry may succeed. */
export const isOutage = (error: unknown): boolean =>
  error instanceof ApiProblem && (error.status === undefined || error.status >= BAD_GATEWAY);

export async function problemIn(response: Response): Promise<ApiProblem> {
  try {
    return new ApiProblem((await response.json()) as ProblemDetails);
  } catch {
    return new ApiProblem(undefined); // The response did not come from the proxy.
  }
}

/** Returns a readable message for any error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong on this page. Reload it.';
}

/** Returns the errors of a request by field name, or by JSON pointer for nested fields. */
export function faultsOf(error: unknown): Partial<Record<string, string>> {
  const faults = error instanceof ApiProblem ? (error.problem?.errors ?? []) : [];
  return Object.fromEntries(faults.map(({ pointer, detail }) => [pointer.slice(1), detail]));
}
