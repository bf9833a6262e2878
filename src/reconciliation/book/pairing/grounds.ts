/**
 * The rules that attribute transactions, and `person`, each with its strength: 1 for an error that names the
 * transaction and for likeness, 2 for a name, 3 for a person. A stronger ground outweighs a weaker one.
 */
export const GROUNDS = {
  answer: 2,
  error: 1,
  own_id: 2,
  upstream_ref: 2,
  upstream_id: 2,
  batch_ref: 1,
  reference: 1,
  fingerprint: 1,
  person: 3,
} as const;

export type Ground = keyof typeof GROUNDS;
