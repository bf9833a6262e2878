const notForwarded = new Set<string>();

/** Says of a body's class that it is for us: a field of EXTRA_FIELDS_ALLOWED, which is only passed on, would get lost in it. */
export const NotForwarded = (): ClassDecorator => (type) => void notForwarded.add(type.name);

/** @param name of a body's class itself: one that extends `Nothing` may be forwarded. */
export function isForwarded(name: string): boolean {
  return !notForwarded.has(name);
}

/** A query or body without fields: whatever is sent in it is a fault, and leaving it out is none. */
@NotForwarded()
export class Nothing {}

export function mayBeLeftOut(type: new () => object): boolean {
  return type === Nothing || type.prototype instanceof Nothing;
}
