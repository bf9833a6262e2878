import type { StopAuthorRecord, StopRecord } from '../../api/generated/schema';

/**
 * Shows who added or lifted a stop: a person if known, or the client of the key, or the user of the command line.
 * @param cause why the proxy added it. Null if a person did.
 */
export function StopAuthor({
  of,
  cause = null,
}: {
  of: StopAuthorRecord | null;
  cause?: StopRecord['cause'];
}) {
  if (cause !== null && of === null) return <>the proxy itself</>;
  if (of === null) return <>the command line</>;
  if (of.client === null) return <>{of.actor} on the command line</>;
  return <>{of.actor === null ? `the client ${of.client}` : `${of.actor} of ${of.client}`}</>;
}
