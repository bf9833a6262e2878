import { Decimal } from 'decimal.js';
import { Limits } from '../../access/clients/limits/limits';

/** The caps of a client and its spending. */
export interface Caps extends Pick<Limits, 'dailyCapUsd' | 'monthlyCapUsd'> {
  spentTodayUsd: Decimal;
  spentThisMonthUsd: Decimal;
}

/** The amounts of a request that count on caps. */
export interface Amounts {
  usd: Decimal | null;
  feeUsd: Decimal | null;
}

/** A cap that a request would exceed. */
export interface OverCap {
  kind: 'over_cap';
  /** Its owner. */
  of: CapOwner;
  period: 'daily' | 'monthly' | 'total';
  capUsd: Decimal;
  leftUsd: Decimal;
  feeUsd: Decimal | null;
}

/** Owner of a cap. */
export type CapOwner = 'client' | 'person' | 'ephemeral_key';

/** The caps of a person or an ephemeral key, and the spending. */
export interface PayerCaps extends Caps {
  kind: Exclude<CapOwner, 'client'>;
  /** Largest sum of an ephemeral key over its lifetime. Null without one. */
  totalCapUsd: Decimal | null;
  spentUsd: Decimal;
  /** These caps, and those of the same human's other persons of the client. They share their spending. */
  alike: readonly PayerCaps[];
}

/** Returns the amount that a request reserves on the caps, with the expected fees. Null if none. */
export function reservationOf({ usd, feeUsd }: Amounts): Decimal | null {
  return usd && feeUsd ? usd.plus(feeUsd) : usd;
}

/** Returns the client's cap that a request would exceed, the daily one first. Undefined without one. */
export function overCap(amounts: Amounts, caps: Caps, of: CapOwner = 'client'): OverCap | undefined {
  const usd = reservationOf(amounts);
  if (usd === null) return undefined;
  const over = (
    period: OverCap['period'],
    capUsd: Decimal | null,
    spentUsd: Decimal,
  ): OverCap | undefined => {
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

/** A payer that the database lacks. Its caps cannot be checked. */
export interface UnknownPayer {
  kind: 'unknown_payer';
}

/**
 * Returns the payer's cap that a request would exceed. Undefined without one. The SQL function
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

/** Counts a request on caps. */
export function spend(caps: Caps | PayerCaps | undefined, usd: Decimal): void {
  if (!caps) return;
  for (const one of isPayer(caps) ? caps.alike : [caps]) {
    one.spentTodayUsd = one.spentTodayUsd.plus(usd);
    one.spentThisMonthUsd = one.spentThisMonthUsd.plus(usd);
    if (isPayer(one)) one.spentUsd = one.spentUsd.plus(usd);
  }
}
