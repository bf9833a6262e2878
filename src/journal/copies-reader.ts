import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { copiesFolder, CopiedLine, COPY_FILE } from './local-copies';

const KINDS: readonly unknown[] = ['intent', 'approval', 'outcome'] satisfies CopiedLine['kind'][];

/**
 * Reads the copies in the given DATA_DIRs, oldest first in each. Undefined stands for a line that cannot be read, such as
 * the last one of a process that was killed.
 */
export async function* readCopies(dataDirs: string[]): AsyncGenerator<CopiedLine | undefined> {
  for (const dataDir of dataDirs) {
    const folder = copiesFolder(dataDir);
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((one) => COPY_FILE.test(one)).sort()) {
      const lines = createInterface({ input: createReadStream(join(folder, name)), crlfDelay: Infinity });
      for await (const line of lines) if (line !== '') yield parse(line);
    }
  }
}

function parse(line: string): CopiedLine | undefined {
  try {
    const copied = JSON.parse(line) as CopiedLine;
    return KINDS.includes(copied.kind) ? copied : undefined;
  } catch {
    return undefined;
  }
}
