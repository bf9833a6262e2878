import { StartError } from '../platform/config/config';
import { Problem } from '../platform/errors/problem';
import { unexpectedFailure } from '../platform/logging/failure';

/** Returns why a command failed, for standard error. Known failures have their own words. */
export function failureOf(command: string, error: unknown): string {
  const isKnown = [StartError, Problem].some((kind) => error instanceof kind);
  return isKnown ? (error as Error).message : unexpectedFailure(command, error);
}
