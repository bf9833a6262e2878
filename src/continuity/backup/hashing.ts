import { createHash } from 'node:crypto';

interface Hashing {
  /** A step of a pipeline that passes bytes on. */
  step: (chunks: AsyncIterable<Buffer>) => AsyncGenerator<Buffer>;
  /** Returns the SHA-256 of the passed bytes, in hexadecimal. */
  digest: () => string;
}

export function hashing(): Hashing {
  const hash = createHash('sha256');
  return {
    step: async function* (chunks) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    },
    digest: () => hash.digest('hex'),
  };
}
