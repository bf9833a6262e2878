import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { copiesFolder, CopiedLine, COPY_FILE } from './local-copies';

/** Limits of one batch: lines, and characters, because the line of a long list is large. */
const AT_ONCE = 500;
const ENOUGH_CHARACTERS = 4_000_000;

const KINDS: readonly unknown[] = ['intent', 'approval', 'outcome'] satisfies CopiedLine['kind'][];

/** Reads the lines of the copies in the given DATA_DIRs, oldest first in each. */
async function* readLines(dataDirs: string[]): AsyncGenerator<string> {
  for (const dataDir of dataDirs) {
    const folder = copiesFolder(dataDir);
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((one) => COPY_FILE.test(one)).sort()) {
      const lines = createInterface({ input: createReadStream(join(folder, name)), crlfDelay: Infinity });
      for await (const line of lines) if (line !== '') yield line;
    }
  }
}

/**
 * Reads the lines of one kind in the copies, in batches.
 * @returns the number of unreadable lines.
 */
export async function copiesInBatches(
  dataDirs: string[],
  kind: CopiedLine['kind'],
  work: (batch: CopiedLine[]) => Promise<void>,
): Promise<number> {
  let unreadable = 0;
  let [batch, characters]: [CopiedLine[], number] = [[], 0];
  for await (const line of readLines(dataDirs)) {
    const copied = parse(line);
    if (copied === undefined) unreadable += 1;
    if (copied?.kind !== kind) continue;
    batch.push(copied);
    characters += line.length;
    if (batch.length < AT_ONCE && characters < ENOUGH_CHARACTERS) continue;
    await work(batch);
    [batch, characters] = [[], 0];
  }
  if (batch.length > 0) await work(batch);
  return unreadable;
}

/** Undefined for an unreadable line, such as the last one of a killed process. */
function parse(line: string): CopiedLine | undefined {
  try {
    const copied = JSON.parse(line) as CopiedLine;
    return KINDS.includes(copied.kind) ? copied : undefined;
  } catch {
    return undefined;
  }
}
