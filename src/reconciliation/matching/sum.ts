/** Money as decimal text, in US dollars. */
export interface Sum {
  count: number;
  usd: string;
}
