import type { StopAuthorRecord } from '../../api/generated/schema';

/** Who stopped something or lifted it: a person, as far as it is known, or a client's key. */
export function StopAuthor({ of }: { of: StopAuthorRecord | null }) {
  if (of === null) return <>the command line</>;
  return <>{of.actor === null ? `the client ${of.client}` : `${of.actor} of ${of.client}`}</>;
}
