import { escapeLiteral } from 'pg';

/**
 * Values are written into the SQL, because CREATE TABLE AS takes no parameters and the planner prunes partitions only
 * by constants.
 */
export function instant(at: Date): string {
  return `timestamptz ${escapeLiteral(at.toISOString())}`;
}

export function uuid(id: string): string {
  return `uuid ${escapeLiteral(id)}`;
}

export function decimal(text: string): string {
  return `numeric ${escapeLiteral(text)}`;
}

export function text(value: string): string {
  return escapeLiteral(value);
}

export function texts(values: readonly string[]): string {
  return values.map(escapeLiteral).join(', ');
}

export function seconds(count: number): string {
  return `make_interval(secs => ${count})`;
}
