import { Inject, Injectable, Logger } from '@nestjs/common';
import { Client } from 'pg';
import { MetricsService } from '../../../http/metrics/metrics.service';
import { RunningConfig, SETTINGS } from '../../../platform/config/config';
import { SessionUrls, sessionUrlOf } from '../../../platform/database/pools/pools';
import { requireReplication, WITH_WARNINGS } from '../../../platform/database/pools/replication';
import { ServerClient } from '../../../platform/database/servers/server-client';
import { codeOf } from '../../../platform/errors/error-code';
import { Job } from '../../../platform/jobs/job';
import { Turns } from '../../../platform/jobs/turns';
import { logRingOf } from '../log-key';
import { CheckpointFile } from './checkpoint-file';
import { LogRefusal } from './head-check';
import { Sealing } from './sealing';
import { PLANNING } from './sealing-sql';

/** Interval between passes, in ms. */
const EVERY_MS = 1_000;

/** Duration for which a failure is reported, in ms. It exceeds the wait for this worker's next attempt. */
const FAILURE_SHOWN_MS = 15_000;

/** Seals the records, on its own connection. */
@Injectable()
export class SealerService implements Job {
  readonly name = 'seal';
  private readonly logger = new Logger('Log');
  /** Stays while another worker seals, because it knows the earlier size of the log. */
  private sealing: Sealing | undefined;
  private isAtWork = false;
  /** Epoch of the database. `database recover` begins another one, with a shorter log. */
  private epoch: number | undefined;
  /** Time of the last failure, by the monotonic clock. */
  private failedAt = -Infinity;
  private client: Client | undefined;
  /** Last logged complaint. Undefined after success. */
  private complaint: string | undefined;
  private size = 0;

  constructor(
    @Inject(SETTINGS) private readonly settings: RunningConfig,
    metrics: MetricsService,
  ) {
    const watch = (name: string, help: string, read: () => number) => {
      const isShown = () => this.isAtWork || performance.now() - this.failedAt < FAILURE_SHOWN_MS;
      metrics.watch(name, help, () => (isShown() ? read() : undefined)); // Otherwise another process seals.
    };
    watch('payout_proxy_log_leaves', 'Records sealed in the log.', () => this.size);
    watch(
      'payout_proxy_log_lag_seconds',
      'Seconds that the oldest unsealed record has waited to be sealed.',
      () => this.sealing?.waits ?? 0,
    );
    watch(
      'payout_proxy_log_failing',
      '1 while this worker cannot seal records, or refuses to because the log differs from what was ' +
        'signed. Its log lines state the reason.',
      () => (this.complaint === undefined ? 0 : 1),
    );
  }

  /** Seals until the worker ends. The last pass seals the records from before the end. */
  async run(turns: Turns): Promise<void> {
    this.isAtWork = true;
    try {
      while (!turns.areOver) {
        const more = await this.work();
        if (this.complaint !== undefined) return; // Another worker may have the right key or role.
        if (!more) await turns.wait(EVERY_MS);
      }
      await this.work();
    } finally {
      this.isAtWork = false;
      await this.disconnect();
    }
  }

  /**
   * Runs one pass. Never rejects: an error is logged once, and the pass is retried.
   * @returns whether more can be sealed now.
   */
  private async work(): Promise<boolean> {
    try {
      const client = await this.connected();
      await this.followEpoch(client);
      this.sealing ??= await this.begin();
      const pass = await this.sealing.pass(client);
      this.size = pass.size;
      await this.sealing.appendNotes(client);
      if (this.complaint !== undefined) this.logger.log('sealing resumed');
      this.complaint = undefined;
      return pass.more;
    } catch (error) {
      this.complain(error);
      return false;
    }
  }

  private async followEpoch(client: Client): Promise<void> {
    const { rows } = await client.query<{ epoch: number }>('SELECT max(number) AS epoch FROM epoch');
    const epoch = rows[0]?.epoch;
    if (this.epoch !== undefined && this.epoch !== epoch) this.sealing = undefined;
    this.epoch = epoch;
  }

  private async begin(): Promise<Sealing> {
    const ring = logRingOf(this.settings);
    const { checkpointFile } = this.settings;
    const file = checkpointFile === undefined ? undefined : await CheckpointFile.open(checkpointFile, ring);
    return new Sealing(ring, file);
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
    const { message } = error as Error;
    const isRefusal = error instanceof LogRefusal;
    // A database error's message may contain values. Its code contains none.
    const complaint = isRefusal ? message : `sealing failed (${codeOf(error) ?? message}), will retry`;
    if (!isRefusal) void this.disconnect();
    this.failedAt = performance.now();
    if (complaint === this.complaint) return;
    this.complaint = complaint;
    if (isRefusal) this.logger.error(complaint);
    else this.logger.warn(complaint);
  }
}

const ROLE = 'payout_sealer';

const CONNECTION = {
  connectionTimeoutMillis: 5_000,
  // After a restart, the first pass may read everything in a restored backup.
  statement_timeout: 60_000,
  query_timeout: 61_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 10_000,
  keepAlive: true,
  application_name: 'payout-proxy sealer',
  options: WITH_WARNINGS,
};

/** SQLSTATEs of a login without the role, and of a missing role. */
const NOT_GRANTED = ['42501', '22023'];

type Urls = Pick<RunningConfig, 'databaseSealerUrl' | 'databaseOwnerUrl'> & SessionUrls;

/** Connects as the role that may only add seals, with its own login or another that may assume the role. */
export async function connectSealer(settings: Urls): Promise<Client> {
  const { databaseSealerUrl, databaseOwnerUrl } = settings;
  const urls = databaseSealerUrl
    ? [databaseSealerUrl]
    : [...new Set([databaseOwnerUrl, sessionUrlOf(settings)])];
  for (const url of urls) {
    const client = await connectAs(ROLE, url);
    if (client) return client;
  }
  throw new Error(
    `No login of the proxy can become ${ROLE}. As an administrator, run GRANT ${ROLE} TO a login, and ` +
      'set DATABASE_SEALER_URL to that login.',
  );
}

/** @returns undefined if the login may not assume the role. */
async function connectAs(role: string, url: string): Promise<Client | undefined> {
  const client = new ServerClient({ connectionString: url, ...CONNECTION });
  // A checkpoint in the file must not be newer than the database after a failover.
  requireReplication(client);
  try {
    await client.connect();
    await client.query(`SET ROLE ${role}; ${PLANNING}`);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    if (NOT_GRANTED.includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}
