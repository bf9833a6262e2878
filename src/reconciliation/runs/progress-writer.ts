import { PrismaService } from '../../platform/database/prisma.service';
import { writeRunProgress, RunProgress } from '../../journal/reconciliations';

/** Progress is written at most twice a second, as nobody who watches a run sees more. */
const EVERY_MS = 500;

/** Writes the progress of a run, on another connection than the one that it compares on. Failed writes are ignored. */
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

  /** Stops writing. No write follows once this resolves. */
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
