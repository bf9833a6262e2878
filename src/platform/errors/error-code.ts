/**
 * Returns the code of an error of Node, of Postgres or of a library. An error that collects several, such as
 * those of all addresses of a host, has the code of the first one.
 */
export function codeOf(error: unknown): string | undefined {
  const { code, errors } = Object(error) as { code?: unknown; errors?: unknown };
  if (typeof code === 'string') return code;
  return Array.isArray(errors) ? codeOf(errors[0]) : undefined;
}

/** Returns the code of an error, or else its name. Unlike its message, they never quote a stored value. */
export function codeOrNameOf(error: unknown): string {
  return codeOf(error) ?? (error instanceof Error ? error.name : 'error');
}
