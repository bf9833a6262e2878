/** A query or body without fields: whatever is sent in it is a fault, and leaving it out is none. */
export class Nothing {}
