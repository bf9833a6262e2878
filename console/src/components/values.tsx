import { Code, Text } from '@mantine/core';
import { formatAgo, formatLocal, formatUsd, formatUtc } from './format';

const NOTHING = (
  <Text span c="dimmed" inherit aria-label="none">
    –
  </Text>
);

/** A time in the zone of who reads, with UTC where one points at it. */
export function Instant({ at, relative = false }: { at: string | null | undefined; relative?: boolean }) {
  if (!at) return NOTHING;
  return (
    <time dateTime={at} title={formatUtc(at)} style={{ whiteSpace: 'nowrap' }}>
      {relative ? formatAgo(at) : formatLocal(at)}
    </time>
  );
}

/** US dollars, as the API writes them. */
export function Usd({ amount }: { amount: string | null | undefined }) {
  if (amount === null || amount === undefined) return NOTHING;
  return <span style={{ whiteSpace: 'nowrap' }}>{formatUsd(amount)}</span>;
}

/** Any other text that there may be none of. */
export function Maybe({ text }: { text: string | number | null | undefined }) {
  return text === null || text === undefined || text === '' ? NOTHING : <span className="wrap-anywhere">{text}</span>;
}

/** An operation's name, its line in the interface document. */
export function Operation({ name }: { name: string }) {
  return (
    <Code fz="xs" bg="transparent" px={0} style={{ whiteSpace: 'nowrap' }}>
      {name}
    </Code>
  );
}
