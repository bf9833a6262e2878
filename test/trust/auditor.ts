import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../support/processes/fleet';
import { Stage } from './stage';

const READ_EVERY_MS = 250;

/** An auditor who reads the history again and again. */
export class Auditor {
  /** When each read was sent and answered, and its status. 0: the connection ended. */
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

  /** Returns how long after a moment the first read was answered that was sent after it. */
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
