import type { StopAuthorRecord } from '../../api/generated/schema';

/** Shows who added or lifted a stop: a person if known, or the client of the key. */
export function StopAuthor({ of }: { of: StopAuthorRecord | null }) {
  if (of === null) return <>the command line</>;
  return <>{of.actor === null ? `the client ${of.client}` : `${of.actor} of ${of.client}`}</>;
}
