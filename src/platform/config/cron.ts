import { CronPattern } from 'croner';

/** Minute, hour, day, month, weekday: a field for seconds would start a reconciliation for each of them. */
const FIELDS = 5;

export function isCronExpression(text: unknown): boolean {
  if (typeof text !== 'string' || text.trim().split(/\s+/).length !== FIELDS) return false;
  try {
    new CronPattern(text, 'UTC');
    return true;
  } catch {
    return false;
  }
}
