import { Code, Text } from '@mantine/core';
import { formatAgo, formatLocal, formatUsd, formatUtc } from './format';

const NOTHING = (
  <Text span c="dimmed" inherit aria-label="none">
    –
  </Text>
);

/** Shows a time in the reader's time zone, with UTC on hover. */
export function Instant({ at, relative = false }: { at: string | null | undefined; relative?: boolean }) {
  if (!at) return NOTHING;
  return (
    <time dateTime={at} title={formatUtc(at)} style={{ whiteSpace: 'nowrap' }}>
      {relative ? formatAgo(at) : formatLocal(at)}
    </time>
  );
}

/** Shows US dollars as the API writes them. */
export function Usd({ amount }: { amount: string | null | undefined }) {
  if (amount === null || amount === undefined) return NOTHING;
  return <span style={{ whiteSpace: 'nowrap' }}>{formatUsd(amount)}</span>;
}

/** Shows a text that may be missing. */
export function Maybe({ text }: { text: string | number | null | undefined }) {
  return text === null || text === undefined || text === '' ? (
    NOTHING
  ) : (
    <span className="wrap-anywhere">{text}</span>
  );
}

/** Shows an operation's name in the interface. */
export function Operation({ name }: { name: string }) {
  return (
    <Code fz="xs" bg="transparent" px={0} style={{ whiteSpace: 'nowrap' }}>
      {name}
    </Code>
  );
}
