import { Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Client } from 'pg';
import { RunningConfig } from '../../platform/config/config';
import { Loaded } from '../../platform/config/config.module';
import { MetricsService } from '../../http/metrics/metrics.service';
import { CheckpointFile } from './checkpoint-file';
import { LogRefusal } from './head-check';
import { signerFrom } from './log-key';
import { Sealing } from './sealing';
import { connectSealer } from './sealer-connection';

/** Records are sealed within a second or two. */
const EVERY_MS = 1_000;

/** Seals the records in the background, on its own connection. No request ever waits for it. */
@Injectable()
export class SealerService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Log');
  private readonly settings: RunningConfig;
  private sealing: Sealing | undefined;
  private client: Client | undefined;
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> | undefined;
  private stopped = false;
  /** The last logged complaint. Undefined if all is well. */
  private complaint: string | undefined;
  private size = 0;

  constructor(config: ConfigService<Loaded, true>, metrics: MetricsService) {
    this.settings = config.get('settings', { infer: true });
    metrics.watchLog({
      size: () => this.size,
      lagSeconds: () => this.sealing?.waits ?? 0,
      failing: () => this.complaint !== undefined,
    });
  }

  onApplicationBootstrap(): void {
    this.schedule(0);
  }

  /**
   * Runs after the last request in flight was answered, so that its records are sealed too if the database responds.
   */
  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.working;
    if (this.complaint === undefined) await this.work();
    await this.disconnect();
  }

  private schedule(inMs: number): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.working = this.work().then((more) => this.schedule(more ? 0 : EVERY_MS));
    }, inMs);
    this.timer.unref();
  }

  /**
   * Runs one pass. Never rejects: an error is logged once and the pass is tried again. @returns whether more can be
   * sealed now.
   */
  private async work(): Promise<boolean> {
    try {
      const client = await this.connected();
      this.sealing ??= await this.begin();
      const pass = await this.sealing.pass(client);
      this.size = pass.size;
      await this.sealing.keepNotes(client);
      if (this.complaint !== undefined) this.logger.log('sealing resumed');
      this.complaint = undefined;
      return pass.more;
    } catch (error) {
      this.complain(error);
      return false;
    }
  }

  private async begin(): Promise<Sealing> {
    const signer = signerFrom(this.settings.logSigningKey);
    const { checkpointFile } = this.settings;
    const file = checkpointFile === undefined ? undefined : await CheckpointFile.open(checkpointFile, signer);
    return new Sealing(signer, file);
  }

  private async connected(): Promise<Client> {
    if (this.client) return this.client;
    const client = await connectSealer(this.settings);
    client.once('end', () => {
      if (this.client === client) this.client = undefined;
    });
    this.client = client;
    return client;
  }

  private async disconnect(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }

  private complain(error: unknown): void {
    const { message, code } = error as { message: string; code?: string };
    const isRefusal = error instanceof LogRefusal;
    // The message of a database error may contain values. Its code does not.
    const complaint = isRefusal ? message : `sealing failed (${code ?? message}), will retry every second`;
    if (!isRefusal) void this.disconnect();
    if (complaint === this.complaint) return;
    this.complaint = complaint;
    if (isRefusal) this.logger.error(complaint);
    else this.logger.warn(complaint);
  }
}
