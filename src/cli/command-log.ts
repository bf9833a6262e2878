import { LoggerService } from '@nestjs/common';

/**
 * The log of a command: warnings and errors, one line each, on standard error. Standard output belongs to the result, which
 * may be JSON.
 */
export const COMMAND_LOG: LoggerService = {
  log: () => undefined,
  warn: write,
  error: write,
};

/** @param fields what the line is about, or its text alone. */
function write(fields: object | string, ...[text]: unknown[]): void {
  const line = typeof fields === 'object' ? `${String(text)} ${JSON.stringify(fields)}` : fields;
  process.stderr.write(`${line}\n`);
}
