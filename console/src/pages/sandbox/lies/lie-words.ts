import type { SandboxDto } from '../../../api/generated/schema';
import { formatUsd } from '../../../components/values/format';

type Lies = SandboxDto['lies'];

/** Locations of status words, as the end of a sentence. */
export const WORD_PLACES = { listed: 'in lists', answered: 'in answers', events: 'in events' } as const;
export type WordPlace = keyof typeof WORD_PLACES;

const SECOND_MS = 1_000;

/** Describes each lie of the sandbox. */
export function lieWords(lies: Lies): string[] {
  return [
    ...listWords('transactions', lies.transactions),
    ...listWords('wallet entries', lies.entries),
    ...Object.entries(lies.listed_after_ms)
      .filter(([, ms]) => ms > 0)
      .map(([type, ms]) => `${type} is listed after ${ms / SECOND_MS} s`),
    ...Object.entries(WORD_PLACES).flatMap(([place, where]) =>
      Object.entries(lies.words[place] ?? {}).map(([status, word]) => `${status} is “${word}” ${where}`),
    ),
    ...(lies.fee_percent > 0 ? [`fees of ${lies.fee_percent} %`] : []),
    ...(lies.returns_fee ? [] : ['fees are kept when payouts fail']),
  ];
}

function listWords(
  list: string,
  { newest, frozen_at: frozenAt, without_types: without }: Lies['transactions'],
) {
  return [
    ...(newest === null ? [] : newest === 0 ? [`no ${list}`] : [`the newest ${newest} ${list} only`]),
    ...(frozenAt === null ? [] : [`${list} are frozen`]),
    ...(without.length === 0 ? [] : [`${list} without ${without.join(', ')}`]),
  ];
}

/** Describes a booked entry. */
export function bookedWords({ type, wallet, usd }: { type: string; wallet: string; usd: number }): string {
  return `Booked a ${type.replace('_', '-')} of ${formatUsd(String(usd))} in the ${wallet} wallet.`;
}
