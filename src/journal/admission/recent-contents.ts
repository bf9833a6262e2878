import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { NIL } from 'uuid';
import { STATES } from '../../operations/lifecycle/lifecycle';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { givenUpAfterMs } from '../../platform/config/upstream/upstream-timeouts';
import { clock } from '../../platform/database/clock';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { uuidFloor } from '../../platform/database/uuid';
import { isBelievedUnpaid, LASTING_SECONDS } from '../../policy/same-content';
import { asSameContent, readCallStates } from './call-states';

/** Interval between prunings. Keeps the table small at a negligible cost. */
const TURN_MS = 60_000;

/** Rows per statement. */
const AT_ONCE = 1_000;

/** A kind of content, and its retention after a call's answer. */
interface Retention {
  lasting: boolean;
  seconds: number;
}

/**
 * Prunes contents, payments and persons, because they are hashes of text that names people. The content of an
 * open call (in progress, in doubt or held) stays while the call is open. It stays a day longer if the call
 * was paid after a doubt, or if its client missed the answer.
 */
@Injectable()
export class RecentContents implements OnApplicationShutdown {
  private readonly logger = new Logger('RecentContents');
  private readonly retentions: Retention[];
  private readonly inFlightSeconds: number;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly prisma: PrismaService,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    const seconds = Math.max(settings.duplicateWindowSeconds, settings.duplicateAcrossClientsSeconds);
    this.retentions = [
      { lasting: false, seconds },
      { lasting: true, seconds: Math.max(LASTING_SECONDS, seconds) },
    ];
    this.inFlightSeconds = givenUpAfterMs(settings) / 1_000;
    this.timer = setInterval(() => void this.run(), TURN_MS);
    this.timer.unref();
  }

  /** @returns the number of removed rows. */
  async runOnce(): Promise<number> {
    let removed = (await this.removePayments()) + (await this.forgetPersons());
    for (const retention of this.retentions) {
      for (let after: string | undefined = NIL; after !== undefined;) {
        const ids = await this.olderThan(retention, after);
        removed += await this.remove(retention, ids);
        after = ids.length < AT_ONCE ? undefined : ids.at(-1);
      }
    }
    return removed;
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Returns contents of calls that were received long enough ago. A younger call was answered even later. */
  private async olderThan({ lasting, seconds }: Retention, after: string): Promise<string[]> {
    const before = uuidFloor(new Date(clock.nowMs() - seconds * 1_000));
    const rows = await this.prisma.$queryRaw<{ id: string }[]>`
      SELECT DISTINCT intent_id::text AS id FROM recent_content
      WHERE lasting = ${lasting} AND intent_id > ${after}::uuid AND intent_id < ${before}::uuid ORDER BY 1
        LIMIT ${AT_ONCE}`;
    return rows.map(({ id }) => id);
  }

  private async remove({ lasting, seconds }: Retention, ids: string[]): Promise<number> {
    const states = await readCallStates(this.prisma, ids, this.inFlightSeconds);
    const over = ids.filter((id) => {
      const call = asSameContent(id, states.get(id));
      const neededFor = call && isBelievedUnpaid(call) ? Math.max(LASTING_SECONDS, seconds) : seconds;
      return !call || (call.paidSecondsAgo !== null && call.paidSecondsAgo > neededFor);
    });
    if (over.length === 0) return 0;
    return this.prisma.$executeRaw`DELETE FROM recent_content WHERE lasting = ${lasting}
        AND intent_id = ANY (${over}::uuid[])`;
  }

  /** Removes payments to recipients that no limit needs. Keeps those of open calls. */
  private async removePayments(): Promise<number> {
    let removed = 0;
    for (let after: string | undefined = NIL; after !== undefined;) {
      const rows: { id: string }[] = await this.prisma.$queryRaw`
        SELECT DISTINCT intent_id::text AS id FROM recipient_payment
        WHERE kept_until < (clock_timestamp() AT TIME ZONE 'UTC')::date AND intent_id > ${after}::uuid
          ORDER BY 1 LIMIT ${AT_ONCE}`;
      const ids = rows.map(({ id }) => id);
      const states = await readCallStates(this.prisma, ids, this.inFlightSeconds);
      const over = ids.filter((id) => STATES[states.get(id)?.state ?? 'refused'].executed !== 'open');
      removed += await this.prisma
        .$executeRaw`DELETE FROM recipient_payment WHERE intent_id = ANY (${over}::uuid[])`;
      after = ids.length < AT_ONCE ? undefined : ids.at(-1);
    }
    return removed;
  }

  /**
   * Removes the hashes and identities of erased persons whose caps and idempotency keys have expired. Records
   * keep the IDs. A person with limits of their own keeps the hash, because an erasure would otherwise lift
   * the limits.
   */
  private forgetPersons(): Promise<number> {
    return this.prisma.$executeRaw`
      WITH forgotten AS (
        UPDATE person SET sha256 = sha256(uuid_send(id)), issuer = NULL, forget_after = NULL
        WHERE forget_after < clock_timestamp()
          AND num_nonnulls(daily_cap_usd, monthly_cap_usd, max_item_usd, requests_per_minute) = 0
        RETURNING id
      )
      DELETE FROM person_identity USING forgotten WHERE person_id = forgotten.id`;
  }

  private async run(): Promise<void> {
    try {
      await this.runOnce();
    } catch (err) {
      this.logger.warn({ err }, 'old contents, payments and persons not removed, will retry in a minute');
    }
  }
}
