import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../support/processes/fleet';
import { Stage } from './stage';

const READ_EVERY_MS = 250;

/** An auditor who reads the history repeatedly. */
export class Auditor {
  /** Times and status of each read. Status 0 means that the connection ended. */
  readonly reads: { sentAt: number; endedAt: number; status: number }[] = [];

  private constructor(
    private readonly stage: Stage,
    private readonly key: string,
  ) {}

  static async of(stage: Stage): Promise<Auditor> {
    return new Auditor(stage, (await createClient(stage.database, 'auditor', ['audit'])).key);
  }

  async readFor(ms: number): Promise<void> {
    for (const end = performance.now() + ms; performance.now() < end;) {
      await Promise.all([this.read(), sleep(READ_EVERY_MS)]);
    }
  }

  /** Returns the delay from a moment to the answer of the first read sent after it. */
  firstReadAfter(moment: number): number {
    const ends = this.reads.flatMap(({ sentAt, endedAt, status }) =>
      status === 200 && sentAt >= moment ? [endedAt] : [],
    );
    return Math.min(...ends) - moment;
  }

  private async read(): Promise<void> {
    const sentAt = performance.now();
    const headers = { 'X-API-Key': this.key };
    const status = await fetch(`${this.stage.nextUrl()}/v1/audit/calls?page_size=1`, { headers }).then(
      (response) => response.status,
      () => 0,
    );
    this.reads.push({ sentAt, endedAt: performance.now(), status });
  }
}
