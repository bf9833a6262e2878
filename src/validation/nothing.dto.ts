/** A query or body without fields: whatever is sent in it is a fault, and leaving it out is none. */
export class Nothing {}

export function mayBeLeftOut(type: new () => object): boolean {
  return type === Nothing || type.prototype instanceof Nothing;
}
