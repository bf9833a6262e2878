import { SCREENED, Screened } from '../../journal/records';

const VERDICTS = [...SCREENED, 'deny'] as const;

/** A verdict needs a few dozen bytes. */
const MAX_BYTES = 16_384;

/** An answer without a verdict. The message never quotes it. */
export class Unusable extends Error {}

/**
 * Reads the verdict of an answer: 200, and a JSON object with `"verdict"`. Other members are ignored, because they may say
 * something about a person.
 * @throws Unusable, or what interrupted the answer.
 */
export async function readVerdict(response: Response): Promise<Screened | 'deny'> {
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Unusable(`status ${response.status}`);
  }
  const verdict = verdictIn(await readText(response));
  if (verdict === undefined) throw new Unusable('no verdict');
  return verdict;
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > MAX_BYTES) throw new Unusable('too large'); // leaving the loop ends the answer
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function verdictIn(text: string): Screened | 'deny' | undefined {
  try {
    const answer = JSON.parse(text) as { verdict?: unknown } | null;
    return VERDICTS.find((verdict) => verdict === answer?.verdict);
  } catch {
    return undefined;
  }
}
