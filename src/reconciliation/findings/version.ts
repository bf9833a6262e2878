import { createHash } from 'node:crypto';

/**
 * A word that is another one after a finding was decided about, or is seen with another impact: who names it decides on what
 * they looked at, or on nothing. It begins with a letter, or a spreadsheet might take it for a number.
 * @param stepId of its newest step; null: none.
 */
export function versionOf(stepId: string | null, impactUsd: string): string {
  return `v${createHash('sha256')
    .update(`${stepId ?? 'none'} ${impactUsd}`)
    .digest('hex')
    .slice(0, 12)}`;
}
