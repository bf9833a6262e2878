import { PrismaService } from '../../platform/database/prisma.service';
import { writeRunProgress, RunProgress } from '../../journal/runs';

/** At most twice a second: whoever watches a run sees no more than that. */
const EVERY_MS = 500;

/** Writes how far a run is, past the connection that it compares on. What cannot be written is not missed. */
export class ProgressWriter {
  private latest: RunProgress | undefined;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly prisma: PrismaService,
    private readonly runId: string,
  ) {}

  at(step: string, done: number, of: number | null): void {
    const isFirst = this.latest === undefined;
    this.latest = { step, done, of };
    if (isFirst) this.write();
    else this.timer ??= setTimeout(() => this.write(), EVERY_MS).unref();
  }

  /** Nothing is written any more once this resolves. */
  async end(): Promise<void> {
    clearTimeout(this.timer);
    this.latest = undefined;
    await this.writing;
  }

  private write(): void {
    this.timer = undefined;
    const { latest } = this;
    if (!latest) return;
    this.writing = this.writing.then(() => writeRunProgress(this.prisma, this.runId, latest)).catch(() => undefined);
  }
}
