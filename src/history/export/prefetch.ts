/** Fetches one element ahead of whoever asks, and no more: what is slow to read is read while the last one is worked on. */
export async function* ahead<Element>(source: AsyncGenerator<Element, void>): AsyncGenerator<Element, void> {
  try {
    let next = source.next();
    for (;;) {
      const { value, done } = await next;
      if (done) return;
      next = source.next();
      next.catch(() => undefined); // heard when its turn comes, if it ever does
      yield value;
    }
  } finally {
    await source.return();
  }
}
