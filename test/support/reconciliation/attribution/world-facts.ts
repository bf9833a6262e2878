import {
  batchesOf,
  isMarked,
  PlacedPayout,
  payoutsOf,
  TYPE_OF,
  USUAL,
  WorldCall,
  WorldRow,
} from './small-world';
import { listedReferenceOf, PlacedWorld, referenceOf } from './world-records';

/** A listed transaction. */
export interface Row extends WorldRow {
  index: number;
  /** Its reference, as the upstream lists it. */
  listed: string | null;
}

const ROUNDING_USD = 0.01;

/** What a payout and a transaction of a small world have in common. */
export class WorldFacts {
  protected readonly payouts: PlacedPayout[];
  protected readonly rows: Row[];

  constructor(protected readonly placed: PlacedWorld) {
    this.payouts = payoutsOf(placed.world);
    this.rows = placed.world.rows.map((row, index) => ({
      ...row,
      index,
      listed: listedReferenceOf(placed, row),
    }));
  }

  protected hasOwnId(payout: PlacedPayout, row: Row): boolean {
    return isMarked(payout) && this.sharesReference(payout, row);
  }

  /** Whether a transaction cannot be that of a payout, whatever names it. */
  protected refutes(payout: PlacedPayout, row: Row): boolean {
    const owner = this.payouts.find((one) => this.hasOwnId(one, row));
    return contradicts(payout, row) || (owner !== undefined && owner.callIndex !== payout.callIndex);
  }

  /** Calls whose answers name the batch, or the transaction itself. */
  protected callsOf(row: Row): number[] {
    const { world } = this.placed;
    const { index, batch } = row;
    const owner = this.payouts.find((payout) => this.hasOwnId(payout, row));
    return world.calls.flatMap((call, callIndex) => {
      if (owner && owner.callIndex !== callIndex) return [];
      const isNamed = this.payouts.some((one) => one.callIndex === callIndex && one.names === index);
      const isOfBatch = batch !== null && batchesOf(world, call).includes(batch);
      return isNamed || isOfBatch || isUnplacedIn(call, row) ? [callIndex] : [];
    });
  }

  protected isOfCall(payout: PlacedPayout, row: Row): boolean {
    return this.callsOf(row).join() === String(payout.callIndex);
  }

  /** Whether a payout and a transaction are of one class. */
  protected isAlike(payout: PlacedPayout, row: Row): boolean {
    const [ours, theirs] = [referenceOf(this.placed, payout), row.listed];
    const isOfOtherCall = typeof row.reference === 'number' && theirs !== null;
    const showsIds = this.placed.showsIds && TYPE_OF[payout.call.operation] === 'mobile_money';
    return (
      isPayment(row) &&
      isSame(payout, row) &&
      (row.type === null || row.type === TYPE_OF[payout.call.operation]) &&
      (ours === null || theirs === null || ours === theirs) &&
      row.at >= payout.call.at - USUAL.beforeSeconds &&
      !isOfOtherCall &&
      !this.isAnswered(payout, row) &&
      !(showsIds && (isMarked(payout) || theirs === null))
    );
  }

  /**
   * Whether the answer to another call names the transaction, and an item of that call agrees with it. Of
   * several answers, the first counts that names it for a payout.
   */
  private isAnswered({ callIndex }: PlacedPayout, row: Row): boolean {
    const { calls } = this.placed.world;
    const named = this.payouts.find(({ names }) => names === row.index)?.callIndex;
    const answered = named ?? calls.findIndex((call) => isUnplacedIn(call, row));
    return (
      answered !== callIndex &&
      this.payouts.some((one) => one.callIndex === answered && !contradicts(one, row))
    );
  }

  protected sharesReference(payout: PlacedPayout, row: Row): boolean {
    return row.listed !== null && row.listed === referenceOf(this.placed, payout);
  }
}

export const isPayment = ({ type }: Row) => type !== 'fee';
/** Whether the answer to a call names the transaction without a payout. */
export const isUnplacedIn = ({ unplaced }: WorldCall, { index }: Row) => unplaced === index;
export const isSame = (payout: PlacedPayout, row: Row) => payout.to === row.to && payout.usd === row.usd;
export const isUsual = ({ call: { at } }: PlacedPayout, row: Row) => row.at <= at + USUAL.afterSeconds;

export function contradicts(payout: PlacedPayout, row: Row): boolean {
  const slack = ROUNDING_USD + Number(row.fee) + 1e-9;
  return (
    (row.to !== null && row.to !== payout.to) ||
    (row.type !== null && isPayment(row) && row.type !== TYPE_OF[payout.call.operation]) ||
    Math.abs(Number(row.usd) - Number(payout.usd)) > slack
  );
}
