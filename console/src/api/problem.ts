import type { ProblemDetails } from './generated/schema';

/** What the proxy answered instead of what was asked for, or that it could not be reached. */
export class ApiProblem extends Error {
  /** @param problem RFC 9457 problem details; undefined: no answer came. */
  constructor(readonly problem: ProblemDetails | undefined) {
    super(
      problem?.detail ??
        'The proxy cannot be reached, so the result is unknown. Check your connection, then check the current state.',
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

/** Whether the proxy, or something that it needs, could not be reached: the same question may be answered in a moment. */
export const isOutage = (error: unknown): boolean =>
  error instanceof ApiProblem && (error.status === undefined || error.status >= BAD_GATEWAY);

export async function problemIn(response: Response): Promise<ApiProblem> {
  try {
    return new ApiProblem((await response.json()) as ProblemDetails);
  } catch {
    return new ApiProblem(undefined); // whoever answered, it was not the proxy
  }
}

/** What to tell people of any error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong in this page. Reload it.';
}

/** What is wrong with each field of a request, by its name (its place, where it is within others). */
export function faultsOf(error: unknown): Partial<Record<string, string>> {
  const faults = error instanceof ApiProblem ? (error.problem?.errors ?? []) : [];
  return Object.fromEntries(faults.map(({ pointer, detail }) => [pointer.slice(1), detail]));
}
