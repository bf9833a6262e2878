/** Returns whether text can be sent as it was validated. Half a surrogate pair has no UTF-8 form. */
export function isText(value: string, max: number): boolean {
  return value.length <= max && !/[\p{Cc}\p{Surrogate}]/u.test(value);
}
