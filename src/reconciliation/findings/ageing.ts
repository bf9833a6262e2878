/** Age ranges in days, both ends included. `to` is null in the last range. Reports show the label. */
export const AGES = [
  { name: '0_to_1', label: '0–1', from: 0, to: 1 },
  { name: '2_to_7', label: '2–7', from: 2, to: 7 },
  { name: '8_to_30', label: '8–30', from: 8, to: 30 },
  { name: '31_or_more', label: '31+', from: 31, to: null },
] as const;

export type AgeName = (typeof AGES)[number]['name'];

/** Returns the days of an age range as in reports, such as `0–1`. */
export const ageLabel = (name: string) => AGES.find((age) => age.name === name)?.label ?? name;
