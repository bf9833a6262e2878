import { Inject, Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { givenUpAfterMs } from '../../platform/config/upstream-timeouts';
import { Prisma } from '../../platform/database/generated/client';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { SharesService } from '../../http/shares/shares.service';
import { callsWith, STATE_COLUMNS, stateNowSql } from '../../operations/lifecycle-sql';
import { FullCallRecord } from '../records/record.dto';
import { RunningConfig, SETTINGS } from '../../platform/config/config';

/** How often the versions of calls are polled. */
const EVERY_MS = 500;

/** The same while payments arrive, which need the database too. */
const EVERY_MS_WHILE_PAYING = 2_000;

/** One query for everybody who asks before it begins. */
interface Poll {
  ids: Set<string>;
  versions: Promise<Map<string, string>>;
}

/**
 * Polls the versions of calls. The version of a call changes with its state, and with each of its settlements. All who ask
 * share one short query. Nothing is polled while nobody asks.
 */
@Injectable()
export class CallVersionsService {
  private next: Poll | undefined;

  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly shares: SharesService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  /** Returns the version of a call at the next poll. Undefined if the database does not answer. */
  async poll(id: string): Promise<string | undefined> {
    this.next ??= this.newPoll();
    this.next.ids.add(id);
    return (await this.next.versions).get(id);
  }

  private newPoll(): Poll {
    const ids = new Set<string>();
    const versions = sleep(this.shares.isPaying ? EVERY_MS_WHILE_PAYING : EVERY_MS).then(() => {
      this.next = undefined;
      // A database that is back in a moment fails nobody who waits.
      return this.read([...ids]).catch(() => new Map<string, string>());
    });
    return { ids, versions };
  }

  private async read(ids: string[]): Promise<Map<string, string>> {
    const rows = await this.prisma.readLong<{ id: string; version: string }>(Prisma.sql`
      SELECT id::text, ${stateNowSql(givenUpAfterMs(this.settings))} || ' ' || settlements AS version
      FROM (SELECT i.id, ${STATE_COLUMNS}, coalesce(s.number, 0) AS settlements FROM ${callsWith(ids)}) AS call`);
    return new Map(rows.map(({ id, version }) => [id, version]));
  }
}

/** Returns the version of a call that is shown. */
export function versionOf({ outcome, settlements }: FullCallRecord): string {
  return `${outcome} ${settlements.length}`;
}
