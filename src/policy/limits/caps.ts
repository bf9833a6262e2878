import { Decimal } from 'decimal.js';
import { Limits } from '../../access/clients/limits/limits';

/** The caps of a client, and what counts against them. */
export interface Caps extends Pick<Limits, 'dailyCapUsd' | 'monthlyCapUsd'> {
  spentTodayUsd: Decimal;
  spentThisMonthUsd: Decimal;
}

/** The amounts of a request that count against caps. */
export interface Amounts {
  usd: Decimal | null;
  feeUsd: Decimal | null;
}

/** A cap that a request would exceed. */
export interface OverCap {
  kind: 'over_cap';
  /** Whose cap it is. */
  of: CapOwner;
  period: 'daily' | 'monthly' | 'total';
  capUsd: Decimal;
  leftUsd: Decimal;
  feeUsd: Decimal | null;
}

/** Whom a cap limits. */
export type CapOwner = 'client' | 'person' | 'ephemeral_key';

/** The caps of a person or of an ephemeral key, and what counts against them. */
export interface PayerCaps extends Caps {
  kind: Exclude<CapOwner, 'client'>;
  /** The most that an ephemeral key may pay while it lives. */
  totalCapUsd: Decimal | null;
  spentUsd: Decimal;
  /** These caps, and those of other people of the client who are the same human. What one of them spends counts on all. */
  alike: readonly PayerCaps[];
}

/** Returns what a request reserves on the caps: its amount, and the fees that are expected. Null for nothing. */
export function reservationOf({ usd, feeUsd }: Amounts): Decimal | null {
  return usd && feeUsd ? usd.plus(feeUsd) : usd;
}

/** Returns the cap of its client that a request would exceed, the daily one first. Undefined if there is none. */
export function overCap(amounts: Amounts, caps: Caps, of: CapOwner = 'client'): OverCap | undefined {
  const usd = reservationOf(amounts);
  if (usd === null) return undefined;
  const over = (period: OverCap['period'], capUsd: Decimal | null, spentUsd: Decimal): OverCap | undefined => {
    if (!capUsd || spentUsd.plus(usd).lte(capUsd)) return undefined;
    return {
      kind: 'over_cap',
      of,
      period,
      capUsd,
      leftUsd: Decimal.max(0, capUsd.minus(spentUsd)),
      feeUsd: amounts.feeUsd,
    };
  };
  const total = isPayer(caps) ? over('total', caps.totalCapUsd, caps.spentUsd) : undefined;
  return (
    total ??
    over('daily', caps.dailyCapUsd, caps.spentTodayUsd) ??
    over('monthly', caps.monthlyCapUsd, caps.spentThisMonthUsd)
  );
}

function isPayer(caps: Caps): caps is PayerCaps {
  return 'totalCapUsd' in caps;
}

/** A request counts against the caps of somebody whom the database does not have, so nobody can tell whether it exceeds them. */
export interface UnknownPayer {
  kind: 'unknown_payer';
}

/**
 * Returns the cap of one of its payers that a request would exceed. Undefined if there is none. The SQL function
 * payers_within_caps() compares the same caps.
 * @param caps of all payers. Null if they were not read.
 */
export function overPayerCap(
  request: Amounts & { payers: string[] },
  caps: ReadonlyMap<string, PayerCaps> | null,
): OverCap | UnknownPayer | undefined {
  if (caps === null || reservationOf(request) === null) return undefined;
  for (const payer of request.payers) {
    const own = caps.get(payer);
    const over = own ? overCap(request, own, own.kind) : ({ kind: 'unknown_payer' } as const);
    if (over) return over;
  }
  return undefined;
}

/** Counts a request against caps. */
export function spend(caps: Caps | PayerCaps | undefined, usd: Decimal): void {
  if (!caps) return;
  for (const one of isPayer(caps) ? caps.alike : [caps]) {
    one.spentTodayUsd = one.spentTodayUsd.plus(usd);
    one.spentThisMonthUsd = one.spentThisMonthUsd.plus(usd);
    if (isPayer(one)) one.spentUsd = one.spentUsd.plus(usd);
  }
}
