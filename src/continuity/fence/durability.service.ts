import { Inject, Injectable, Logger } from '@nestjs/common';
import { RunningConfig, SETTINGS, StartError } from '../../platform/config/config';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { DurabilitySettings } from '../epoch/durability-settings';
import { Beat } from '../heartbeat/beat';
import { HeartbeatService } from '../heartbeat/heartbeat.service';
import { FenceService } from './fence.service';

/** Postgres settings that can lose confirmed commits, by their names in DATABASE_ALLOW_UNSAFE. */
export const UNSAFE_SETTINGS = ['fsync', 'full_page_writes', 'synchronous_commit'] as const;
type UnsafeSetting = (typeof UNSAFE_SETTINGS)[number];

interface Danger {
  setting: UnsafeSetting;
  value: string;
  danger: string;
}

/**
 * Checks with each heartbeat that a confirmed commit survives: by the settings of the server and the session,
 * and by the confirmation of the synchronous standby, if any. Production refuses to start with an unsafe
 * setting, and stops paying when a setting becomes unsafe. Settings of other connections are compared at
 * their opening (connections.service.ts).
 * See docs/internals/decisions/operation/0035-durability-is-checked.md.
 */
@Injectable()
export class DurabilityService {
  private readonly logger = new Logger('Durability');
  private readonly isProduction: boolean;
  private readonly allowed: readonly string[];
  private dangers: Danger[] = [];
  private lastWarning = '';

  constructor(
    prisma: PrismaService,
    private readonly heartbeat: HeartbeatService,
    private readonly fence: FenceService,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    const { production, databaseAllowUnsafe } = settings;
    this.isProduction = production;
    this.allowed = databaseAllowUnsafe;
    heartbeat.observe((beat) => this.hear(beat));
    prisma.watchUnconfirmed(() =>
      fence.raise(
        'replication_unconfirmed',
        'The synchronous standby has not confirmed a commit, which would be lost at a failover. Check ' +
          'the standby. Payments resume once it confirms a commit.',
      ),
    );
  }

  /**
   * Await the first heartbeat before.
   * @throws StartError in production, for an unsafe setting that is not allowed.
   */
  requireSafe(): void {
    if (this.isProduction && this.dangers.length > 0)
      throw new StartError(this.dangers.map(described).join(' '));
  }

  /** Describes the reason for production not to pay. Undefined elsewhere, and without a reason. */
  dangerOf(settings: DurabilitySettings): string | undefined {
    const dangers = this.isProduction ? this.notAllowed(settings) : [];
    return dangers.length === 0 ? undefined : dangers.map(described).join(' ');
  }

  /** A heartbeat is confirmed only with its standby, and so is every earlier commit. */
  private hear({ settings }: Beat): void {
    this.fence.lower('replication_unconfirmed');
    this.dangers = this.notAllowed(settings);
    const text = this.dangers.map(described).join(' ');
    if (this.isProduction && text !== '') {
      this.fence.raise('durability_unsafe', text);
      this.heartbeat.giveUpConnection(); // A session may keep its initial settings.
    } else {
      this.fence.lower('durability_unsafe');
    }
    if (text !== this.lastWarning && text !== '' && !this.isProduction) this.logger.warn(text);
    this.lastWarning = text;
  }

  private notAllowed(settings: DurabilitySettings): Danger[] {
    return dangersOf(settings).filter(({ setting }) => !this.allowed.includes(setting));
  }
}

/** Returns the settings that can lose confirmed commits. See "Write Ahead Log" in the Postgres manual. */
export function dangersOf(settings: DurabilitySettings): Danger[] {
  const { fsync, fullPageWrites, synchronousCommit, synchronousStandbyNames } = settings;
  const dangers: Danger[] = [];
  if (fsync !== 'on') {
    dangers.push({
      setting: 'fsync',
      value: fsync,
      danger: 'a crash of the machine can destroy the database',
    });
  }
  if (fullPageWrites !== 'on') {
    const danger = 'a crash of the machine can destroy pages of the database';
    dangers.push({ setting: 'full_page_writes', value: fullPageWrites, danger });
  }
  const setting = 'synchronous_commit';
  if (synchronousCommit === 'off') {
    dangers.push({
      setting,
      value: synchronousCommit,
      danger: 'a crash of the server loses confirmed payments',
    });
  } else if (synchronousStandbyNames !== '' && ['local', 'remote_write'].includes(synchronousCommit)) {
    const danger = 'a failover to the synchronous standby can lose confirmed payments';
    dangers.push({ setting, value: synchronousCommit, danger });
  }
  return dangers;
}

function described({ setting, value, danger }: Danger): string {
  return (
    `The database runs with ${setting}=${value}: ${danger}. Set ${setting}=on, or allow it with ` +
    `DATABASE_ALLOW_UNSAFE=${setting}.`
  );
}
