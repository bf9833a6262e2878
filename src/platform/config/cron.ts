import { CronPattern } from 'croner';

/** Minute, hour, day, month, weekday. A field for seconds would start a reconciliation every second. */
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
