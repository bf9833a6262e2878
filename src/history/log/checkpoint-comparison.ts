import { Inject, Injectable, Logger } from '@nestjs/common';
import { EpochService } from '../../platform/database/epoch.service';
import { PrismaService } from '../../platform/database/prisma.service';
import { CheckpointFile } from './checkpoint-file';
import { Head } from './head';
import { logRingOf } from './log-key';
import { RunningConfig, SETTINGS } from '../../platform/config/config';

interface State {
  epoch: number;
  /** The number of sealed leaves. */
  size: number;
  /** Whether the checkpoint was made before the last `database recover`, which makes the log shorter. */
  isRecovered: boolean;
}

/**
 * Compares the database with the checkpoints outside it. An instance with a new DATA_DIR has seen nothing itself, but a
 * checkpoint of leaves that the database lacks shows that it is older than it was.
 */
@Injectable()
export class CheckpointComparison {
  constructor(
    private readonly prisma: PrismaService,
    private readonly epoch: EpochService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  /** Await it before the first request. */
  async start(): Promise<void> {
    const newest = await this.largest();
    if (!newest) return;
    const [state] = await this.prisma.$queryRaw<[State]>`
      SELECT number AS epoch, (SELECT coalesce(max(size), 0)::float8 FROM checkpoint) AS size,
        number > 1 AND started_at > ${newest.sealedAt}::timestamptz AS "isRecovered"
      FROM epoch ORDER BY number DESC LIMIT 1`;
    if (state.size >= newest.size || state.isRecovered) return;
    this.epoch.report(
      `it has ${state.size} sealed leaves, and the newest checkpoint in CHECKPOINT_FILE has ${newest.size}`,
      state.epoch,
    );
  }

  private async largest(): Promise<Head | undefined> {
    const { checkpointFile } = this.settings;
    if (checkpointFile === undefined) return undefined;
    try {
      return await CheckpointFile.largest(checkpointFile, logRingOf(this.settings));
    } catch {
      new Logger('Epoch').warn('CHECKPOINT_FILE cannot be read, so the database is not compared with it'); // the sealer says why
      return undefined;
    }
  }
}
