import { Injectable } from '@nestjs/common';
import { ChangeAuthor, ChangeRecords, recordChanges } from '../../access/clients/changes';
import { FeeRemovals, FeesDocument } from '../../access/dual-control/change-document';
import { forgetCallFees, readChargedFees } from '../../journal/admission/call-fees';
import { LearnedFee } from '../../operations/items/learned-fees';
import { Prisma } from '../../platform/database/generated/client';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { FeeRecord, toFeeRecords } from './fees.dto';

/** Forgets learned fees. Every instance forgets them before its next admission. */
@Injectable()
export class FeesService implements FeeRemovals {
  constructor(
    private readonly prisma: SidePrisma,
    private readonly records: ChangeRecords,
  ) {}

  /** Returns whether fees were charged that can be forgotten. */
  async hasLearned({ account, operation }: FeesDocument): Promise<boolean> {
    return (await readChargedFees(this.prisma)).of(account, operation).length > 0;
  }

  /** @returns the forgotten fees. Undefined if there are none. */
  forget(fees: FeesDocument, by: ChangeAuthor): Promise<FeeRecord[] | undefined> {
    return this.prisma.$transaction((tx) => this.forgetIn(tx, fees, by));
  }

  async forgetIn(
    tx: Prisma.TransactionClient,
    { account, operation }: FeesDocument,
    by: ChangeAuthor,
  ): Promise<FeeRecord[] | undefined> {
    const learned = (await readChargedFees(tx)).learned(account, operation);
    if ((await forgetCallFees(tx, account, operation)) === 0) return undefined;
    const states = {
      before: { account, operation, learned_fees: learned.map(inWords) },
      after: { account, operation, learned_fees: [] },
    };
    const act = { action: 'fees_forgotten', client: null, keyId: null, ...states } as const;
    await recordChanges(this.records, tx, [act], by);
    return toFeeRecords({ account, operation, rule: null, learned });
  }
}

function inWords({ fromUsd, belowUsd, usd }: LearnedFee): string {
  return `${fromUsd.toFixed()}-${belowUsd.toFixed()}: ${usd.toFixed()}`;
}
