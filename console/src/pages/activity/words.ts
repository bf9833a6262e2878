import type { ActivityRecord, ActivityState } from '../../api/generated/schema';
import { formatCount, formatLocal, formatUsd, inWords } from '../../components/format';

/** How an act was performed. */
export const WAY_WORDS: Record<ActivityRecord['via'], string> = {
  api: 'by the API',
  console: 'in the console',
  cli: 'on the command line',
  start: 'at the first start',
  worker: 'by the worker',
  proxy: 'by the proxy itself',
};

/** One field that an act changed. */
export interface Change {
  name: string;
  /** Undefined if nothing was there before. */
  before: string | undefined;
  after: string;
}

/** Returns the changed fields. A creation has no state before, and shows only what was set. */
export function changesOf({ before, after }: Pick<ActivityRecord, 'before' | 'after'>): Change[] {
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
