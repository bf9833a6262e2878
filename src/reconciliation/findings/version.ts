import { createHash } from 'node:crypto';

/**
 * Returns a token that changes when a finding is decided or is seen with another impact. A decision that sends the
 * token applies to what its author saw, or is rejected. The token begins with a letter, so that spreadsheets do not
 * read it as a number.
 * @param stepId the ID of the finding's latest decision. Null if there is none.
 */
export function versionOf(stepId: string | null, impactUsd: string): string {
  return `v${createHash('sha256')
    .update(`${stepId ?? 'none'} ${impactUsd}`)
    .digest('hex')
    .slice(0, 12)}`;
}
