import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { AdmissionResult } from '../../journal/admissions';
import { readDryRun } from '../../journal/dry-run';
import { ExpectedFees } from '../../journal/expected-fees';
import { guardWindows, GuardWindows } from '../../journal/guard-windows';
import { Admission } from '../../journal/opened';
import { Loaded } from '../../platform/config/config.module';
import { withPatience } from '../../platform/database/patience';
import { PrismaService } from '../../platform/database/prisma.service';
import { causeOf } from '../../platform/database/unavailable';
import { databaseUnavailable } from '../../platform/errors/problem';
import { MayPay } from '../may-pay/may-pay.service';

/**
 * Keeps repeated requests answered while nothing can be admitted. Their first calls are on record, so a database that only
 * answers reads is enough.
 */
@Injectable()
export class AdmissionWithoutWrites {
  private readonly windows: GuardWindows;

  constructor(
    private readonly prisma: PrismaService,
    private readonly mayPay: MayPay,
    private readonly fees: ExpectedFees,
    config: ConfigService<Loaded, true>,
  ) {
    this.windows = guardWindows(config.get('settings', { infer: true }));
  }

  /**
   * Decides about a request, by its admission or, if there can be none, by its Idempotency-Key alone.
   * @param leftMs how long the request may still wait.
   * @throws Problem that says why a new request cannot be admitted.
   */
  async decide(
    admission: Admission,
    admit: () => Promise<AdmissionResult>,
    leftMs: () => number,
  ): Promise<AdmissionResult> {
    try {
      this.mayPay.require('send');
      return await admit().catch(databaseUnavailable);
    } catch (refusal) {
      const repeated = await this.repeatedBy(admission, (refusal as Error).cause, leftMs());
      if (!repeated) throw refusal;
      return repeated;
    }
  }

  /** @param cause why the admission failed. Undefined if there was none. */
  private async repeatedBy(
    { request }: Admission,
    cause: unknown,
    leftMs: number,
  ): Promise<AdmissionResult | undefined> {
    // A database that does not answer would be asked in vain, for as long again.
    if (request.idempotencyKey === null || causeOf(cause) === 'unreachable') return undefined;
    if (this.mayPay.obstacleTo('replay')) return undefined;
    const reading = readDryRun(this.prisma, request, { windows: this.windows, fees: this.fees });
    const found = await withPatience(reading, leftMs).catch(() => undefined);
    const claimed = found?.obstacles.find(({ kind }) => kind === 'repeated' || kind === 'key_reused');
    // The claim may be its own, of a commit that was reported as failed.
    return claimed && 'firstCallId' in claimed && claimed.firstCallId !== request.id ? claimed : undefined;
  }
}
