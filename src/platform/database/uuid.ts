/**
 * Returns the smallest UUID of an instant (RFC 9562, section 5.7), which turns a time range into a range of
 * IDs. The SQL function uuid_floor() does the same.
 */
export function uuidFloor(at: Date): string {
  const hex = Math.max(0, at.getTime()).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** Maximum age of an ID at its record, in ms. A body may take a minute to arrive, and clocks differ. */
const ID_MARGIN_MS = 3_600_000;

/** Returns the lowest ID of what was recorded since an instant. */
export function idFloor(since: Date): string {
  return uuidFloor(new Date(since.getTime() - ID_MARGIN_MS));
}

/** Returns the upper limit of the IDs of what was recorded until an instant. */
export function idCeiling(until: Date): string {
  return uuidFloor(new Date(until.getTime() + ID_MARGIN_MS));
}

/** Returns the instant of a UUIDv7. */
export function uuidTime(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}
