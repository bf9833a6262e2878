import { KindName } from '../kinds';
import { RecordRow } from './chunks';

/** The number of rows of each table that belong to leaves of the log. */
export interface Seen {
  records: Partial<Record<KindName, number>>;
  items: number;
  recipients: number;
  intentBodies: number;
  outcomeItems: number;
  outcomeBodies: number;
  filters: number;
  nodes: number;
  checkpoints: number;
  /** Missing records that prunings explain. */
  pruned: number;
}

export function newSeen(): Seen {
  const beside = { items: 0, recipients: 0, intentBodies: 0, outcomeItems: 0, outcomeBodies: 0, filters: 0 };
  return { records: {}, ...beside, nodes: 0, checkpoints: 0, pruned: 0 };
}

export function countRecord(seen: Seen, kind: KindName, row: RecordRow): void {
  const [, , leaf, , hasBody, , items, recipients] = row;
  const bodies = hasBody === '1' ? 1 : 0;
  seen.records[kind] = (seen.records[kind] ?? 0) + 1;
  if (kind === 'intent') {
    seen.items += Number(items);
    seen.recipients += Number(recipients);
    seen.intentBodies += bodies;
  } else if (kind === 'outcome') {
    seen.outcomeItems += occurrences('"ordinal":', leaf);
    seen.outcomeBodies += bodies;
  } else if (kind === 'access') {
    seen.filters += bodies;
  }
}

/** Counts a member of JSON text. Quotes within a string are escaped, so the name matches only as a member. */
function occurrences(member: string, json: string): number {
  let count = 0;
  for (let at = json.indexOf(member); at >= 0; at = json.indexOf(member, at + member.length)) count += 1;
  return count;
}
