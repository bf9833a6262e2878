import { Spoiler, Text } from '@mantine/core';
import type { ActivityState } from '../../api/generated/schema';
import { formatCount, formatLocal, formatUsd, inWords } from './format';
import { Maybe } from './values';

/** State before and after a change. */
interface States {
  before: ActivityState | null;
  after: ActivityState | null;
}

/** Shows each changed field. A creation has no previous state and shows only the fields that are set. */
export function ChangedFields({ of }: { of: States }) {
  const changes = changesOf(of);
  if (changes.length === 0) return <Maybe text={undefined} />;
  return (
    <Spoiler maxHeight={160} showLabel="Show all" hideLabel="Show less" miw={220}>
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
    </Spoiler>
  );
}

interface Change {
  name: string;
  /** Previous value. Undefined if there was no other one. */
  before: string | undefined;
  after: string;
}

/** Returns the changed fields, and for a creation those that are set. */
function changesOf(of: States): Change[] {
  const [before, after] = [flat(of.before), flat(of.after)];
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names
    .map((name) => {
      const [was, is] = [valueInWords(name, before?.[name]), valueInWords(name, after?.[name])];
      return { name: nameInWords(name), before: before && was !== is ? was : undefined, after: is };
    })
    .filter((change) => before !== null || change.after !== NONE);
}

/** Merges the settings of a configuration with the other fields. An ID is left out if its name is there. */
function flat(state: ActivityState | null): Record<string, unknown> | null {
  if (!state) return null;
  const { configuration, ...others } = state;
  const all: Record<string, unknown> = { ...others, ...configuration };
  return Object.fromEntries(
    Object.entries(all).filter(([name]) => !(name.replace(/_id$/, '') in all && /_id$/.test(name))),
  );
}

/** Text for an empty field. */
const NONE = 'none';

function nameInWords(name: string): string {
  if (name === 'hint') return 'Key';
  if (/^[A-Z]/.test(name)) return name; // an environment variable
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
