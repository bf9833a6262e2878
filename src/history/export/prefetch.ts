/** Fetches one element before it is asked for, and no more. A slow read runs while the last element is processed. */
export async function* prefetch<Element>(source: AsyncGenerator<Element, void>): AsyncGenerator<Element, void> {
  try {
    let next = source.next();
    for (;;) {
      const { value, done } = await next;
      if (done) return;
      next = source.next();
      next.catch(() => undefined); // the consumer gets this error when it asks for the element
      yield value;
    }
  } finally {
    await source.return();
  }
}
