import { Stack, Text } from '@mantine/core';
import type { ActivityState } from '../api/generated/schema';
import { formatCount, formatLocal, formatUsd, inWords } from './format';
import { Maybe } from './values';

/** What something was before a change, and what it is after it. */
interface States {
  before: ActivityState | null;
  after: ActivityState | null;
}

/** Shows each field that a change changes. A creation has no state before, and shows only what is set. */
export function ChangedFields({ of }: { of: States }) {
  const changes = changesOf(of);
  if (changes.length === 0) return <Maybe text={undefined} />;
  return (
    <Stack gap={0} miw={220}>
      {changes.map(({ name, before, after }) => (
        <Text key={name} size="sm" className="wrap-anywhere">
          {name}: {after}
          {before !== undefined && (
            <Text span inherit c="dimmed">
              , was {before}
            </Text>
          )}
        </Text>
      ))}
    </Stack>
  );
}

interface Change {
  name: string;
  /** Undefined if nothing was there before. */
  before: string | undefined;
  after: string;
}

/** Returns the changed fields. A creation has no state before, and shows only what was set. */
function changesOf({ before, after }: States): Change[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])] as (keyof ActivityState)[];
  return names
    .map((name) => ({
      name: nameInWords(name),
      before: before ? valueInWords(name, before[name]) : undefined,
      after: valueInWords(name, after?.[name]),
    }))
    .filter((change) => before !== null || change.after !== NONE);
}

/** What a field shows that is empty or null. */
const NONE = 'none';

function nameInWords(name: string): string {
  if (name === 'hint') return 'Key';
  return inWords(name.replace(/_(usd|at|id)$/, '')).replace(/^\w/, (letter) => letter.toUpperCase());
}

function valueInWords(name: string, value: unknown): string {
  if (value === null || value === undefined || value === '' || value === false) return NONE;
  if (value === true) return 'yes';
  if (Array.isArray(value)) return value.length === 0 ? NONE : value.join(', ');
  if (typeof value === 'number') return formatCount(value);
  if (typeof value !== 'string') return JSON.stringify(value);
  if (name.endsWith('_usd')) return formatUsd(value);
  return name.endsWith('_at') ? formatLocal(value) : value;
}
