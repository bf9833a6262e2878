import { Decimal } from 'decimal.js';
import { Flow, FLOWS } from '../../book/flows';
import { SumRecord, WalletRecord } from '../totals.dto';
import { WalletEntry } from './entry-offers';

/** An entry as a reading of the wallets lists it, newest first. */
export interface ListedEntry extends WalletEntry {
  isDebit: boolean;
  before: string | null;
  after: string | null;
}

/** An entry of the period, with its explanation. */
export interface BookedEntry {
  entry: ListedEntry;
  flow: Flow;
  /** Fee included in the amount. */
  fee: string;
}

interface Wallet {
  id: string;
  name: string;
  type: string | null;
  balance: string | null;
}

interface Period {
  from: Date;
  to: Date;
}

/** Sets the time of each entry without one: that of the entry before it, or else of the one after it. */
export function withTimes(listed: ListedEntry[]): ListedEntry[] {
  const timed = (entries: ListedEntry[]) => {
    let last: ListedEntry | undefined;
    return entries.map((entry) => {
      const at = entry.at ?? (last?.walletId === entry.walletId ? last.at : null);
      return (last = { ...entry, at });
    });
  };
  return timed(timed(listed.toReversed()).reverse());
}

/** Derives each wallet's closing balance from its opening balance and its entries. */
export function statementsOf(
  wallet: Wallet,
  listed: ListedEntry[],
  booked: BookedEntry[],
  period: Period,
): WalletRecord {
  const own = listed.filter(({ walletId }) => walletId === wallet.id);
  const mine = booked.filter(({ entry }) => entry.walletId === wallet.id);
  const { opening, closing } = balancesOf(wallet, own, period);
  const flows = sumsOf(mine);
  const sum = Object.values(flows).reduce((total, { usd }) => total.add(usd), new Decimal(0));
  const gap =
    opening === null || closing === null ? new Decimal(0) : new Decimal(closing).sub(opening).sub(sum);
  return {
    wallet_id: wallet.name,
    type: wallet.type,
    opening_usd: opening,
    closing_usd: closing,
    flows,
    gap_usd: gap.toDecimalPlaces(6).toFixed(),
    shown_since: shownSince(own, period),
  };
}

function balancesOf({ balance }: Wallet, entries: ListedEntry[], { from, to }: Period) {
  const [begin, end] = [from.getTime(), to.getTime()];
  const within = entries.filter(({ at }) => at === null || (at >= begin && at < end));
  const earlier = entries.find(({ at }) => at !== null && at < begin);
  const later = entries.findLast(({ at }) => at !== null && at >= end);
  const before = earlier?.after ?? within.at(-1)?.before ?? later?.before ?? balance;
  const after = within[0]?.after ?? later?.before ?? earlier?.after ?? balance;
  return { opening: plain(before), closing: plain(after) };
}

function sumsOf(booked: BookedEntry[]): Partial<Record<Flow, SumRecord>> {
  const parts = booked.flatMap(({ entry: { amount, isDebit }, flow, fee }) => {
    const usd = (part: Decimal.Value) => new Decimal(part).mul(isDebit ? -1 : 1);
    const own = { flow, usd: usd(new Decimal(amount).sub(fee)), count: 1 };
    return Number(fee) === 0 ? [own] : [own, { flow: 'fee', usd: usd(fee), count: 0 }];
  });
  const sums = FLOWS.flatMap((flow): [Flow, SumRecord][] => {
    const own = parts.filter((part) => part.flow === flow);
    const count = own.reduce((sum, part) => sum + part.count, 0);
    return own.length > 0
      ? [[flow, { count, usd: Decimal.sum(0, ...own.map(({ usd }) => usd)).toFixed() }]]
      : [];
  });
  return Object.fromEntries(sums);
}

/**
 * Returns the time since which a wallet is shown. Null if it is shown completely, from its beginning at zero.
 */
function shownSince(entries: ListedEntry[], { from }: Period): string | null {
  const oldest = entries.at(-1);
  if (!oldest || oldest.at === null || oldest.at < from.getTime()) return null;
  return oldest.before !== null && new Decimal(oldest.before).isZero()
    ? null
    : new Date(oldest.at).toISOString();
}

function plain(amount: string | null): string | null {
  return amount === null ? null : new Decimal(amount).toDecimalPlaces(6).toFixed();
}
