import { LedgerItem } from '../../journal/ledger';
import { maskProse } from './masking';
import { RecordEntry } from './resolution.dto';
import { StoredCall } from './rows';
import { shown } from './view';

/** Returns the ledger of a payout, oldest entry first. A held call reserves its amounts when it is approved. */
export function ledgerEntriesOf(
  { lifecycle, decision }: StoredCall,
  { position, postings }: LedgerItem,
  reveal: boolean,
): RecordEntry[] {
  if (lifecycle.heldFor !== null && decision?.kind !== 'approved') return [];
  return postings.map(({ entry, from, to, amountUsd, status, source, at }) => ({
    position,
    entry,
    from,
    to,
    amount_usd: amountUsd?.toFixed() ?? null,
    status: shown(status, reveal, maskProse),
    source,
    at: entry === 'reserved' ? (decision?.decidedAt ?? at) : at,
  }));
}
