import type { ArrivedRequest, Processed } from '../arrivals/arrived-request';
import { Behaviour } from '../behaviour/behaviour';
import { Database, Work } from '../database';
import { GroupCommit } from '../group-commit';
import { chiRefsOf, Issue, storeIssues } from '../transactions/issue';
import { Overdrawn, postAll, Posting } from '../wallets/ledger';

/** Largest number of transactions in a group. */
const GROUP_ITEMS = 1_000;

/** A batch to store, and its movement of money. */
export interface Payout {
  issue: Issue;
  posting: Posting;
}

/** A payout with its request. */
type RequestedPayout = Payout & { request: ArrivedRequest };

/** Undefined for a payout that was carried out. */
type Outcome = { error: unknown } | undefined;

/**
 * Carries payouts out in groups, each in one database transaction. Otherwise, payouts of a wallet would wait
 * for the commit of each other. A failed payout does not affect the others of its group.
 */
export class Payouts {
  private readonly groups = new GroupCommit<RequestedPayout, Outcome>((group) => this.outcomesOf(group), {
    most: GROUP_ITEMS,
    weightOf: ({ issue }) => issue.transactions.length,
  });

  /** @param record records in the same `work` that requests are carried out. */
  constructor(
    private readonly database: Database,
    private readonly behaviour: Behaviour,
    private readonly record: (work: Work, processed: Processed[]) => Promise<void>,
  ) {}

  /** @throws Refusal if the wallet holds too little. */
  async carryOut(payout: Payout, request: ArrivedRequest): Promise<void> {
    const outcome = await this.groups.add({ ...payout, request });
    if (outcome) throw outcome.error;
  }

  private async outcomesOf(group: RequestedPayout[]): Promise<Outcome[]> {
    if (group.length === 0) return [];
    let isWritten = false;
    try {
      await this.database.$transaction(async (work) => {
        await this.write(work, group);
        isWritten = true;
      });
      return group.map(() => undefined);
    } catch (error) {
      if (error instanceof Overdrawn) return this.outcomesWithout(error.refusals, group);
      // A failed commit may have taken effect.
      if (isWritten || group.length === 1 || !isOfOne(error)) return group.map(() => ({ error }));
      const outcomes: Outcome[] = [];
      for (const payout of group) outcomes.push(...(await this.outcomesOf([payout])));
      return outcomes;
    }
  }

  /** Carries out those that the money suffices for. */
  private async outcomesWithout(
    refusals: Overdrawn['refusals'],
    group: RequestedPayout[],
  ): Promise<Outcome[]> {
    const others = await this.outcomesOf(group.filter(({ posting }) => !refusals.has(posting)));
    return group.map(({ posting }) => {
      const error = refusals.get(posting);
      return error ? { error } : others.shift();
    });
  }

  private async write(work: Work, group: RequestedPayout[]): Promise<void> {
    await storeIssues(
      work,
      group.map(({ issue }) => issue),
      this.behaviour,
    );
    await this.record(
      work,
      group.map(({ request, issue }) => ({ request, chiRefs: chiRefsOf(issue.transactions) })),
    );
    // Last, because it locks the rows of the wallets.
    await postAll(
      work,
      group.map(({ posting }) => posting),
    );
  }
}

/** Returns whether only one payout can be the cause: a rejected row, or a request that a reset removed. */
function isOfOne(error: unknown): boolean {
  const { name, code } = error as { name?: string; code?: string };
  return name === 'ResetMeanwhile' || code === 'P2010';
}
