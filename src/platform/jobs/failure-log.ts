import { Logger } from '@nestjs/common';

/** Logs each failure of repeated work once, and its recovery. */
export class FailureLog {
  /** The last failure of each account, or of the work as a whole. */
  private readonly failures = new Map<string | undefined, string>();

  constructor(
    private readonly logger: Logger,
    private readonly work: string,
  ) {}

  /** @param failure null after a success. */
  note(failure: string | null, account?: string): void {
    if (failure === (this.failures.get(account) ?? null)) return;
    if (failure === null) {
      this.failures.delete(account);
      this.logger.log({ account }, `${this.work} succeeded after failures`);
    } else {
      this.failures.set(account, failure);
      this.logger.warn({ account, failure }, `${this.work} failed, will retry`);
    }
  }
}
