/** Returns every combination of one value of each field. */
export function product<Values extends Record<string, unknown[]>>(values: Values) {
  let rows: Record<string, unknown>[] = [{}];
  for (const [name, choices] of Object.entries(values)) {
    rows = rows.flatMap((row) => choices.map((choice) => ({ ...row, [name]: choice })));
  }
  return rows as { [name in keyof Values]: Values[name][number] }[];
}
